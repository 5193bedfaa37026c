// @ts-check
"use strict";
/*
 * A person's own files, read where they are: Google Timeline and Takeout, GPX, OwnTracks, GeoJSON, tables. Twin
 * of Python's device/exports.py. Nothing of a file is ever quoted: what makes no sense is named by its number.
 */

/** @typedef {(utc: number) => number} LocalClock */
/** What columns are called, by key (inputs/column_names.py). @typedef {{[key: string]: string[]}} Aliases */

const MOST_BYTES = 300 * 1024 * 1024;
const MILLISECONDS_FROM = 1e11; // seconds since 1970 get this large in the year 5138
/** The first bytes of files that people might choose by mistake: bytes, where they stand, and what to say.
 * @type {[string, number, string][]} */
const FOREIGN = [
  ["%PDF", 0, "file_foreign"], ["\x89PNG", 0, "file_foreign"], ["\xff\xd8\xff", 0, "file_foreign"],
  ["GIF8", 0, "file_foreign"], ["SQLite format 3", 0, "file_foreign"], ["\xd0\xcf\x11\xe0", 0, "file_foreign"],
  ["PAR1", 0, "file_foreign"], ["Rar!", 0, "file_packed"], ["7z\xbc\xaf", 0, "file_packed"],
  ["PK\x03\x04", 0, "file_packed"], [".FIT", 8, "file_foreign"], ["ftyp", 4, "file_foreign"],
  ["WEBP", 8, "file_foreign"], ["\xff\xfe", 0, "file_utf16"], ["\xfe\xff", 0, "file_utf16"],
];

/**
 * What a file holds, in the city's local time.
 * @param {Blob} file @param {LocalClock} clock @param {Aliases} aliases @returns {Promise<OwnRecords>}
 */
async function readOwnFile(file, clock, aliases) {
  if (file.size > MOST_BYTES) throw new FileProblem("file_huge");
  const text = await textOf(file);
  if (!text.trim()) throw new FileProblem("file_empty");
  return recordsOf(text, clock, aliases);
}

/** The text of a file, unpacked if it is gzipped; what is no text is named. @param {Blob} file */
async function textOf(file) {
  const start = String.fromCharCode(...new Uint8Array(await file.slice(0, 64).arrayBuffer()));
  const foreign = FOREIGN.find(([magic, at]) => start.startsWith(magic, at));
  if (foreign) throw new FileProblem(foreign[2]);
  let bytes;
  if (start.startsWith("\x1f\x8b")) {
    try {
      bytes = await unpacked(file);
    } catch (error) {
      throw error instanceof FileProblem ? error : new FileProblem("file_damaged");
    }
  } else bytes = await file.arrayBuffer();
  const text = new TextDecoder("utf-8").decode(bytes);
  if (text.slice(0, 4096).includes("\0")) throw new FileProblem("file_foreign");
  return text;
}

/** A gzipped file, as far as memory bears: small ones may unpack without end. @param {Blob} file */
async function unpacked(file) {
  const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  /** @type {BlobPart[]} */
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > MOST_BYTES) throw new FileProblem("file_huge");
    parts.push(part.value);
  }
  return new Blob(parts).arrayBuffer();
}

/** Told apart by what it holds. @param {string} text @param {LocalClock} clock @param {Aliases} aliases
 * @returns {OwnRecords} */
function recordsOf(text, clock, aliases) {
  const start = text.slice(0, 4096).trimStart();
  const line = start.split(/\r\n|\r|\n/, 1)[0];
  if (/^[{[]/.test(start)) return jsonRecords(text, clock, aliases);
  if (start.startsWith("<")) return gpxRecords(text, clock);
  if (line.includes("\t") && line.includes("_type")) return { stays: [], fixes: ownTracks(text, clock) };
  if (/[,;\t]/.test(line)) return { stays: [], fixes: tableFixes(text, clock, aliases) };
  throw new FileProblem("file_unknown");
}

/**
 * What `read` makes of each thing of a list; one that makes no sense is named by its number alone.
 * @template T
 * @param {unknown} things @param {string} what @param {(thing: any) => T | null} read @returns {T[]}
 */
function eachThing(things, what, read) {
  if (!Array.isArray(things)) throw new FileProblem("file_no_list", { what });
  /** @type {T[]} */
  const found = [];
  things.forEach((thing, i) => {
    try {
      const one = read(thing);
      if (one !== null) found.push(one);
    } catch (error) {
      const isZone = error instanceof FileProblem && error.key === "file_no_zone";
      throw new FileProblem(isZone ? "file_zone" : "file_thing", { what, number: i + 1 });
    }
  });
  return found;
}

/** Degrees, if there is such a position. @param {unknown} lat @param {unknown} lng */
function onTheGlobe(lat, lng) {
  if (!(typeof lat === "number" && typeof lng === "number" && Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) {
    throw new FileProblem("file_no_place");
  }
  return { lat, lng };
}

/** A number as text has it, and nothing else. @param {unknown} text */
function numberOf(text) {
  const plain = String(text).trim();
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(plain) ? Number(plain) : NaN;
}

/** Seconds since 1970 as local time. @param {unknown} seconds @param {LocalClock} clock */
function fromSeconds(seconds, clock) {
  if (typeof seconds !== "number" || !(Math.abs(seconds) < 2.5e11)) throw new FileProblem("file_no_time");
  return clock(seconds * 1000);
}

/** @param {string} text @param {LocalClock} clock @param {Aliases} aliases @returns {OwnRecords} */
function jsonRecords(text, clock, aliases) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new FileProblem("file_not_json");
  }
  const segments = Array.isArray(content) ? content : content.semanticSegments;
  if (segments !== undefined) return { stays: eachThing(segments, "segment", (s) => segmentStay(s, clock)), fixes: [] };
  if ("timelineObjects" in content) {
    return { stays: eachThing(content.timelineObjects, "object", (o) => placeVisit(o, clock)), fixes: [] };
  }
  if ("locations" in content) {
    return { stays: [], fixes: eachThing(content.locations, "record", (r) => recordFix(r, clock)) };
  }
  if (content.type === "FeatureCollection" || content.type === "Feature") {
    const features = content.features || [content];
    const fixes = eachThing(features, "feature", (feature) => featureFix(feature, clock, aliases.datetime));
    if (!fixes.length) throw new FileProblem("file_no_times");
    return { stays: [], fixes };
  }
  throw new FileProblem("file_other_json");
}

/** A visit of the Timeline as phones export it; journeys are not needed. @param {any} segment
 * @param {LocalClock} clock @returns {Stay | null} */
function segmentStay(segment, clock) {
  const visit = segment.visit;
  if (visit === undefined || visit === null) return null;
  if (Number(visit.hierarchyLevel || 0) > 0) return null; // a place within a place
  const where = visit.topCandidate.placeLocation;
  const [lat, lng] = (typeof where === "string" ? where : where.latLng).match(/-?\d+(?:\.\d+)?/g).map(Number);
  const [from, to] = [zonedTime(segment.startTime, clock), zonedTime(segment.endTime, clock)];
  return { from, to, ...onTheGlobe(lat, lng) };
}

/** A visit of an older Takeout; times are text, or milliseconds in the oldest. @param {any} thing
 * @param {LocalClock} clock @returns {Stay | null} */
function placeVisit(thing, clock) {
  const visit = thing.placeVisit;
  if (visit === undefined || visit === null) return null;
  const { location, duration } = visit;
  const time = (/** @type {string} */ name) =>
    name in duration ? zonedTime(duration[name], clock) : fromSeconds(numberOf(duration[`${name}Ms`]) / 1000, clock);
  const where = onTheGlobe(location.latitudeE7 / 1e7, location.longitudeE7 / 1e7);
  return { from: time("startTimestamp"), to: time("endTimestamp"), ...where };
}

/** A fix of Takeout's Records.json. @param {any} record @param {LocalClock} clock @returns {Fix | null} */
function recordFix(record, clock) {
  if (!("latitudeE7" in record)) return null;
  const where = onTheGlobe(record.latitudeE7 / 1e7, record.longitudeE7 / 1e7);
  const time = "timestamp" in record
    ? zonedTime(record.timestamp, clock) : fromSeconds(numberOf(record.timestampMs) / 1000, clock);
  return { time, ...where };
}

/** A point of GeoJSON with a time among its properties. @param {any} feature @param {LocalClock} clock
 * @param {string[]} names @returns {Fix | null} */
function featureFix(feature, clock, names) {
  const [geometry, properties] = [feature.geometry || {}, feature.properties || {}];
  const name = names.find((one) => properties[one]);
  if (geometry.type !== "Point" || name === undefined) return null;
  const when = properties[name];
  const where = onTheGlobe(numberOf(geometry.coordinates[1]), numberOf(geometry.coordinates[0]));
  if (typeof when === "string" && !/^\s*\d+\s*$/.test(when)) {
    const moment = isoMoment(when);
    if (!moment) throw new FileProblem("file_no_time");
    return { time: localTime(moment, clock), ...where };
  }
  const seconds = numberOf(when);
  return { time: fromSeconds(seconds > MILLISECONDS_FROM ? seconds / 1000 : seconds, clock), ...where };
}

/** @param {string} text @param {LocalClock} clock @returns {OwnRecords} */
function gpxRecords(text, clock) {
  if (/<!ENTITY/.test(text.slice(0, 65536))) throw new FileProblem("file_other_xml");
  if (/^\s*<(!doctype\s+)?html/i.test(text)) throw new FileProblem("file_web_page");
  const xml = new DOMParser().parseFromString(text.replace(/^\ufeff?\s+/, ""), "application/xml");
  if (xml.getElementsByTagName("parsererror").length) throw new FileProblem("file_not_xml");
  if (xml.documentElement.localName !== "gpx") throw new FileProblem("file_other_xml");
  const points = [...xml.getElementsByTagNameNS("*", "*")].filter((element) =>
    ["trkpt", "wpt", "rtept"].includes(element.localName));
  const fixes = eachThing(points, "point", (point) => {
    const time = point.getElementsByTagNameNS("*", "time")[0];
    if (!time || !point.hasAttribute("lat") || !point.hasAttribute("lon")) return null;
    const where = onTheGlobe(numberOf(point.getAttribute("lat")), numberOf(point.getAttribute("lon")));
    return { time: zonedTime(time.textContent || "", clock), ...where };
  });
  if (!fixes.length) throw new FileProblem("file_no_times");
  return { stays: [], fixes };
}

/** Lines of a recorder's .rec file: a time, a mark, and JSON. @param {string} text @param {LocalClock} clock */
function ownTracks(text, clock) {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim());
  return eachThing(lines, "line", (line) => {
    const parts = /^[^\t]*\t[^\t]*\t(.*)$/s.exec(line);
    if (!parts) return null;
    const message = JSON.parse(parts[1]);
    if (message._type !== "location") return null;
    return { time: fromSeconds(message.tst, clock), ...onTheGlobe(message.lat, message.lon) };
  });
}

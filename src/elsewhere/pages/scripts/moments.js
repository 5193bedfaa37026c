// @ts-check
"use strict";
/*
 * Times as files write them, as local times of the survey's city: twin of Python's inputs/moments.py.
 * A local time is a number: milliseconds since 1970 as a clock on the wall shows them.
 */

/** What is wrong with a file, as the key of a message and what stands in it; never anything private. */
class FileProblem extends Error {
  /** @param {string} key @param {{[name: string]: string | number}} [values] */
  constructor(key, values = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }
}

/** A time as written; `zone` in minutes east of Greenwich, null if none is said.
 * @typedef {{milliseconds: number, zone: number | null}} Moment */

const DAY_MS = 86400000;
const QUARTER_MS = 900000; // clocks are changed at whole quarters of an hour
const ISO = new RegExp(
  "^(\\d{4})-?(\\d\\d)-?(\\d\\d)(?:[^\\d](\\d\\d)(?::?(\\d\\d)(?::?(\\d\\d)(?:[.,](\\d+))?)?)?)?" +
    "(Z|[+-]\\d\\d(?::?\\d\\d)?)?$");
const YEAR_LAST = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?:[ T,]+(\S.*))?$/;
const YEAR_FIRST = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})[ T,]*(.*)$/;
const WALL_CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?(?:([AaPp])\.?[Mm]\.?)?$/;
const ZONE = /(?<=[\d.]) ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})$/i;
/** How many digits seconds, milli-, micro- and nanoseconds since 1970 have. @type {{[digits: number]: number}} */
const EPOCH_UNITS = { 9: 1, 10: 1, 12: 1e3, 13: 1e3, 15: 1e6, 16: 1e6, 18: 1e9, 19: 1e9 };

/** How a city's clocks go. @param {string} timezone @returns {(utc: number) => number} */
function localClock(timezone) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric",
    minute: "numeric", second: "numeric", era: "short",
  });
  /** @type {Map<number, number>} */
  const offsets = new Map();
  return (utc) => {
    const quarter = Math.floor(utc / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      /** @type {{[kind: string]: number}} */
      const parts = {};
      for (const { type, value } of format.formatToParts(quarter * QUARTER_MS)) parts[type] = Number(value);
      const { year, month, day, hour, minute, second } = parts;
      offset = Date.UTC(year, month - 1, day, hour, minute, second) - quarter * QUARTER_MS;
      offsets.set(quarter, offset);
    }
    return utc + offset;
  };
}

/** A date and a time of day, if there are such. @param {number[]} parts year, month, day, hour, minute, second
 * @param {string} [fraction] */
function calendar(parts, fraction = "") {
  const [year, month, day, hour, minute, second] = parts;
  const date = Date.UTC(year, month - 1, day);
  const back = new Date(date);
  const isDate = year >= 1 && back.getUTCMonth() === month - 1 && back.getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59) throw new FileProblem("file_no_time");
  const finer = Number(fraction.slice(0, 6).padEnd(6, "0")) / 1000;
  return date + hour * 3600000 + minute * 60000 + second * 1000 + finer;
}

/** Minutes of a zone. @param {string | undefined} text */
function zoneMinutes(text) {
  if (!text) return null;
  if (/^(Z|UTC|GMT)$/i.test(text)) return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + (text.length > 3 ? Number(text.slice(-2)) : 0);
  return text[0] === "-" ? -minutes : minutes;
}

/** ISO 8601, or nothing. @param {unknown} text @returns {Moment | null} */
function isoMoment(text) {
  const found = typeof text === "string" ? ISO.exec(text.trim()) : null;
  if (!found) return null;
  const numbers = found.slice(1, 7).map((part) => Number(part || 0));
  return { milliseconds: calendar(numbers, found[7]), zone: zoneMinutes(found[8]) };
}

/** Local time; what has no zone is local already. @param {Moment} moment @param {(utc: number) => number} clock */
function localTime(moment, clock) {
  return moment.zone === null ? moment.milliseconds : clock(moment.milliseconds - moment.zone * 60000);
}

/** A time with a zone as local time. @param {unknown} text @param {(utc: number) => number} clock */
function zonedTime(text, clock) {
  const moment = isoMoment(text);
  if (!moment) throw new FileProblem("file_no_time");
  if (moment.zone === null) throw new FileProblem("file_no_zone");
  return localTime(moment, clock);
}

/**
 * A time as people write it in tables. `order` says how to read 07/04/2012 where the date itself does not.
 * @param {string} text @param {"day" | "month" | null} order @returns {Moment}
 */
function tableMoment(text, order) {
  text = text.trim();
  const isDateAlone = /^\d{4}-\d\d-\d\d$|^\d{8}$/.test(text);
  if (isDateAlone) throw new FileProblem("file_date_alone");
  const number = /^(\d+)(\.\d*)?$/.exec(text);
  if (number) return epochMoment(number[1], number[2] || "");
  const iso = text[4] === "-" && text.slice(11, 13) !== "24" ? isoMoment(text) : null;
  if (iso) return iso;
  const found = text.includes(":") ? ZONE.exec(text) : null;
  const zone = zoneMinutes(found ? found[1] : undefined);
  const bare = found ? text.slice(0, found.index).trimEnd() : text;
  const first = YEAR_FIRST.exec(bare);
  if (first) return { milliseconds: joined(first.slice(1, 4).map(Number), first[4]), zone };
  const last = YEAR_LAST.exec(bare);
  if (!last) throw new FileProblem("file_no_time");
  const [day, month] = toldApart(Number(last[1]), Number(last[3]), last[2], order);
  const year = Number(last[4]) + (last[4].length === 4 ? 0 : Number(last[4]) < 70 ? 2000 : 1900);
  return { milliseconds: joined([year, month, day], last[5] || ""), zone };
}

/** @param {string} whole @param {string} fraction @returns {Moment} */
function epochMoment(whole, fraction) {
  if (whole.length === 14) {
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(whole);
    return { milliseconds: calendar((parts || []).slice(1).map(Number)), zone: null };
  }
  const unit = EPOCH_UNITS[whole.length];
  if (!unit) throw new FileProblem("file_no_time");
  return { milliseconds: (Number(whole + fraction) / unit) * 1000, zone: 0 };
}

/** @param {number[]} date year, month, day @param {string} clock */
function joined(date, clock) {
  if (!clock) throw new FileProblem("file_date_alone");
  const parts = WALL_CLOCK.exec(clock);
  if (!parts) throw new FileProblem("file_no_time");
  let hour = Number(parts[1]);
  const [minute, second] = [Number(parts[2]), Number(parts[3] || 0)];
  if (parts[5]) {
    if (hour < 1 || hour > 12) throw new FileProblem("file_no_time");
    hour = (hour % 12) + (parts[5].toLowerCase() === "p" ? 12 : 0);
  }
  if (hour === 24 && minute === 0 && second === 0) return calendar([...date, 0, 0, 0]) + DAY_MS;
  return calendar([...date, hour, minute, second], parts[4] || "");
}

/** Day and month. @param {number} first @param {number} second @param {string} mark
 * @param {"day" | "month" | null} order */
function toldApart(first, second, mark, order) {
  if (first > 12 || (mark === "." && order === null)) return [first, second];
  if (second > 12) return [second, first];
  if (order === null && first !== second) throw new FileProblem("file_unclear_date");
  return order === "month" ? [second, first] : [first, second];
}

/** Which comes first in dates with slashes, from the first date that tells. @param {string[]} texts
 * @returns {"day" | "month" | null} */
function dateOrder(texts) {
  for (const text of texts) {
    const parts = YEAR_LAST.exec(text.trim());
    if (parts && Number(parts[1]) > 12) return "day";
    if (parts && Number(parts[3]) > 12) return "month";
  }
  return null;
}

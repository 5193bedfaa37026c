// @ts-check
"use strict";
// Two maps that move together: what is true on the left, what was shared on the right, hour by hour.

/**
 * @typedef {[number, number, number, string]} Stop longitude, latitude, hour, words
 * @typedef {{name: string, days: [Stop[], Stop[]]}} Somebody
 */

/** @type {{box: Box, titles: [string, string], places: [number, number, string][], sides: [number[][], number[][]],
 *   people: Somebody[]}} */
const beside = dataOf("sides");
const SIDES = ["left", "right"];
const seen = { hour: 0, people: new Set([0, 1].filter((one) => one < beside.people.length)) };
/** @type {any[]} */
let sideMaps = [];

/** @param {number} person */
function colourOfPerson(person) {
  return lookOf(["second", "third", "fourth", "fifth", "first", "quiet"][person % 6]);
}

/** Visits of an hour by place, most first. @param {number} side @param {number} hour */
function visitsAt(side, hour) {
  const flat = beside.sides[side][hour];
  const pairs = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push({ place: beside.places[flat[at]], visits: flat[at + 1] });
  return pairs;
}

/** @param {number} number @param {string} what */
function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number > 1 ? "s" : ""}`;
}

const largest = Math.max(1, ...beside.sides.flatMap((side) => side.flatMap((hour) => hour.filter((_, at) => at % 2))));

/** @param {number} side */
function circleFeatures(side) {
  return visitsAt(side, seen.hour).map(({ place, visits }) => ({
    type: "Feature", geometry: { type: "Point", coordinates: [place[0], place[1]] },
    properties: { radius: 3 + 17 * Math.sqrt(visits / largest), words: `${place[2]}: ${counted(visits, "visit")}` },
  }));
}

/** Whole days of the chosen people; what is yet to come at this hour is pale. @param {number} side */
function lineFeatures(side) {
  return [...seen.people].flatMap((person) => {
    const stops = beside.people[person].days[side];
    const colour = colourOfPerson(person);
    const line = stops.map((stop) => [stop[0], stop[1]]);
    const points = stops.map((stop) => ({
      type: "Feature", geometry: { type: "Point", coordinates: [stop[0], stop[1]] },
      properties: { colour, isPast: stop[2] < seen.hour + 1, words: stop[3] },
    }));
    const path = { type: "Feature", geometry: { type: "LineString", coordinates: line }, properties: { colour } };
    return line.length > 1 ? [path, ...points] : points;
  });
}

/** @param {any} map @param {number} side */
function addSide(map, side) {
  setSource(map, "visits", collection(circleFeatures(side)));
  setSource(map, "days", collection(lineFeatures(side)));
  const first = lookOf("first");
  map.addLayer({ id: "visits", type: "circle", source: "visits", paint: {
    "circle-radius": ["get", "radius"], "circle-color": first, "circle-opacity": 0.45,
    "circle-stroke-color": first, "circle-stroke-width": 1 } });
  map.addLayer({ id: "lines", type: "line", source: "days", filter: ["==", ["geometry-type"], "LineString"],
    paint: { "line-color": ["get", "colour"], "line-width": 2.5 } });
  map.addLayer({ id: "stops", type: "circle", source: "days", filter: ["==", ["geometry-type"], "Point"], paint: {
    "circle-radius": 6, "circle-color": ["get", "colour"], "circle-opacity": ["case", ["get", "isPast"], 1, 0.25],
    "circle-stroke-color": lookOf("paper"), "circle-stroke-width": 1.5 } });
}

/** Where no map can be drawn: the same dots and lines on paper. @param {number} side */
function pictureOf(side) {
  const spot = onPaper(beside.box);
  const dots = visitsAt(side, seen.hour).map(({ place, visits }) => {
    const [cx, cy] = spot(place[0], place[1]);
    return drawn("circle", { cx, cy, r: 3 + 19 * Math.sqrt(visits / largest), class: "fill pale first" });
  });
  const lines = [...seen.people].map((person) => {
    const points = beside.people[person].days[side].map((stop) => spot(stop[0], stop[1]).join(",")).join(" ");
    return drawn("polyline", { points, class: "stroke", stroke: colourOfPerson(person) });
  });
  return plainPicture([...dots, ...lines]);
}

/** The same as the maps, in words. @param {number} side */
function wordsOf(side) {
  const all = visitsAt(side, seen.hour);
  const total = all.reduce((sum, one) => sum + one.visits, 0);
  if (!total) return "Nobody is on the map in this hour.";
  const names = all.slice(0, 3).map((one) => `${one.place[2]} (${one.visits})`).join(", ");
  return `${counted(total, "visit")} at ${counted(all.length, "place")}; most at ${names}.`;
}

function drawSides() {
  part("hour").value = String(seen.hour);
  part("hour-words").textContent = hourSpan(seen.hour);
  SIDES.forEach((name, side) => {
    part(`${name}-words`).textContent = wordsOf(side);
    const map = sideMaps[side];
    if (!map) {
      part(name).replaceChildren(pictureOf(side));
    } else if (map.getSource("visits")) {
      setSource(map, "visits", collection(circleFeatures(side)));
      setSource(map, "days", collection(lineFeatures(side)));
    }
  });
}

function listPeople() {
  part("people").replaceChildren(...beside.people.map((one, person) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = seen.people.has(person);
    box.addEventListener("change", () => {
      if (box.checked) seen.people.add(person);
      else seen.people.delete(person);
      drawSides();
    });
    label.append(box, ` ${one.name}`);
    return label;
  }));
  part("people").hidden = beside.people.length < 2;
}

function startSides() {
  const sums = beside.sides[0].map((hour) => hour.reduce((sum, value, at) => sum + (at % 2 ? value : 0), 0));
  seen.hour = sums.indexOf(Math.max(...sums));
  SIDES.forEach((name, side) => {
    part(`${name}-title`).textContent = beside.titles[side];
    sideMaps.push(openMap(part(name), { box: beside.box, label: `Map: ${beside.titles[side]}` },
      (map) => addSide(map, side)));
  });
  part("no-map").hidden = Boolean(sideMaps[0]);
  const maps = sideMaps.filter(Boolean);
  moveTogether(maps);
  for (const map of maps) tellWhenPointedAt(map, ["stops", "visits"]);
  if (maps.length) {
    part("plain-map").hidden = part("left").dataset.basemap !== "none";
    maps[maps.length - 1].on("idle", () => { document.body.dataset.map = "drawn"; });
  }
  playHours(() => seen.hour, (hour) => {
    seen.hour = hour;
    drawSides();
  });
  listPeople();
  drawSides();
}

startSides();

// @ts-check
"use strict";
// A world on the map: places by kind and hour, what the prior thinks, regions, and how far one gets.

/** @type {{box: Box, kinds: string[], lng: number[], lat: number[], names: string[], kind: number[], open: number[],
 *   prior: [number, number][][], levels: {name: string, more: number,
 *   regions: {ring: [number, number][], from: number, to: number, words: string}[]}[],
 *   reach: {bits?: string, width?: number, km?: number}}} */
const city = dataOf("world");
const looked = { shown: "kinds", level: 0, hour: 12, place: -1 };
/** @type {any} */
let worldMap = null;

const KIND_COLOURS = ["first", "second", "third", "fourth", "fifth"];

/** Five colours can be told apart: kinds beyond the largest four share the last. @param {number} kind */
function kindColour(kind) {
  return lookOf(KIND_COLOURS[Math.min(kind, 4)]);
}

/** @param {number} place */
function isOpen(place) {
  return Math.floor(city.open[place] / 2 ** looked.hour) % 2 === 1;
}

/** @type {Uint8Array | null} */
let reachBits = null;

/** Whether one gets from a place to another within half an hour. @param {number} from @param {number} to */
function reaches(from, to) {
  const { bits, width, km } = city.reach;
  if (bits && width) {
    if (!reachBits) reachBits = Uint8Array.from(atob(bits), (letter) => letter.charCodeAt(0));
    return ((reachBits[from * width + (to >> 3)] >> (to & 7)) & 1) === 1;
  }
  if (km === undefined) return false;
  const rad = Math.PI / 180;
  const [a, b] = [city.lat[from] * rad, city.lat[to] * rad];
  const half = Math.sin((a - b) / 2) ** 2
    + Math.cos(a) * Math.cos(b) * Math.sin(((city.lng[from] - city.lng[to]) * rad) / 2) ** 2;
  return 2 * 6371.0088 * Math.asin(Math.sqrt(Math.min(1, half))) <= km;
}

function placeFeatures() {
  const likely = new Map(looked.shown === "prior" ? city.prior[looked.hour] : []);
  const most = Math.max(1, ...city.prior.flatMap((hour) => hour.map((one) => one[1])));
  const plain = city.lng.length > 800 ? 3 : 5;
  const features = [];
  for (let place = 0; place < city.lng.length; place += 1) {
    const weight = likely.get(place);
    if (looked.shown === "prior" && weight === undefined) continue;
    if (looked.shown === "regions" && city.lng.length > 5000) continue;
    const isReached = looked.place < 0 || looked.place === place || reaches(looked.place, place);
    const kind = city.kinds[city.kind[place]];
    features.push({
      type: "Feature", geometry: { type: "Point", coordinates: [city.lng[place], city.lat[place]] },
      properties: {
        place, colour: looked.shown === "prior" ? lookOf("first") : kindColour(city.kind[place]),
        radius: weight === undefined ? (place === looked.place ? 9 : plain) : 3 + 20 * Math.sqrt(weight / most),
        fill: (looked.shown === "prior" ? 0.45 : isOpen(place) ? 0.9 : 0) * (isReached ? 1 : 0.12),
        edge: isReached ? 1 : 0.12,
        words: `${city.names[place]} (${kind})${isOpen(place) ? "" : ", closed now"}`,
      },
    });
  }
  return features;
}

function regionFeatures() {
  const level = city.levels[looked.level];
  if (looked.shown !== "regions" || !level) return [];
  // One that passes midnight goes on beyond 24.
  const hours = [looked.hour, looked.hour + 24];
  return level.regions.filter((one) => hours.some((hour) => one.from < hour + 1 && one.to > hour)).map((one) => ({
    type: "Feature", geometry: { type: "Polygon", coordinates: [one.ring] }, properties: { words: one.words },
  }));
}

/** @param {any} map */
function addWorld(map) {
  setSource(map, "regions", collection(regionFeatures()));
  setSource(map, "places", collection(placeFeatures()));
  map.addLayer({ id: "regions", type: "fill", source: "regions",
    paint: { "fill-color": lookOf("second"), "fill-opacity": 0.14, "fill-outline-color": lookOf("second") } });
  map.addLayer({ id: "places", type: "circle", source: "places", paint: {
    "circle-radius": ["get", "radius"], "circle-color": ["get", "colour"], "circle-opacity": ["get", "fill"],
    "circle-stroke-color": ["get", "colour"], "circle-stroke-width": 1.2, "circle-stroke-opacity": ["get", "edge"] } });
}

function drawWorld() {
  part("hour").value = String(looked.hour);
  part("hour-words").textContent = hourSpan(looked.hour);
  part("level-label").hidden = looked.shown !== "regions";
  const level = city.levels[looked.level];
  const more = city.kinds.length - 5;
  const items = looked.shown === "kinds"
    ? city.kinds.slice(0, 5).map((name, kind) =>
      [kindColour(kind), kind === 4 && more > 0 ? `${name} and ${more} other kinds` : name])
    : looked.shown === "prior" ? [[lookOf("first"), "larger: more of the visits of made-up people"]]
      : [[lookOf("second"), `regions of this hour${level && level.more ? `; ${level.more} more are not drawn` : ""}`]];
  part("key").replaceChildren(...items.map(([colour, words]) => keyEntry(colour, words)));
  if (worldMap && worldMap.getSource("places")) {
    setSource(worldMap, "regions", collection(regionFeatures()));
    setSource(worldMap, "places", collection(placeFeatures()));
  }
}

/** @param {number} place */
function choosePlace(place) {
  looked.place = place;
  if (place >= 0) {
    const known = city.reach.bits || city.reach.km !== undefined;
    let count = 0;
    for (let other = 0; known && other < city.lng.length; other += 1) {
      count += other !== place && reaches(place, other) ? 1 : 0;
    }
    part("picked").textContent = known
      ? `From ${city.names[place]}, leaving at noon, one gets to ${count.toLocaleString("en")} of `
        + `${(city.lng.length - 1).toLocaleString("en")} other places within 30 minutes. The others are pale.`
      : `${city.names[place]}. This world has too many places to carry how far one gets from each.`;
  }
  drawWorld();
}

function startWorld() {
  const choices = [["kinds", "kinds of place"], ["prior", "what the prior thinks"], ["regions", "regions"]];
  part("shown").replaceChildren(...choices.map(([value, words]) => new Option(words, value)));
  part("level").replaceChildren(...city.levels.map((level, at) => new Option(level.name, String(at))));
  part("place-names").replaceChildren(...city.names.slice(0, 3000).map((name) => new Option(name, name)));
  part("shown").addEventListener("change", () => {
    looked.shown = part("shown").value;
    drawWorld();
  });
  part("level").addEventListener("change", () => {
    looked.level = Number(part("level").value);
    drawWorld();
  });
  part("place").addEventListener("change", () => choosePlace(city.names.indexOf(part("place").value)));
  playHours(() => looked.hour, (hour) => {
    looked.hour = hour;
    drawWorld();
  });
  worldMap = openMap(part("map"), { box: city.box, label: "Map of the world's places" }, addWorld);
  if (worldMap) {
    tellWhenPointedAt(worldMap, ["places", "regions"]);
    worldMap.on("click", (/** @type {any} */ event) => {
      const near = [[event.point.x - 4, event.point.y - 4], [event.point.x + 4, event.point.y + 4]];
      const [under] = worldMap.queryRenderedFeatures(near, { layers: ["places"] });
      choosePlace(under ? under.properties.place : -1);
    });
    part("plain-map").hidden = part("map").dataset.basemap !== "none";
    worldMap.on("idle", () => { document.body.dataset.map = "drawn"; });
  } else {
    part("map").hidden = true;
    part("no-map").hidden = false;
  }
  drawWorld();
}

darkness.addEventListener("change", drawWorld);
startWorld();

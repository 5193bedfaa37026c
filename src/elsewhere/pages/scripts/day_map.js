// @ts-check
"use strict";
/* The day as a picture: on the map where the browser can draw one, else as plain lines and dots. */

const MOST_DOTS = 4000;
const SVG = "http://www.w3.org/2000/svg";

/** Degrees of a place. @param {Float64Array} vectors @param {number} place @returns {[number, number]} */
function lngLatOf(vectors, place) {
  const [x, y, z] = vectors.subarray(3 * place, 3 * place + 3);
  return [(Math.atan2(y, x) * 180) / Math.PI, (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI];
}

/** @param {[number, number]} at @returns {any} */
function pointAt(at) {
  return { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: at } };
}

class DayMap {
  /**
   * @param {HTMLElement} element @param {OpenPlaces} places @param {Box} box @param {string} label
   * @param {(lat: number, lng: number) => void} chosen
   */
  constructor(element, places, box, label, chosen) {
    this.element = element;
    this.points = Array.from({ length: places.count }, (_, place) => lngLatOf(places.vectors, place));
    this.box = box;
    /** @type {[number, number][]} */
    this.line = [];
    this.map = openMap(element, { box, label }, (map) => this.layers(map));
    if (!this.map) return;
    this.map.on("click", (/** @type {any} */ event) => chosen(event.lngLat.lat, event.lngLat.lng));
    this.map.on("idle", () => { document.body.dataset.map = "drawn"; });
  }

  /** @param {any} map */
  layers(map) {
    setSource(map, "places", collection(this.points.map(pointAt)));
    setSource(map, "day", collection([]));
    map.addLayer({ id: "places", type: "circle", source: "places",
      paint: { "circle-radius": 2, "circle-color": lookOf("quiet"), "circle-opacity": 0.5 } });
    map.addLayer({ id: "day-line", type: "line", source: "day",
      paint: { "line-color": lookOf("first"), "line-width": 3 } });
    map.addLayer({ id: "day-dots", type: "circle", source: "day", filter: ["==", ["geometry-type"], "Point"],
      paint: { "circle-radius": 6, "circle-color": lookOf("first"), "circle-stroke-color": lookOf("ink"),
        "circle-stroke-width": 1 } });
    this.draw(this.line);
  }

  /** Show the places of a day. @param {[number, number][]} line */
  draw(line) {
    this.line = line;
    if (!this.map) {
      this.element.replaceChildren(this.picture());
      return;
    }
    if (!this.map.getSource("day")) return; // it is drawn as soon as the map is there
    /** @type {any[]} */
    const features = line.map(pointAt);
    if (line.length > 1) {
      features.push({ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates: line } });
    }
    setSource(this.map, "day", collection(features));
  }

  /** Without WebGL: dots and a line. */
  picture() {
    const [west, south, east, north] = this.box;
    const squeeze = Math.cos((((south + north) / 2) * Math.PI) / 180);
    const size = Math.max((east - west) * squeeze, north - south, 1e-6);
    const spot = (/** @type {[number, number]} */ [lng, lat]) =>
      [20 + (560 * (lng - west) * squeeze) / size, 20 + (560 * (north - lat)) / size];
    const drawn = document.createElementNS(SVG, "svg");
    drawn.setAttribute("viewBox", "0 0 600 600");
    drawn.setAttribute("class", "picture");
    drawn.setAttribute("aria-hidden", "true"); // the list says it in words
    const add = (/** @type {string} */ name, /** @type {{[name: string]: string | number}} */ values) => {
      const part = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(values)) part.setAttribute(key, String(value));
      drawn.append(part);
    };
    const every = Math.ceil(this.points.length / MOST_DOTS);
    for (let place = 0; place < this.points.length; place += every) {
      const [cx, cy] = spot(this.points[place]);
      add("circle", { cx, cy, r: 2, class: "fill quiet pale" });
    }
    const line = this.line.map(spot);
    add("polyline", { points: line.map((at) => at.join(",")).join(" "), class: "stroke first" });
    for (const [cx, cy] of line) add("circle", { cx, cy, r: 7, class: "fill first" });
    return drawn;
  }
}

// @ts-check
"use strict";
/* The day as a picture: on the map where the browser can draw one, else as plain lines and dots. */

const MOST_DOTS = 4000;

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
    const spot = onPaper(this.box);
    const every = Math.ceil(this.points.length / MOST_DOTS);
    const places = this.points.filter((_, place) => place % every === 0).map(([lng, lat]) => spot(lng, lat));
    const line = this.line.map(([lng, lat]) => spot(lng, lat));
    return plainPicture([
      ...places.map(([cx, cy]) => drawn("circle", { cx, cy, r: 2, class: "fill quiet pale" })),
      drawn("polyline", { points: line.map((at) => at.join(",")).join(" "), class: "stroke first" }),
      ...line.map(([cx, cy]) => drawn("circle", { cx, cy, r: 7, class: "fill first" })),
    ]);
  }
}

// @ts-check
"use strict";
// One map for all pages: a small base map that the page carries, or a plain graticule where there is none.
// Nothing is fetched: tiles come out of the page, and letters are drawn with the reader's own fonts.

/** @typedef {[number, number, number, number]} Box west, south, east, north */

/** @param {string} id @returns {Uint8Array | null} */
function bytesOf(id) {
  const block = document.getElementById(id);
  if (!block) return null;
  const text = atob((block.textContent || "").trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** @param {string} id @returns {any} */
function dataOf(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent || "null") : null;
}

const darkness = window.matchMedia("(prefers-color-scheme: dark)");

/** A colour of the look, as the page has it now. @param {string} name */
function lookOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Whether a map can be drawn at all. */
function hasWebGL() {
  try {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
  } catch {
    return false;
  }
}

const DAYLIGHT = {
  land: "#f4f2ee", water: "#bcd6e6", green: "#d6e5c9", building: "#e2ddd5", lane: "#ffffff", street: "#ffffff",
  major: "#fbe3b5", rail: "#b9b4ac", word: "#4a4f57", halo: "#ffffff", grid: "#d5d0c8",
};
const NIGHT = {
  land: "#1b1f25", water: "#12303f", green: "#1d2b22", building: "#272c34", lane: "#2c323b", street: "#353c47",
  major: "#4a4436", rail: "#3d434d", word: "#b7bdc8", halo: "#14171c", grid: "#333a44",
};

/** @param {number} thin @param {number} wide */
function growing(thin, wide) {
  return ["interpolate", ["exponential", 1.6], ["zoom"], 11, thin, 17, wide];
}

/** @param {boolean} hasTiles @param {Box} box @returns {any} */
function styleOf(hasTiles, box) {
  const colours = darkness.matches ? NIGHT : DAYLIGHT;
  /** @type {any[]} */
  const layers = [{ id: "land", type: "background", paint: { "background-color": colours.land } }];
  /** @type {any} */
  const sources = { grid: { type: "geojson", data: graticule(box) } };
  if (!hasTiles) {
    layers.push({ id: "grid", type: "line", source: "grid", paint: { "line-color": colours.grid, "line-width": 1 } });
    return { version: 8, sources, layers };
  }
  sources.base = { type: "vector", url: "pmtiles://base", attribution: "© OpenStreetMap contributors" };
  const area = (/** @type {string} */ layer, /** @type {string} */ colour) =>
    layers.push({ id: layer, type: "fill", source: "base", "source-layer": layer, paint: { "fill-color": colour } });
  const line = (/** @type {string} */ id, /** @type {string} */ layer, /** @type {any} */ filter,
    /** @type {string} */ colour, /** @type {any} */ width) =>
    layers.push({
      id, type: "line", source: "base", "source-layer": layer, ...(filter ? { filter } : {}),
      layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": colour, "line-width": width },
    });
  area("green", colours.green);
  area("water", colours.water);
  area("buildings", colours.building);
  line("lanes", "lanes", null, colours.lane, growing(0.3, 4));
  line("rails", "rails", null, colours.rail, growing(0.5, 2.5));
  line("streets", "streets", ["==", ["get", "kind"], "street"], colours.street, growing(0.6, 11));
  line("majors", "streets", ["==", ["get", "kind"], "major"], colours.major, growing(1.2, 15));
  const words = { "text-color": colours.word, "text-halo-color": colours.halo, "text-halo-width": 1.4 };
  layers.push({
    id: "street-names", type: "symbol", source: "base", "source-layer": "streets", minzoom: 14.5, paint: words,
    layout: { "text-field": ["get", "name"], "symbol-placement": "line", "text-size": 11, "text-font": ["sans-serif"] },
  });
  layers.push({
    id: "names", type: "symbol", source: "base", "source-layer": "names", paint: words,
    layout: { "text-field": ["get", "name"], "text-size": 13, "text-font": ["sans-serif"] },
  });
  return { version: 8, sources, layers };
}

/** Lines of latitude and longitude at round distances. @param {Box} box @returns {any} */
function graticule(box) {
  const [west, south, east, north] = box;
  const rough = Math.max(east - west, north - south, 1e-4) / 6;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * (rough / unit >= 5 ? 5 : rough / unit >= 2 ? 2 : 1);
  const wide = 4 * Math.max(east - west, north - south, step);
  const lines = [];
  for (let x = Math.floor((west - wide) / step) * step; x <= east + wide; x += step) {
    lines.push([[x, Math.max(south - wide, -85)], [x, Math.min(north + wide, 85)]]);
  }
  for (let y = Math.floor((south - wide) / step) * step; y <= north + wide; y += step) {
    if (Math.abs(y) <= 85) lines.push([[west - wide, y], [east + wide, y]]);
  }
  return { type: "Feature", properties: {}, geometry: { type: "MultiLineString", coordinates: lines } };
}

/** @type {any} */
let baseTiles = null;

/** The page's own tiles, opened once for all of its maps. */
function openBase() {
  if (baseTiles) return true;
  const bytes = bytesOf("basemap");
  if (!bytes) return false;
  const whole = bytes.buffer;
  const source = {
    getKey: () => "base",
    getBytes: async (/** @type {number} */ from, /** @type {number} */ length) =>
      ({ data: whole.slice(from, from + length) }),
  };
  const protocol = new pmtiles.Protocol();
  baseTiles = new pmtiles.PMTiles(source);
  protocol.add(baseTiles);
  maplibregl.addProtocol("pmtiles", protocol.tile);
  return true;
}

/**
 * A map in an element, or null where the browser cannot draw one. `redraw` adds the page's own layers: it is
 * called when the map is ready, and again when day turns into night.
 * @param {HTMLElement} element @param {{box: Box, label?: string}} options @param {(map: any) => void} [redraw]
 * @returns {any}
 */
function openMap(element, options, redraw) {
  if (!hasWebGL()) return null;
  const hasTiles = openBase();
  const [west, south, east, north] = options.box;
  let map;
  try {
    map = new maplibregl.Map({
      container: element, style: styleOf(hasTiles, options.box), bounds: [[west, south], [east, north]],
      fitBoundsOptions: { padding: 24, maxZoom: 15 }, attributionControl: hasTiles ? { compact: false } : false,
      dragRotate: false, pitchWithRotate: false, touchPitch: false, maxZoom: 18, fadeDuration: 0,
      canvasContextAttributes: { preserveDrawingBuffer: true }, renderWorldCopies: false, refreshExpiredTiles: false,
    });
  } catch {
    return null;
  }
  map.touchZoomRotate.disableRotation();
  map.keyboard.enable();
  map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new maplibregl.ScaleControl({ maxWidth: 120 }), "bottom-left");
  map.getCanvas().setAttribute("aria-label", options.label || "Map. Arrow keys move it, plus and minus zoom.");
  if (!hasTiles) element.dataset.basemap = "none";
  if (redraw) map.on("style.load", () => redraw(map));
  darkness.addEventListener("change", () => map.setStyle(styleOf(hasTiles, options.box)));
  return map;
}

/** Maps that show the same part of the city. @param {any[]} maps */
function moveTogether(maps) {
  let isMoving = false;
  for (const map of maps) {
    map.on("move", () => {
      if (isMoving) return;
      isMoving = true;
      for (const other of maps) {
        if (other !== map) other.jumpTo({ center: map.getCenter(), zoom: map.getZoom() });
      }
      isMoving = false;
    });
  }
}

/** Put new data into a source, or make it. @param {any} map @param {string} id @param {any} data */
function setSource(map, id, data) {
  const source = map.getSource(id);
  if (source) source.setData(data);
  else map.addSource(id, { type: "geojson", data });
}

/** @param {any[]} features @returns {any} */
function collection(features) {
  return { type: "FeatureCollection", features };
}

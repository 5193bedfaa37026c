// @ts-check
"use strict";
// What pages with a map have in common beside it: parts by their id, an hour in words, a day that plays.

/** @param {string} id @returns {any} */
function part(id) {
  return document.getElementById(id);
}

/** @param {number} from @param {number} [to] */
function hourSpan(from, to = from + 1) {
  const clock = (/** @type {number} */ hour) => `${String(hour).padStart(2, "0")}:00`;
  return `${clock(from)}–${clock(to)}`;
}

/** The slider `hour` and the button `play`. @param {() => number} now @param {(hour: number) => void} choose */
function playHours(now, choose) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;
  part("hour").addEventListener("input", () => choose(Number(part("hour").value)));
  part("play").addEventListener("click", () => {
    if (playing) clearInterval(playing);
    playing = playing ? undefined : setInterval(() => choose((now() + 1) % 24), 900);
    part("play").setAttribute("aria-pressed", String(Boolean(playing)));
    part("play").textContent = playing ? "Stop" : "Play the day";
  });
}

/** Say what lies under the pointer. @param {any} map @param {string[]} layers from above */
function tellWhenPointedAt(map, layers) {
  const popup = new maplibregl.Popup({ closeButton: false, maxWidth: "280px" });
  map.on("mousemove", (/** @type {any} */ event) => {
    const there = layers.filter((id) => map.getLayer(id));
    const [under] = map.queryRenderedFeatures(event.point, { layers: there });
    map.getCanvas().style.cursor = under ? "pointer" : "";
    if (under) popup.setLngLat(event.lngLat).setText(under.properties.words).addTo(map);
    else popup.remove();
  });
}

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} name @param {Record<string, string | number>} given @param {(Element | string)[]} [inside] */
function drawn(name, given, inside) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, String(value));
  made.append(...(inside || []));
  return made;
}

/** An entry of a legend: a patch of a colour, and what it means. @param {string} colour @param {string} words */
function keyEntry(colour, words, opacity = 1) {
  const item = document.createElement("li");
  const patch = drawn("rect", { width: "100%", height: "100%", fill: colour, "fill-opacity": opacity });
  item.append(drawn("svg", { "aria-hidden": "true" }, [patch]), ` ${words}`);
  return item;
}

/** Where a position lies on a plain picture of 600 by 600. @param {Box} box */
function onPaper([west, south, east, north]) {
  const squeeze = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const size = Math.max((east - west) * squeeze, north - south, 1e-6);
  return (/** @type {number} */ lng, /** @type {number} */ lat) =>
    [20 + (560 * (lng - west) * squeeze) / size, 20 + (560 * (north - lat)) / size];
}

/** A plain picture for where no map can be drawn; beside it, words say the same. @param {Element[]} inside */
function plainPicture(inside) {
  return drawn("svg", { viewBox: "0 0 600 600", class: "picture", "aria-hidden": "true" }, inside);
}

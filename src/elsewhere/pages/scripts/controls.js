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

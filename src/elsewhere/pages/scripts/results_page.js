// @ts-check
"use strict";
// The analyst's page: controls, the map, the list beside it, and downloads.

/** @type {{views: View[], moves: Moves[], box: Box}} */
const results = dataOf("results");
const shown = { view: 0, choice: "estimate", hour: 0, part: -1, flows: false };
/** @type {any} */
let cityMap = null;

function view() {
  return results.views[shown.view];
}

/** @param {any} list @param {[string, string][]} choices */
function fill(list, choices) {
  list.replaceChildren(...choices.map(([value, words]) => new Option(words, value)));
}

/** Five steps from little to much, in daylight or at night; a change has two sides. */
function rampOf() {
  return darkness.matches
    ? ["#173a4b", "#1f5a78", "#2f8ab5", "#56b4e9", "#b7e3ff"]
    : ["#d6e7f3", "#9cc7e4", "#4f9bcb", "#0067a3", "#003a66"];
}

/** @param {number} value @param {number} largest */
function colourOf(value, largest) {
  if (shown.choice === "change") return value < 0 ? lookOf("second") : lookOf("first");
  return rampOf()[Math.min(4, Math.floor((5 * Math.max(value, 0)) / largest))];
}

/** Hatching for what is not known. */
function hatch() {
  const side = 8;
  const data = new Uint8Array(4 * side * side);
  const grey = darkness.matches ? 150 : 110;
  for (let at = 0; at < side * side; at += 1) {
    const isLine = (at % side) === side - 1 - Math.floor(at / side);
    data.set(isLine ? [grey, grey, grey, 200] : [0, 0, 0, 0], 4 * at);
  }
  return { width: side, height: side, data };
}

function partFeatures() {
  const largest = largestOf(view(), shown.choice);
  return rowsAt(view(), shown.hour).map((row) => {
    const one = shownAt(view(), shown.choice, row);
    const own = view().parts[view().part[row]];
    return {
      type: "Feature",
      geometry: { type: "Polygon", coordinates: [own.ring] },
      properties: {
        part: view().part[row], sureness: surenessOf(one, shown.choice), colour: colourOf(one.value, largest),
        isChosen: view().part[row] === shown.part,
      },
    };
  });
}

/** Moves that are known to be there, as arcs; wider for more people. */
function arcFeatures() {
  const moves = results.moves[0];
  if (!moves || !shown.flows) return [];
  const rows = moves.estimate.map((_, row) => row)
    .filter((row) => moves.from[row] !== moves.to[row] && moves.low[row] > 0 && moves.estimate[row] > 0)
    .sort((a, b) => moves.estimate[b] - moves.estimate[a]).slice(0, 20);
  const most = rows.length ? moves.estimate[rows[0]] : 1;
  return rows.map((row) => {
    const [from, to] = [moves.parts[moves.from[row]].middle, moves.parts[moves.to[row]].middle];
    const bend = [(to[1] - from[1]) * 0.18, -(to[0] - from[0]) * 0.18];
    const line = [];
    for (let step = 0; step <= 24; step += 1) {
      const t = step / 24;
      const lift = 4 * t * (1 - t);
      line.push([from[0] + t * (to[0] - from[0]) + lift * bend[0], from[1] + t * (to[1] - from[1]) + lift * bend[1]]);
    }
    return {
      type: "Feature", geometry: { type: "LineString", coordinates: line },
      properties: { row, width: 1 + (9 * moves.estimate[row]) / most },
    };
  });
}

/** Layers of the page; again whenever the style is new. @param {any} map */
function addLayers(map) {
  if (!map.hasImage("hatch")) map.addImage("hatch", hatch());
  setSource(map, "parts", collection(partFeatures()));
  setSource(map, "arcs", collection(arcFeatures()));
  const before = map.getLayer("street-names") ? "street-names" : undefined;
  const known = ["!=", ["get", "sureness"], "unknown"];
  map.addLayer({
    id: "parts", type: "fill", source: "parts", filter: known,
    paint: {
      "fill-color": ["get", "colour"],
      "fill-opacity": ["match", ["get", "sureness"], "sure", 0.62, "few", 0, 0.34],
    },
  }, before);
  map.addLayer({ id: "unknown", type: "fill", source: "parts", filter: ["!", known],
    paint: { "fill-pattern": "hatch", "fill-opacity": 0.55 } }, before);
  map.addLayer({
    id: "edges", type: "line", source: "parts",
    paint: {
      "line-color": ["case", ["get", "isChosen"], lookOf("second"), lookOf("quiet")],
      "line-width": ["case", ["get", "isChosen"], 3, 0.6],
    },
  });
  map.addLayer({ id: "arcs", type: "line", source: "arcs", layout: { "line-cap": "round" },
    paint: { "line-color": lookOf("second"), "line-width": ["get", "width"], "line-opacity": 0.65 } });
  map.addLayer({ id: "arrows", type: "symbol", source: "arcs",
    layout: { "symbol-placement": "line-center", "text-field": "▶", "text-size": 15, "text-font": ["sans-serif"],
      "text-keep-upright": false, "text-allow-overlap": true },
    paint: { "text-color": lookOf("second"), "text-halo-color": lookOf("paper"), "text-halo-width": 1 } });
}

function drawMap() {
  if (!cityMap || !cityMap.getSource("parts")) return;
  setSource(cityMap, "parts", collection(partFeatures()));
  setSource(cityMap, "arcs", collection(arcFeatures()));
}

/** The same as the map, in words: for everybody who cannot see it, and for those who want the numbers. */
function drawList() {
  const choice = shown.choice;
  const all = rowsAt(view(), shown.hour).map((row) => shownAt(view(), choice, row));
  all.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const table = document.createElement("table");
  const body = table.createTBody();
  for (const one of all.slice(0, 10)) {
    const own = view().part[one.row];
    const line = body.insertRow();
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = view().parts[own].label;
    button.addEventListener("click", () => choosePart(own));
    line.insertCell().append(button);
    const words = line.insertCell();
    words.className = "text";
    words.textContent = surenessOf(one, choice) === "unknown" && choice !== "change"
      ? `not known: between ${percent(one.low)} and ${percent(one.high)}` : inWords(one, choice);
  }
  const holder = document.createElement("div");
  holder.className = "scrolls";
  holder.append(table);
  part("list").replaceChildren(holder);
  const title = choice === "change" ? "Most changed" : "Busiest";
  part("list-title").textContent = `${title}, ${hourWords(view(), shown.hour)}`;
}

function drawPicked() {
  if (shown.part < 0) return;
  const row = rowsAt(view(), shown.hour).find((one) => view().part[one] === shown.part);
  if (row === undefined) return;
  const one = shownAt(view(), shown.choice, row);
  const truth = view().truth;
  part("picked-title").textContent = `${view().parts[shown.part].label}, ${hourWords(view(), shown.hour)}`;
  const sure = { sure: "This is known well.", few: "This is known: hardly anybody.", rough: "This is known roughly.",
    unknown: shown.choice === "change" ? "This may be chance." : "This is not known: the interval is too long." };
  part("picked").textContent = shown.choice === "truth" ? `${inWords(one, "truth")}, as people are made up.`
    : `${inWords(one, shown.choice)} (95 % interval). ${sure[surenessOf(one, shown.choice)]} `
    + `It rests on ${view().reports.toLocaleString("en")} reports to this question. `
    + (truth && shown.choice === "estimate" ? `True, as people are made up: ${percent(truth[row])}.` : "");
  const key = document.createElement("p");
  key.className = "note";
  const dashed = truth ? ", the dashed line what is true" : "";
  key.textContent = `The line is the number of each hour, the band its interval${dashed}; the dotted line is now.`;
  part("picked-day").replaceChildren(dayChart(view(), shown.choice, shown.part, shown.hour), key);
}

function drawKey() {
  const largest = largestOf(view(), shown.choice);
  const ramp = rampOf();
  /** @type {[string, string, number][]} */
  const entries = shown.choice === "change"
    ? [[lookOf("first"), "more", 0.62], [lookOf("second"), "fewer", 0.62]]
    : ramp.map((colour, at) => [colour, `${percent((largest * at) / 5)}–${percent((largest * (at + 1)) / 5)}`, 1]);
  const items = entries.map(([colour, words, opacity]) => keyEntry(colour, words, opacity));
  const unknown = document.createElement("li");
  unknown.textContent = shown.choice === "change" ? "hatched: may be chance"
    : "paler: known roughly; plain: few, under 1 %; hatched: not known";
  part("key").replaceChildren(...items, unknown);
}

function draw() {
  part("hour").value = String(shown.hour);
  part("hour-words").textContent = hourWords(view(), shown.hour);
  drawMap();
  drawList();
  drawPicked();
}

/** @param {number} own */
function choosePart(own) {
  shown.part = own;
  draw();
}

/** @param {number} row */
function chooseMove(row) {
  const moves = results.moves[0];
  const one = shownAt(moves, "estimate", row);
  shown.part = -1;
  part("picked-title").textContent =
    `From ${moves.parts[moves.from[row]].label} to ${moves.parts[moves.to[row]].label}`;
  part("picked").textContent = `${inWords(one, "estimate")} (95 % interval), in the whole day. `
    + `It rests on ${moves.reports.toLocaleString("en")} reports to this question. `
    + (moves.truth ? `True, as people are made up: ${percent(moves.truth[row])}.` : "");
  part("picked-day").replaceChildren();
  drawMap();
}

/** What the picture of the map says below it: what, when, and what colours mean. */
function captionOf() {
  const choice = choicesOf(view()).find(([name]) => name === shown.choice);
  const colours = [...part("key").children].map((item) => (item.textContent || "").trim()).join("  ");
  const credit = part("map").dataset.basemap === "none" ? "" : "© OpenStreetMap contributors";
  const when = hourWords(view(), shown.hour);
  return [`${view().what}, ${when}, ${choice ? choice[1] : ""}`, `From pale to dark: ${colours}`, credit];
}

/** The hour at which most is going on. */
function busiestHour() {
  let best = 12;
  let most = -1;
  for (let hour = 0; hour < 24; hour += 1) {
    const sum = rowsAt(view(), hour).reduce((total, row) => total + view().estimate[row] / view().hours[row], 0);
    if (sum > most) [best, most] = [hour, sum];
  }
  return best;
}

function chooseView() {
  fill(part("view"), choicesOf(view()));
  shown.choice = "estimate";
  shown.part = -1;
  part("view-label").hidden = choicesOf(view()).length < 2;
  part("picked-title").textContent = "Choose a part of the city";
  part("picked").textContent = "";
  part("picked-day").replaceChildren();
  drawKey();
  draw();
}

function start() {
  part("flows-label").hidden = !results.moves.length;
  part("which-label").hidden = results.views.length < 2;
  if (!results.views.length) {
    // Moves alone: arcs on the map, and nothing by the hour.
    for (const id of ["hours", "view-label", "csv", "list-title", "key"]) part(id).hidden = true;
    part("picked-title").textContent = "Choose a move";
    shown.flows = true;
    part("flows").checked = true;
    results.views.push({ name: "", what: "", reports: 0, parts: [], part: [], hour: [], hours: [], estimate: [],
      low: [], high: [] });
  }
  fill(part("which"), results.views.map((one, at) => [String(at), `${one.name}: ${one.what}`]));
  shown.hour = busiestHour();
  part("which").addEventListener("change", () => {
    shown.view = Number(part("which").value);
    chooseView();
  });
  part("view").addEventListener("change", () => {
    shown.choice = part("view").value;
    drawKey();
    draw();
  });
  part("flows").addEventListener("change", () => {
    shown.flows = part("flows").checked;
    drawMap();
  });
  playHours(() => shown.hour, (hour) => {
    shown.hour = hour;
    draw();
  });
  part("csv").addEventListener("click", () => {
    const name = `${view().name}-${String(shown.hour).padStart(2, "0")}h.csv`;
    download(name, new Blob([csvOf(view(), shown.choice, shown.hour)], { type: "text/csv" }));
  });
  part("png").addEventListener("click", () => pictureOfMap(cityMap, captionOf(), (blob) => {
    if (blob) download(`${view().name}-${shown.hour}h.png`, blob);
  }));
  cityMap = openMap(part("map"), { box: results.box, label: "Map of people by the hour" }, addLayers);
  if (!cityMap) {
    part("map").hidden = true;
    part("png").hidden = true;
    part("no-map").hidden = false;
  } else {
    part("plain-map").hidden = part("map").dataset.basemap !== "none";
    cityMap.on("click", (/** @type {any} */ event) => {
      const near = [[event.point.x - 4, event.point.y - 4], [event.point.x + 4, event.point.y + 4]];
      const [arc] = cityMap.queryRenderedFeatures(near, { layers: ["arcs"] });
      const [own] = cityMap.queryRenderedFeatures(event.point, { layers: ["parts", "unknown"] });
      if (arc) chooseMove(arc.properties.row);
      else if (own) choosePart(own.properties.part);
    });
    cityMap.on("idle", () => { document.body.dataset.map = "drawn"; });
  }
  chooseView();
}

darkness.addEventListener("change", drawKey);
start();

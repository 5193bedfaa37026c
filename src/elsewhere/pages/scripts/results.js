// @ts-check
"use strict";
// Numbers of the analyst's page: what is shown at an hour, how sure it is, and in which words.

/**
 * @typedef {{label: string, ring: [number, number][], middle: [number, number]}} Part
 * @typedef {{estimate: number[], low: number[], high: number[]}} Numbers
 * @typedef {Numbers & {name: string, what: string, reports: number, parts: Part[], part: number[], hour: number[],
 *   hours: number[], truth?: number[], other?: Numbers & {name: string}}} View
 * @typedef {Numbers & {name: string, what: string, reports: number, parts: Part[], from: number[], to: number[],
 *   truth?: number[], other?: Numbers & {name: string}}} Moves
 * @typedef {{row: number, value: number, low: number, high: number}} Shown
 */

/** What may be chosen to look at. @param {View | Moves} view @returns {[string, string][]} */
function choicesOf(view) {
  /** @type {[string, string][]} */
  const found = [["estimate", "estimated"]];
  if (view.truth) found.push(["truth", "what is true (made-up people)"]);
  if (view.other) found.push(["other", view.other.name], ["change", `change from ${view.other.name}`]);
  return found;
}

/**
 * A number and its interval. A change between two surveys of different people has the root of the squares of
 * both half-lengths: their noise is independent.
 * @param {View | Moves} view @param {string} choice @param {number} row @returns {Shown}
 */
function shownAt(view, choice, row) {
  if (choice === "truth" && view.truth) {
    const value = view.truth[row];
    return { row, value, low: value, high: value };
  }
  const other = view.other;
  if (choice === "other" && other) {
    return { row, value: other.estimate[row], low: other.low[row], high: other.high[row] };
  }
  if (choice === "change" && other) {
    const value = view.estimate[row] - other.estimate[row];
    const down = Math.hypot(view.estimate[row] - view.low[row], other.high[row] - other.estimate[row]);
    const up = Math.hypot(view.high[row] - view.estimate[row], other.estimate[row] - other.low[row]);
    return { row, value, low: value - down, high: value + up };
  }
  return { row, value: view.estimate[row], low: view.low[row], high: view.high[row] };
}

/** Rows that are about an hour. @param {View} view @param {number} hour */
function rowsAt(view, hour) {
  const found = [];
  for (let row = 0; row < view.hour.length; row += 1) {
    if (view.hour[row] <= hour && hour < view.hour[row] + view.hours[row]) found.push(row);
  }
  return found;
}

const SURE = 0.25;
const ROUGH = 0.6;
const FEW = 0.01;

/**
 * How well a number is known: an interval of a quarter either way is sure, up to three fifths rough, and a
 * longer one says next to nothing, unless all of it lies below 1 % of people: then there are few, for sure. A
 * change is known if its interval leaves out 0.
 * @param {Shown} shown @param {string} choice @returns {"sure" | "rough" | "few" | "unknown"}
 */
function surenessOf(shown, choice) {
  const half = (shown.high - shown.low) / 2;
  if (choice === "change") return shown.low > 0 || shown.high < 0 ? "sure" : "unknown";
  if (shown.high < FEW) return "few";
  const relative = shown.value > 0 ? half / shown.value : Infinity;
  return relative <= SURE ? "sure" : relative <= ROUGH ? "rough" : "unknown";
}

/** @param {number} share */
function percent(share) {
  return `${(100 * share).toFixed(1).replace("-", "−")} %`;
}

/** @param {Shown} shown @param {string} choice */
function inWords(shown, choice) {
  if (choice === "truth") return `${percent(shown.value)} of people`;
  if (surenessOf(shown, choice) === "few") return `few: under ${percent(shown.high)} of people`;
  const sign = choice === "change" && shown.value > 0 ? "+" : "";
  const unit = choice === "change" ? "of all people" : "of people";
  return `${sign}${percent(shown.value)} ${unit}, between ${percent(shown.low)} and ${percent(shown.high)}`;
}

/** @param {View} view @param {number} hour */
function hourWords(view, hour) {
  const row = rowsAt(view, hour)[0];
  const from = row === undefined ? hour : view.hour[row];
  const length = row === undefined ? 1 : view.hours[row];
  const isEven = new Set(rowsAt(view, hour).map((one) => `${view.hour[one]} ${view.hours[one]}`)).size <= 1;
  return isEven ? hourSpan(from, from + length) : hourSpan(hour);
}

/** The largest number of all hours, so that colours mean the same all day. @param {View} view @param {string} choice */
function largestOf(view, choice) {
  let largest = 0;
  for (let row = 0; row < view.estimate.length; row += 1) {
    largest = Math.max(largest, Math.abs(shownAt(view, choice, row).value));
  }
  return largest || 1;
}

/** A day of one part as a small chart: a band for the interval, a line for the number.
 * @param {View} view @param {string} choice @param {number} part @param {number} hour */
function dayChart(view, choice, part, hour) {
  const rows = view.part.flatMap((own, row) => (own === part ? [row] : [])).sort((a, b) => view.hour[a] - view.hour[b]);
  const all = rows.map((row) => shownAt(view, choice, row));
  const most = Math.max(...all.map((one) => one.high), ...rows.map((row) => (view.truth ? view.truth[row] : 0)), 1e-9);
  const least = Math.min(0, ...all.map((one) => one.low));
  const y = (/** @type {number} */ value) => 1000 - (1000 * (value - least)) / (most - least);
  const x = (/** @type {number} */ value) => (1000 * value) / 24;
  /** @type {string[]} */
  const above = [];
  /** @type {string[]} */
  const below = [];
  /** @type {string[]} */
  const line = [];
  /** @type {string[]} */
  const true_ = [];
  rows.forEach((row, at) => {
    const [from, to] = [x(view.hour[row]), x(view.hour[row] + view.hours[row])];
    above.push(`${from} ${y(all[at].high)}`, `${to} ${y(all[at].high)}`);
    below.unshift(`${to} ${y(all[at].low)}`, `${from} ${y(all[at].low)}`);
    line.push(`${from} ${y(all[at].value)}`, `${to} ${y(all[at].value)}`);
    if (view.truth) true_.push(`${from} ${y(view.truth[row])}`, `${to} ${y(view.truth[row])}`);
  });
  const paths = [
    drawn("path", { class: "fill pale first", d: `M${[...above, ...below].join(" L")} Z` }),
    drawn("path", { class: "stroke first", d: `M${line.join(" L")}` }),
  ];
  if (true_.length) paths.push(drawn("path", { class: "stroke second dashed", d: `M${true_.join(" L")}` }));
  const now = x(hour + 0.5);
  paths.push(drawn("path", { class: "stroke quiet dotted", d: `M${now} 0 L${now} 1000` }));
  const stretched = drawn("svg", { width: "100%", height: "100%", viewBox: "0 0 1000 1000",
    preserveAspectRatio: "none" }, paths);
  const words = [0, 6, 12, 18, 24].map((at) =>
    drawn("text", { x: `${(100 * at) / 24}%`, y: 196, "text-anchor": "middle" }, [`${at} h`]));
  for (const value of [least, most]) {
    words.push(drawn("text", { x: -6, y: value === most ? 10 : 178, "text-anchor": "end" }, [percent(value)]));
  }
  const inner = drawn("svg", { x: "13%", y: 6, width: "84%", height: 176, overflow: "visible" }, [stretched, ...words]);
  const label = `${view.parts[part].label} by the hour`;
  return drawn("svg", { class: "chart", height: 210, role: "img", "aria-label": label }, [inner]);
}

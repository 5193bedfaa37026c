// @ts-check
"use strict";
/* What the page says, in the reader's language, and what an answer means in words. */

/** @typedef {{[key: string]: string}} Messages */
/** @typedef {{[name: string]: string | number}} Values */

const SHOWN_THINGS = 4;

class Wording {
  /** @param {{[language: string]: Messages}} messages */
  constructor(messages) {
    this.messages = messages;
    const wanted = navigator.languages.map((one) => one.slice(0, 2)).find((one) => one in messages);
    this.language = wanted || "en";
  }

  /** A message with its values. @param {string} key @param {Values} [values] */
  say(key, values = {}) {
    const text = this.messages[this.language][key] || key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
  }

  /** Everything that has its words in a message file; again when the language changes. @param {Values} values */
  sayAll(values) {
    document.documentElement.lang = this.language;
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-say]"))) {
      element.textContent = this.say(element.dataset.say || "", values);
    }
    for (const title of document.querySelectorAll("title, h1")) title.textContent = this.say("title");
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-language]"))) {
      button.setAttribute("aria-pressed", String(button.dataset.language === this.language));
    }
  }

  /** A day, counted from 1970. @param {number} day */
  day(day) {
    const options = /** @type {const} */ ({ dateStyle: "full", timeZone: "UTC" });
    return new Intl.DateTimeFormat(this.language, options).format(new Date(day * DAY_MS));
  }
}

/** A day, counted from 1970, of a date such as 2025-09-17. @param {string} date */
function dayNumber(date) {
  return Math.round(Date.parse(`${date}T00:00:00Z`) / DAY_MS);
}

/** @param {number} day */
function dateOf(day) {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The time at which a timestep begins. @param {PlainSurvey} plain @param {number} timestep */
function timeWords(plain, timestep) {
  const minutes = timestep * plain.minutes;
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A place by its name, or by its kind. @param {PlainSurvey} plain @param {Int32Array} kinds @param {number} place */
function placeWords(plain, kinds, place) {
  const kind = (plain.places.kind_names[kinds[place]].split("=").pop() || "").replace(/_/g, " "); // as in OpenStreetMap
  const name = plain.places.names[place];
  return name && name !== kind ? `${name} (${kind})` : kind;
}

/** A group of places: a part of the city, a kind, a place. @param {Wording} words @param {PlainSurvey} plain
 * @param {PlainQuestion} question @param {number} group */
function groupWords(words, plain, question, group) {
  if (question.kind === "places") return plain.places.names[group] || String(group);
  const name = question.names[group];
  return question.is_named ? name : words.say("thing_around", { name });
}

/** A thing of a question. @param {Wording} words @param {PlainSurvey} plain @param {PlainQuestion} question
 * @param {number} thing */
function thingWords(words, plain, question, thing) {
  switch (question.of) {
    case "hours": {
      const hours = question.hours || 1;
      const [group, block] = [Math.floor(thing / (24 / hours)), thing % (24 / hours)];
      const what = groupWords(words, plain, question, group);
      return hours === 24 ? what : words.say("thing_hours", { what, from: block * hours, to: (block + 1) * hours });
    }
    case "boxes": {
      const [from, hours] = [question.columns.hour[thing], question.columns.hours[thing]];
      return words.say("thing_hours", { what: groupWords(words, plain, question, thing), from, to: from + hours });
    }
    case "moves": {
      const groups = question.groups || 1;
      const from = groupWords(words, plain, question, Math.floor(thing / groups));
      return words.say("thing_move", { from, to: groupWords(words, plain, question, thing % groups) });
    }
    case "visits":
      return words.say(thing + 1 === question.most ? "thing_visits_most" : "thing_visits", { count: thing + 1 });
    default: {
      const edges = [0, ...(question.edges_km || [])];
      if (thing === edges.length - 1) return words.say("thing_trip_last", { from: edges[thing] });
      return words.say("thing_trip", { from: edges[thing], to: edges[thing + 1] });
    }
  }
}

/** A candidate day. @param {Wording} words @param {PlainSurvey} plain @param {PlainQuestion} question
 * @param {number} row */
function candidateWords(words, plain, question, row) {
  const [book, kinds] = [bookOf(question), wholeNumbers(plain.places.kinds)];
  const visits = Array.from({ length: book.lengths[row] }, (_, i) => {
    const at = row * book.width + i;
    return `${timeWords(plain, book.times[at])} ${placeWords(plain, kinds, book.places[at])}`;
  });
  return words.say("thing_day", { visits: visits.join(", ") });
}

/** What was picked. @param {Wording} words @param {PlainSurvey} plain @param {Answer} answer */
function pickedWords(words, plain, answer) {
  const question = plain.questions[answer.question];
  const buckets = question.odds[0];
  if (question.of === "day") {
    return candidateWords(words, plain, question, answer.seed * buckets + answer.output);
  }
  if (!question.seeds) {
    if (answer.output >= question.things) return words.say("picked_blank");
    return words.say("picked_thing", { thing: thingWords(words, plain, question, answer.output) });
  }
  /** @type {number[]} */
  const inside = [];
  for (let thing = 0; thing < question.things; thing++) {
    if (bucketOf(answer.seed, thing, buckets) === answer.output) inside.push(thing);
  }
  const facts = { output: answer.output + 1, buckets, count: inside.length, things: question.things };
  if (!inside.length) return words.say("picked_empty", facts);
  const some = inside.slice(0, SHOWN_THINGS).map((one) => thingWords(words, plain, question, one)).join("; ");
  const shown = inside.length > SHOWN_THINGS ? words.say("and_more", { some }) : some;
  return words.say("picked_bucket", { ...facts, some: shown });
}

/** What stands in a report. @param {Uint8Array} report */
function readReport(report) {
  const view = new DataView(report.buffer, report.byteOffset, report.length);
  const hex = (/** @type {Uint8Array} */ bytes) =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const answer = {
    question: view.getUint16(51, true), seed: view.getUint32(55, true), output: view.getUint32(59, true),
  };
  return { answer, day: view.getUint16(53, true), id: hex(report.slice(35, 51)), bytes: hex(report) };
}

// @ts-check
"use strict";
/*
 * Public maps from a day to the things in it, for every kind of question. Twin of Python's survey/things.py,
 * survey/boxes.py and mechanism/codebook.py, to the bit: only + - * / and square roots occur, and surveys of
 * which that is not true are not answered in a browser (pages/browser_survey.py says why).
 *
 * A visit is one number, place * timesteps + timestep; a place nobody knows is one past the last.
 */

const NO_THING = -1;
const EARTH_RADIUS_KM = 6371.0088;

/**
 * What pages/browser_survey.py writes of a question.
 * @typedef {{kind: string, of: string, share: number, odds: number[], words: number, things: number,
 *   seeds: number, members?: string, groups?: number, hours?: number, until_next?: boolean, box_of?: string,
 *   most?: number, edges_km?: number[], places?: string, times?: string, lengths?: string, shards?: number,
 *   unmatched?: number, columns: {[name: string]: any[]}, names: string[], is_named: boolean}} PlainQuestion
 */
/**
 * What it writes of the places. `open` has a row of bits for each pattern of opening hours.
 * @typedef {{names: string[], vectors: string, anywhere: string, kinds: string, kind_names: string[],
 *   pattern: string, open: string}} PlainPlaces
 */
/**
 * What it writes of a survey.
 * @typedef {{hash: string, epsilon: string, odds: number, days: number, least: number, purpose: string,
 *   period: [string, string] | null, first_day: number, day_unit: number, timezone: string,
 *   timesteps: number, minutes: number, categories: string, hours_per_step: number, time_cap_hours: number,
 *   is_circular: boolean, match_chord: number, stay_chord: number, far_chord: number, places: PlainPlaces,
 *   aliases: {[key: string]: string[]}, questions: PlainQuestion[]}} PlainSurvey
 */
/**
 * The places of a city as a device looks them up.
 * @typedef {{count: number, timesteps: number, minutes: number, vectors: Float64Array, anywhere: Int32Array,
 *   kinds: Int32Array, categories: Float64Array, kindCount: number, hoursPerStep: number, timeCapHours: number,
 *   isCircular: boolean}} City
 */

/** Bytes of base64. @param {string} text */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** @param {string | undefined} text */
function wholeNumbers(text) {
  return new Int32Array(fromBase64(text || "").buffer);
}

/** @param {string} text */
function realNumbers(text) {
  return new Float64Array(fromBase64(text).buffer);
}

/** A survey ready to be answered by device.js. @param {PlainSurvey} plain @returns {Channels} */
function channelsOf(plain) {
  const city = cityOf(plain);
  return {
    hash: plain.hash,
    shares: plain.questions.map((question) => question.share),
    channels: plain.questions.map((question) => channelOf(city, question)),
    dayUnit: plain.day_unit,
    firstDay: plain.first_day,
  };
}

/** @param {PlainSurvey} plain @returns {City} */
function cityOf(plain) {
  const categories = realNumbers(plain.categories);
  return {
    count: plain.places.names.length,
    timesteps: plain.timesteps,
    minutes: plain.minutes,
    vectors: realNumbers(plain.places.vectors),
    anywhere: wholeNumbers(plain.places.anywhere),
    kinds: wholeNumbers(plain.places.kinds),
    categories,
    kindCount: Math.round(Math.sqrt(categories.length)),
    hoursPerStep: plain.hours_per_step,
    timeCapHours: plain.time_cap_hours,
    isCircular: plain.is_circular,
  };
}

/** @param {City} city @param {PlainQuestion} plain @returns {SetChannel | DayChannel} */
function channelOf(city, plain) {
  const [candidates, nearest, numerator, denominator, trials] = plain.odds;
  const odds = { candidates, nearest, numerator, denominator, trials, words: plain.words };
  if (plain.of === "day") {
    const book = bookOf(plain);
    const shards = plain.shards || 1;
    return { odds, shards, near: (visits, shard) => nearestDays(city, book, odds, visits, shard) };
  }
  const rule = ruleOf(city, plain);
  return { odds, things: plain.things, seeds: plain.seeds, of: (visits) => rule(paddedVisits(city, visits)) };
}

/**
 * As many visits for every day, so that time does not tell; -1 where there is none.
 * @param {City} city @param {number[]} visits
 */
function paddedVisits(city, visits) {
  if (visits.length > city.timesteps) throw new Error("a day has more visits than timesteps");
  const row = new Int32Array(city.timesteps).fill(-1);
  row.set(visits);
  return row;
}

/** @typedef {(row: Int32Array) => Int32Array} Rule */

/** @param {City} city @param {PlainQuestion} plain @returns {Rule} */
function ruleOf(city, plain) {
  const members = wholeNumbers(plain.members);
  switch (plain.of) {
    case "hours":
      return (row) => inBlocks(city, members, row, plain.hours || 1, Boolean(plain.until_next));
    case "boxes": {
      const boxOf = wholeNumbers(plain.box_of);
      return (row) =>
        inBlocks(city, members, row, 1, Boolean(plain.until_next)).map((thing) =>
          thing >= 0 ? boxOf[thing] : NO_THING);
    }
    case "moves":
      return (row) => steps(row, (a, b) => moveOf(city, members, plain.groups || 0, a, b));
    case "visits":
      return (row) => visitNumber(city, row, plain.most || 0);
    case "trips":
      return (row) => steps(row, (a, b) => tripOf(city, plain.edges_km || [], a, b));
    default:
      throw new Error("a question that this page does not know");
  }
}

/** The place of a visit; -1 where there is none. @param {City} city @param {number} visit */
function placeOf(city, visit) {
  return Math.floor(visit / city.timesteps);
}

/** The group of a visit's place; -1 if nobody knows it. @param {City} city @param {Int32Array} members
 * @param {number} visit */
function groupOf(city, members, visit) {
  const place = placeOf(city, visit);
  return place >= 0 && place < members.length ? members[place] : NO_THING;
}

/** The block of hours of a timestep. @param {City} city @param {number} time @param {number} hours */
function blockOf(city, time, hours) {
  const hour = Math.floor((time * city.minutes) / 60);
  return Math.floor(Math.min(Math.max(hour, 0), 23) / hours);
}

/**
 * Group and block of each visit, or of each block until the next one.
 * @param {City} city @param {Int32Array} members @param {Int32Array} row @param {number} hours
 * @param {boolean} untilNext
 */
function inBlocks(city, members, row, hours, untilNext) {
  const perDay = 24 / hours;
  const found = new Int32Array(row.length + (untilNext ? perDay : 0)).fill(NO_THING);
  let filled = 0;
  row.forEach((visit, i) => {
    const group = groupOf(city, members, visit);
    const first = blockOf(city, visit % city.timesteps, hours);
    if (group < 0) return;
    let last = first;
    if (untilNext && i + 1 < row.length && row[i + 1] >= 0) {
      // Whoever arrives at 10:00 was elsewhere until 9:59.
      last = Math.max(blockOf(city, (row[i + 1] % city.timesteps) - 1, hours), first);
    }
    for (let block = first; block <= last; block++) found[filled++] = group * perDay + block;
  });
  return found;
}

/** A thing for each step of a day. @param {Int32Array} row @param {(a: number, b: number) => number} thingOf */
function steps(row, thingOf) {
  const found = new Int32Array(Math.max(row.length - 1, 1)).fill(NO_THING);
  for (let i = 0; i + 1 < row.length; i++) found[i] = thingOf(row[i], row[i + 1]);
  return found;
}

/** @param {City} city @param {Int32Array} members @param {number} groups @param {number} a @param {number} b */
function moveOf(city, members, groups, a, b) {
  const [before, after] = [groupOf(city, members, a), groupOf(city, members, b)];
  return before >= 0 && after >= 0 ? before * groups + after : NO_THING;
}

/** @param {City} city @param {Int32Array} row @param {number} most */
function visitNumber(city, row, most) {
  const known = row.filter((visit) => visit >= 0 && placeOf(city, visit) < city.count).length;
  return Int32Array.of(known > 0 ? Math.min(known, most) - 1 : NO_THING);
}

/** @param {City} city @param {number[]} edges @param {number} a @param {number} b */
function tripOf(city, edges, a, b) {
  const [p, q] = [placeOf(city, a), placeOf(city, b)];
  if (p < 0 || q < 0 || p >= city.count || q >= city.count) return NO_THING;
  const km = Math.sqrt(kmSquared(chordSquared(city.vectors, p, city.vectors, q)));
  let bin = 0;
  while (bin < edges.length && edges[bin] <= km) bin += 1;
  return bin;
}

/** Between row i of one table of unit vectors and row j of another. @param {Float64Array} first
 * @param {number} i @param {Float64Array} second @param {number} j */
function chordSquared(first, i, second, j) {
  const dx = first[3 * i] - second[3 * j];
  const dy = first[3 * i + 1] - second[3 * j + 1];
  const dz = first[3 * i + 2] - second[3 * j + 2];
  return dx * dx + dy * dy + dz * dz;
}

/** Of a squared chord, within 200 km. @param {number} c */
function kmSquared(c) {
  const series = 1 + c * (1 / 12 + c * (1 / 90 + c * (1 / 560 + c / 3150)));
  return EARTH_RADIUS_KM * EARTH_RADIUS_KM * c * series;
}

/**
 * Candidate days, a row each.
 * @typedef {{places: Int32Array, times: Int32Array, lengths: Int32Array, width: number, unmatched: number}} Book
 */

/** @param {PlainQuestion} plain @returns {Book} */
function bookOf(plain) {
  const [places, times, lengths] = [plain.places, plain.times, plain.lengths].map(wholeNumbers);
  return { places, times, lengths, width: places.length / lengths.length, unmatched: plain.unmatched || 0 };
}

/**
 * Which candidates of a shard are the nearest; days of every length are compared, so that time does not tell
 * the length (R15).
 * @param {City} city @param {Book} book @param {Odds} odds @param {number[]} visits @param {number} shard
 */
function nearestDays(city, book, odds, visits, shard) {
  let found = new Uint8Array(0);
  for (let length = 1; length <= book.width; length++) {
    const flags = nearestFlags(dayCosts(city, book, odds, stretched(visits, length), shard), odds.nearest);
    if (length === Math.min(visits.length, book.width)) found = flags;
  }
  return found;
}

/** A day as so many visits: repeated evenly, or one of every few. @param {number[]} visits @param {number} length */
function stretched(visits, length) {
  return Array.from({ length }, (_, i) => visits[Math.floor(((2 * i + 1) * visits.length) / (2 * length))]);
}

/** Exactly k: the least cost, ties by index. @param {Float64Array} costs @param {number} nearest */
function nearestFlags(costs, nearest) {
  const limit = costs.slice().sort()[nearest - 1];
  const flags = Uint8Array.from(costs, (cost) => (cost < limit ? 1 : 0));
  let left = nearest - flags.reduce((sum, flag) => sum + flag, 0);
  costs.forEach((cost, i) => {
    if (cost === limit && left > 0) {
      flags[i] = 1;
      left -= 1;
    }
  });
  return flags;
}

/**
 * Distance of a day to each candidate of a shard: visits matched in order, more for those left over.
 * @param {City} city @param {Book} book @param {Odds} odds @param {number[]} visits @param {number} shard
 */
function dayCosts(city, book, odds, visits, shard) {
  const squares = visits.map((visit) => squaresFrom(city, placeOf(city, visit)));
  const times = visits.map((visit) => visit % city.timesteps);
  const most = Math.max(visits.length, book.width);
  const best = new Float64Array(most * most);
  return Float64Array.from({ length: odds.candidates }, (_, candidate) => {
    const row = shard * odds.candidates + candidate;
    const other = book.lengths[row];
    const rows = Math.min(visits.length, other);
    const spare = Math.max(visits.length, other) - rows;
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k <= spare; k++) {
        const mine = rows === visits.length ? i : i + k;
        const theirs = row * book.width + (rows === visits.length ? i + k : i);
        const hours = hoursApart(city, times[mine], book.times[theirs]);
        let here = Math.sqrt(squares[mine][book.places[theirs]] + hours * hours);
        if (i > 0) here += best[(i - 1) * most + k];
        best[i * most + k] = k > 0 ? Math.min(best[i * most + k - 1], here) : here;
      }
    }
    return best[(rows - 1) * most + spare] + spare * book.unmatched;
  });
}

/** d_s² + d_c² from a place to all; nothing from one that nobody knows. @param {City} city @param {number} place */
function squaresFrom(city, place) {
  const from = Math.min(place, city.count - 1);
  const weight = place < city.count ? 1 : 0;
  const kinds = city.kinds[from] * city.kindCount;
  const found = new Float64Array(city.count);
  for (let to = 0; to < city.count; to++) {
    const category = city.categories[kinds + city.kinds[to]];
    const km = city.anywhere[from] || city.anywhere[to] // no d_s where there is no position
      ? 0 : kmSquared(chordSquared(city.vectors, from, city.vectors, to));
    found[to] = weight * (category * category + km);
  }
  return found;
}

/** @param {City} city @param {number} t @param {number} u */
function hoursApart(city, t, u) {
  const gap = Math.abs(t - u) * city.hoursPerStep;
  return Math.min(city.isCircular ? Math.min(gap, 24 - gap) : gap, city.timeCapHours);
}

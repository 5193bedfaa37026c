// @ts-check
"use strict";
/*
 * From where somebody was to visits of a day at places of the city: twin of Python's device/personal.py. All of
 * it is done to a person's own data before the draw, by rules that never fail: it costs no privacy (R10).
 */

/** Where somebody was, and when, in local time. @typedef {{time: number, lat: number, lng: number}} Fix */
/** From when to when somebody stayed. @typedef {{from: number, to: number, lat: number, lng: number}} Stay */
/** What files hold. @typedef {{stays: Stay[], fixes: Fix[]}} OwnRecords */
/** Where somebody was at a timestep of a day. @typedef {{timestep: number, lat: number, lng: number}} Spot */
/**
 * Places and when they are open.
 * @typedef {{count: number, timesteps: number, minutes: number, vectors: Float64Array,
 *   isOpen: (place: number, timestep: number) => boolean, matchChord: number}} OpenPlaces
 */

const STAY_MS = 600000;
const ENOUGH_DAYS = 3;
const FAR_SHARE = 0.9;

/** @param {PlainSurvey} plain @returns {OpenPlaces} */
function openPlaces(plain) {
  const pattern = wholeNumbers(plain.places.pattern);
  const bits = fromBase64(plain.places.open);
  const width = Math.ceil(plain.timesteps / 8);
  return {
    count: plain.places.names.length,
    timesteps: plain.timesteps,
    minutes: plain.minutes,
    vectors: realNumbers(plain.places.vectors),
    isOpen: (place, step) => ((bits[pattern[place] * width + (step >> 3)] >> (step & 7)) & 1) === 1,
    matchChord: plain.match_chord,
  };
}

/** @param {number} lat @param {number} lng */
function unitVector(lat, lng) {
  const [phi, lam] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180];
  return Float64Array.of(Math.cos(phi) * Math.cos(lam), Math.cos(phi) * Math.sin(lam), Math.sin(phi));
}

/**
 * Stretches of fixes within 100 m of their first one that last ten minutes or more, at their mean.
 * @param {Fix[]} fixes @param {number} stayChord @returns {Stay[]}
 */
function findStays(fixes, stayChord) {
  const ordered = [...fixes].sort((a, b) => a.time - b.time);
  const vectors = new Float64Array(3 * ordered.length);
  ordered.forEach((fix, i) => vectors.set(unitVector(fix.lat, fix.lng), 3 * i));
  /** @type {Stay[]} */
  const stays = [];
  for (let first = 0; first < ordered.length; ) {
    let last = first;
    while (last + 1 < ordered.length && chordSquared(vectors, first, vectors, last + 1) <= stayChord &&
           ordered[last + 1].time - ordered[last].time < DAY_MS) last += 1;
    if (ordered[last].time - ordered[first].time >= STAY_MS) {
      const part = ordered.slice(first, last + 1);
      const mean = (/** @type {"lat" | "lng"} */ name) => part.reduce((sum, fix) => sum + fix[name], 0) / part.length;
      stays.push({ from: ordered[first].time, to: ordered[last].time, lat: mean("lat"), lng: mean("lng") });
      first = last + 1;
    } else first += 1;
  }
  return stays;
}

/** The day of a local time, counted from 1970. @param {number} time */
function dayOf(time) {
  return Math.floor(time / DAY_MS);
}

/** The timestep of a local time. @param {number} time @param {number} minutes */
function timestepOf(time, minutes) {
  return Math.floor(Math.floor((time - dayOf(time) * DAY_MS) / 60000) / minutes);
}

/**
 * Where somebody was on each day that says anything: stays, or where a day has none its fixes.
 * @param {OwnRecords} records @param {number} minutes @returns {Map<number, Spot[]>}
 */
function spotsByDay(records, minutes) {
  /** @type {Map<number, Spot[]>} */
  const found = new Map();
  const add = (/** @type {number} */ day, /** @type {Spot} */ spot) => {
    const spots = found.get(day);
    if (spots) spots.push(spot);
    else found.set(day, [spot]);
  };
  for (const { from, to, lat, lng } of [...records.stays].sort((a, b) => a.from - b.from)) {
    add(dayOf(from), { timestep: timestepOf(from, minutes), lat, lng });
    // On later days that it touches, a stay begins at midnight.
    for (let day = dayOf(from) + 1; day <= dayOf(to) && to > day * DAY_MS; day++) add(day, { timestep: 0, lat, lng });
  }
  const withStays = new Set(found.keys());
  for (const { time, lat, lng } of [...records.fixes].sort((a, b) => a.time - b.time)) {
    if (!withStays.has(dayOf(time))) add(dayOf(time), { timestep: timestepOf(time, minutes), lat, lng });
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

/**
 * Visits of a day, as numbers: each spot at the nearest open place within 250 m. If none has any, all at the
 * nearest open place however far; a day that says nothing is one visit to a place nobody knows.
 * @param {OpenPlaces} places @param {Spot[]} spots @returns {number[]}
 */
function dayVisits(places, spots) {
  if (!spots.length) return [places.count * places.timesteps + Math.floor(places.timesteps / 2)];
  let found = spots.map((spot) => nearestOpen(places, spot, places.matchChord));
  if (found.every((place) => place < 0)) {
    found = spots.map((spot) => {
      const open = nearestOpen(places, spot, Infinity);
      return open >= 0 ? open : nearestPlace(places, spot, () => true, Infinity);
    });
  }
  /** @type {Map<number, number>} */
  const byTime = new Map();
  spots.forEach((spot, i) => {
    if (found[i] >= 0 && !byTime.has(spot.timestep)) byTime.set(spot.timestep, found[i]);
  });
  /** @type {number[]} */
  const visits = [];
  let before = -1;
  for (const [timestep, place] of [...byTime].sort(([a], [b]) => a - b)) {
    if (place !== before) visits.push(place * places.timesteps + timestep);
    before = place;
  }
  return visits;
}

/**
 * Whether a file of several days is nearly all about another city: people take the wrong file more often than
 * they travel. Spots are rounded to a kilometre or so, since years of them are at few places.
 * @param {OpenPlaces} places @param {Map<number, Spot[]>} days @param {number} farChord
 */
function isOfAnotherCity(places, days, farChord) {
  const spots = [...days.values()].flat();
  /** @type {Map<string, boolean>} */
  const known = new Map();
  const far = spots.filter(({ lat, lng }) => {
    const [south, west] = [Math.round(100 * lat) / 100, Math.round(100 * lng) / 100];
    const key = `${south} ${west}`;
    const spot = { timestep: 0, lat: south, lng: west };
    if (!known.has(key)) known.set(key, nearestPlace(places, spot, () => true, farChord) < 0);
    return known.get(key);
  });
  return days.size > ENOUGH_DAYS && far.length > FAR_SHARE * spots.length;
}

/** @param {OpenPlaces} places @param {Spot} spot @param {number} limit */
function nearestOpen(places, spot, limit) {
  return nearestPlace(places, spot, (place) => places.isOpen(place, spot.timestep), limit);
}

/** The nearest place that counts, the first of several; -1 if none is near enough.
 * @param {OpenPlaces} places @param {Spot} spot @param {(place: number) => boolean} counts @param {number} limit */
function nearestPlace(places, spot, counts, limit) {
  const here = unitVector(spot.lat, spot.lng);
  let [best, least] = [-1, Infinity];
  for (let place = 0; place < places.count; place++) {
    if (!counts(place)) continue;
    const chord = chordSquared(here, 0, places.vectors, place);
    if (chord < least) [best, least] = [place, chord];
  }
  return least <= limit ? best : -1;
}

// @ts-check
"use strict";
/*
 * The trusted part of the page: from the things of a day to 63 bytes. Twin of Python's tape.py,
 * mechanism/answer.py, mechanism/pick.py, survey/answering.py and survey/report.py, word for word: the same
 * random words give the same report, and tests hold both against each other (T11).
 *
 * Numbers are whole and safe everywhere between the truth and the decision (R14, R24). A random word has 64
 * bits and comes as two halves of 32, the lower one first. Every bound here is at most 2^32, so the lower half
 * is all that `below` needs; only the choice of a question or a shard looks at all 64 bits, as a BigInt.
 */

/**
 * Where random words come from: so many of 64 bits, each as two halves, the lower one first.
 * @typedef {(count: number) => Uint32Array} Words
 */
/**
 * How a pick is made: of `candidates` outputs exactly `nearest` are mine; any other is accepted with a chance
 * of e^-(numerator / denominator), in so many `trials`. `words`: how many a pick takes, about.
 * @typedef {{candidates: number, nearest: number, numerator: number, denominator: number, trials: number,
 *   words: number}} Odds
 */
/**
 * A question about the set of things in a day. `of` lists them, filled up with -1 to the same length for every
 * day. `seeds` is 0 where things are not hashed.
 * @typedef {{odds: Odds, things: number, seeds: number, of: (visits: number[]) => Int32Array}} SetChannel
 */
/**
 * A question about the whole day. `near` says for each candidate of a shard whether it is one of the nearest.
 * @typedef {{odds: Odds, shards: number, near: (visits: number[], shard: number) => Uint8Array}} DayChannel
 */
/**
 * A survey as it is answered. `shares[i]` of all parts of the people are asked question i.
 * @typedef {{hash: string, shares: number[], channels: (SetChannel | DayChannel)[], dayUnit: number,
 *   firstDay: number}} Channels
 */
/** @typedef {{question: number, seed: number, output: number}} Answer */

const REPORT_SIZE = 63;
const SPARE_WORDS = 64;
const MOST_HALVES_AT_ONCE = 16384; // 65,536 bytes, all that getRandomValues gives in a call
const TWO_TO_32 = 4294967296;

/** The browser's own generator, and no other. @type {Words} */
function systemWords(count) {
  const halves = new Uint32Array(2 * count);
  for (let start = 0; start < halves.length; start += MOST_HALVES_AT_ONCE) {
    crypto.getRandomValues(halves.subarray(start, start + MOST_HALVES_AT_ONCE));
  }
  return halves;
}

/** Words in a row, fetched in blocks of one size; when a block is used up, the next one follows. */
class Tape {
  /** @param {Words} words @param {number} length */
  constructor(words, length) {
    this.words = words;
    this.length = length;
    this.block = words(length);
    this.cursor = 0;
  }

  /** The lower half of the next word. */
  take() {
    if (this.cursor === this.length) {
      this.block = this.words(this.length);
      this.cursor = 0;
    }
    return this.block[2 * this.cursor++];
  }
}

/**
 * Uniform whole number below a bound: words cut to as many bits as needed, until one fits.
 * @param {Tape} tape @param {number} bound
 */
function below(tape, bound) {
  if (!Number.isSafeInteger(bound) || bound < 1 || bound > TWO_TO_32) throw new Error("a bound out of range");
  const bits = 32 - Math.clz32(bound - 1);
  const mask = bits === 0 ? 0 : 0xffffffff >>> (32 - bits);
  for (;;) {
    const value = (tape.take() & mask) >>> 0;
    if (value < bound) return value;
  }
}

/**
 * True with a chance of exactly e^-(numerator / denominator).
 * @param {Tape} tape @param {number} numerator @param {number} denominator
 */
function acceptsExp(tape, numerator, denominator) {
  const left = numerator % denominator;
  const whole = (numerator - left) / denominator;
  for (let i = 0; i < whole; i++) {
    if (!acceptsExpUpToOne(tape, 1, 1)) return false;
  }
  return acceptsExpUpToOne(tape, left, denominator);
}

/**
 * The same for at most e^-1 (Canonne, Kamath, Steinke 2020): the parity of the first k at which a coin fails.
 * @param {Tape} tape @param {number} numerator @param {number} denominator
 */
function acceptsExpUpToOne(tape, numerator, denominator) {
  let k = 1;
  while (below(tape, denominator) < numerator && (k === 1 || below(tape, k) === 0)) k += 1;
  return k % 2 === 1;
}

/**
 * The one trusted pick: an output is proposed; one of mine is always accepted, any other with a chance of
 * e^-epsilon. All trials are made, whatever was accepted: the same work for every day (R15).
 * @param {Tape} tape @param {Odds} odds @param {Uint8Array} isMine
 */
function pickOne(tape, odds, isMine) {
  let mine = 0;
  for (const flag of isMine) mine += flag;
  // All that the proof asks for, looked at where the pick is made (R19).
  if (isMine.length !== odds.candidates || mine !== odds.nearest) {
    throw new Error("not exactly k outputs are mine: the pick would spend more than epsilon");
  }
  let picked = -1;
  for (let trial = 0; trial < odds.trials; trial++) {
    const candidate = below(tape, odds.candidates);
    const far = isMine[candidate] ? 0 : 1;
    const isAccepted = acceptsExp(tape, odds.numerator * far, odds.denominator);
    if (isAccepted && picked < 0) picked = candidate;
  }
  const another = below(tape, odds.candidates);
  return picked < 0 ? another : picked;
}

/** MurmurHash3's last step on 32 bits. @param {number} word */
function stirred(word) {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

/** Where a seed puts a thing. @param {number} seed @param {number} thing @param {number} buckets */
function bucketOf(seed, thing, buckets) {
  return stirred((stirred(seed) + Math.imul(thing, 0x9e3779b1)) >>> 0) % buckets;
}

/**
 * Things that there are, each once, the largest first, filled up with -1: no row is refused (R10).
 * @param {Int32Array} row @param {number} things
 */
function distinctThings(row, things) {
  const found = new Set();
  for (const thing of row) if (thing >= 0 && thing < things) found.add(thing);
  const known = new Int32Array(row.length).fill(-1);
  known.set(Int32Array.from(found).sort().reverse());
  return known;
}

/**
 * At most k things of a day, each as likely to be kept; as many words for places of the row without a thing.
 * @param {Tape} tape @param {Int32Array} things @param {number} most
 */
function keep(tape, things, most) {
  /** @type {number[]} */
  const kept = [];
  let count = 0;
  for (const thing of things) {
    if (thing >= 0) count += 1;
    const place = below(tape, Math.max(count, 1));
    if (thing >= 0 && count <= most) kept[count - 1] = thing;
    else if (thing >= 0 && place < most) kept[place] = thing;
  }
  return kept;
}

/** Mine are the things, and blanks. @param {SetChannel} channel @param {number[]} kept */
function markDirect(channel, kept) {
  const isMine = new Uint8Array(channel.odds.candidates);
  for (const thing of kept) isMine[thing] = 1;
  isMine.fill(1, channel.things, channel.things + channel.odds.nearest - kept.length);
  return isMine;
}

/**
 * Mine are the buckets of the things, and others at random up to exactly k. Who needs few others draws as
 * often as who needs many.
 * @param {Tape} tape @param {SetChannel} channel @param {number} seed @param {number[]} kept
 */
function markHashed(tape, channel, seed, kept) {
  const { candidates, nearest } = channel.odds;
  const isMine = new Uint8Array(candidates);
  let marked = 0;
  let drawn = 0;
  for (const thing of kept) {
    const bucket = bucketOf(seed, thing, candidates);
    marked += 1 - isMine[bucket];
    isMine[bucket] = 1;
  }
  for (; marked < nearest; drawn++) {
    const bucket = below(tape, candidates);
    marked += 1 - isMine[bucket];
    isMine[bucket] = 1;
  }
  for (; drawn < 2 * nearest; drawn++) below(tape, candidates);
  return isMine;
}

/**
 * A seed (0 if direct) and an output for the set of things in a day.
 * @param {SetChannel} channel @param {number[]} visits @param {Words} words
 */
function answerThings(channel, visits, words) {
  const known = distinctThings(channel.of(visits), channel.things);
  const tape = new Tape(words, channel.odds.words + SPARE_WORDS);
  const kept = keep(tape, known, channel.odds.nearest);
  const seed = channel.seeds ? below(tape, channel.seeds) : 0;
  const isMine = channel.seeds ? markHashed(tape, channel, seed, kept) : markDirect(channel, kept);
  return { seed, output: pickOne(tape, channel.odds, isMine) };
}

/**
 * A shard at random, then a pick among its candidates.
 * @param {DayChannel} channel @param {number[]} visits @param {Words} words
 */
function answerDays(channel, visits, words) {
  const seed = uniformBelow(channel.shards, words);
  const isMine = channel.near(visits, seed);
  const tape = new Tape(words, channel.odds.words + SPARE_WORDS);
  return { seed, output: pickOne(tape, channel.odds, isMine) };
}

/**
 * Whole number below a bound from whole words; a word that would favour some is drawn again.
 * @param {number} bound @param {Words} words
 */
function uniformBelow(bound, words) {
  const size = BigInt(bound);
  const limit = (1n << 64n) - ((1n << 64n) % size);
  for (;;) {
    const [low, high] = words(1);
    const word = (BigInt(high) << 32n) | BigInt(low);
    if (word < limit) return Number(word % size);
  }
}

/**
 * A question by public chances, whatever is true (R18), then one pick with the whole of epsilon.
 * @param {Channels} survey @param {number[]} visits @param {Words} words
 * @returns {Answer}
 */
function answerSurvey(survey, visits, words) {
  const parts = survey.shares.reduce((sum, share) => sum + share, 0);
  let picked = uniformBelow(parts, words);
  let question = 0;
  while (picked >= survey.shares[question]) picked -= survey.shares[question++];
  const channel = survey.channels[question];
  const found = "near" in channel ? answerDays(channel, visits, words) : answerThings(channel, visits, words);
  return { question, ...found };
}

/**
 * The day that a report tells: the first of its unit. Days are counted from 2000-01-01.
 * @param {Channels} survey @param {number} day
 */
function toldDay(survey, day) {
  const into = (day - survey.firstDay) % survey.dayUnit;
  return day - (into < 0 ? into + survey.dayUnit : into);
}

/**
 * All that ever leaves a device: survey, random id, question, rounded day, answer.
 * @param {Channels} survey @param {Answer} answer @param {number} day @param {Words} words
 */
function reportBytes(survey, answer, day, words) {
  const report = new Uint8Array(REPORT_SIZE);
  const view = new DataView(report.buffer);
  report.set([0x65, 0x77, 1]); // "ew", version 1
  for (let i = 0; i < 32; i++) report[3 + i] = parseInt(survey.hash.slice(2 * i, 2 * i + 2), 16);
  words(2).forEach((half, i) => view.setUint32(35 + 4 * i, half, true));
  view.setUint16(51, answer.question, true);
  view.setUint16(53, toldDay(survey, day), true);
  view.setUint32(55, answer.seed, true);
  view.setUint32(59, answer.output, true);
  return report;
}

"use strict";
/* Answers shared vectors with the page's own scripts, in Node and in Chromium alike. */

/** Words that Python makes as well (tests/twins.py), by a counter: in mode 1 many are all ones or zeros. */
class CountedWords {
  constructor(seed, mode) {
    this.seed = seed;
    this.mode = mode;
    this.taken = 0;
    this.calls = [];
    this.words = (count) => this.next(count);
  }

  next(count) {
    const halves = new Uint32Array(2 * count);
    const start = 2 * this.taken;
    for (let i = 0; i < halves.length; i++) {
      halves[i] = stirred((stirred(this.seed) + Math.imul(start + i, 0x9e3779b1)) >>> 0);
    }
    if (this.mode === 1) {
      for (let i = 0; i < halves.length; i += 2) {
        const kind = (halves[i] >>> 24) % 8;
        if (kind < 4) halves[i] = halves[i + 1] = kind < 3 ? 0xffffffff : 0;
      }
    }
    this.taken += count;
    this.calls.push(count);
    return halves;
  }
}

/** What each vector [survey, visits, day, seed, mode] gives: [report in hex, words taken, calls]. */
function answerVectors(surveys, vectors) {
  const ready = surveys.map(channelsOf);
  return vectors.map(([number, visits, day, seed, mode]) => {
    const source = new CountedWords(seed, mode);
    const answer = answerSurvey(ready[number], visits, source.words);
    const report = reportBytes(ready[number], answer, day, source.words);
    const hex = Array.from(report, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex, source.taken, source.calls];
  });
}

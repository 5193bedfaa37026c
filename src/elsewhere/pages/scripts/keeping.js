// @ts-check
"use strict";
/*
 * Reports as this browser keeps them, and how they are sent. A day is answered once (R18): looking whether it
 * was, drawing and writing down are one transaction of a database that browsers hold against all their tabs, on
 * disk before it counts. Only then is a report sent, and only then shown; whoever asks again gets the same bytes.
 */

/** A report of a day, written down. @typedef {{key: string, day: number, report: Uint8Array, isSent: boolean}} Kept */
/** What came of asking for one: `isAgain` if it was there before, `full` if no day more may be answered.
 * @typedef {{kept: Kept | null, isAgain: boolean, full: number[]}} Asked */

const STORE = "reports";
const SEND_SECONDS = 30;
const LATER = [408, 429, 500, 502, 503, 504, 507];

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The database, or null where the browser lets a page write nothing down. @returns {Promise<IDBDatabase | null>} */
async function openKept() {
  try {
    const opening = indexedDB.open("elsewhere", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "key" });
    return await finished(opening);
  } catch {
    return null;
  }
}

/** The keys of a survey. @param {string} survey */
function keysOf(survey) {
  return IDBKeyRange.bound(`${survey}/`, `${survey}/\uffff`);
}

/** All that is kept of a survey. @param {IDBDatabase} database @param {string} survey @returns {Promise<Kept[]>} */
function allKept(database, survey) {
  return finished(database.transaction(STORE).objectStore(STORE).getAll(keysOf(survey)));
}

/**
 * The report of a day: the one that was written down, or a new one, if so many days may be answered.
 * @param {IDBDatabase} database @param {string} survey @param {number} day @param {number} mostDays
 * @param {() => Uint8Array} draw @returns {Promise<Asked>}
 */
function keptReport(database, survey, day, mostDays, draw) {
  return new Promise((resolve, reject) => {
    // Other tabs wait until this is over, so that two of them never draw for the same day.
    const once = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = once.objectStore(STORE);
    const asking = store.getAll(keysOf(survey));
    /** @type {Asked} */
    let found = { kept: null, isAgain: false, full: [] };
    asking.onsuccess = () => {
      /** @type {Kept[]} */
      const all = asking.result;
      const before = all.find((one) => one.day === day);
      if (before) found = { kept: before, isAgain: true, full: [] };
      else if (all.length >= mostDays) found = { kept: null, isAgain: false, full: all.map((one) => one.day) };
      else {
        found.kept = { key: `${survey}/${day}`, day, report: draw(), isSent: false };
        store.add(found.kept);
      }
    };
    once.oncomplete = () => resolve(found);
    once.onabort = () => reject(once.error || new Error("not written down"));
  });
}

/** @param {IDBDatabase} database @param {Kept} kept */
async function markSent(database, kept) {
  kept.isSent = true;
  await finished(database.transaction(STORE, "readwrite").objectStore(STORE).put(kept));
}

const CODE_LETTERS = /^[0-9A-HJKMNP-TV-Z]{16}$/;

/** A code without what people add to it; blank if there is none, null if it cannot be one. @param {string} text */
function plainCode(text) {
  const plain = text.trim().toUpperCase().replace(/[-\s\u2010-\u2014\u2212\u00a0]/g, "")
    .replaceAll("O", "0").replace(/[IL]/g, "1");
  return plain === "" || CODE_LETTERS.test(plain) ? plain : null;
}

/** How anything is asked of a collector: no cookie, no referrer, nothing kept. @type {RequestInit} */
const ALONE = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error" };

/**
 * Why a collector would refuse any report, from what it tells everybody; blank if nobody is there to say.
 * @param {string} to @param {string} survey @param {string} code
 */
async function refusalBefore(to, survey, code) {
  try {
    const answer = await fetch(`${to}v1/survey`, { ...ALONE, signal: AbortSignal.timeout(1000 * SEND_SECONDS) });
    const about = await answer.json();
    if (!answer.ok) return "";
    if (about.survey !== survey) return "other_survey";
    return about.by_invitation && !code ? "needs_code" : "";
  } catch {
    return "";
  }
}

/**
 * Hand a report in; returns the key of what to say, and the status. It goes also if the page is closed.
 * @param {string} to @param {Uint8Array} report @param {string} code
 */
async function sendReport(to, report, code) {
  /** @type {{[name: string]: string}} */
  const headers = { "Content-Type": "application/octet-stream" };
  if (code) headers["Elsewhere-Code"] = code;
  let status = 0;
  try {
    const answer = await fetch(`${to}v1/reports`, {
      ...ALONE, method: "POST", body: new Uint8Array(report), headers, keepalive: true,
      signal: AbortSignal.timeout(1000 * SEND_SECONDS),
    });
    status = answer.status;
  } catch {
    return { said: "not_sent", status };
  }
  if (status === 201) return { said: "receipt", status };
  if (status === 200) return { said: "receipt_again", status };
  if (status === 403) return { said: "needs_code", status };
  if (status === 409) return { said: "other_survey", status };
  return { said: LATER.includes(status) ? "busy" : "refused", status };
}

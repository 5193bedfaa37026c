"use strict";
/* Days of a file as the page finds them: {day: visits}, or the key of what is wrong. */
async function daysOfFile(plain, base64) {
  try {
    const file = new Blob([fromBase64(base64)]);
    const records = await readOwnFile(file, localClock(plain.timezone), plain.aliases);
    const stays = records.stays.length ? records.stays : findStays(records.fixes, plain.stay_chord);
    const places = openPlaces(plain);
    const days = spotsByDay({ stays, fixes: records.fixes }, plain.minutes);
    return Object.fromEntries([...days].map(([day, spots]) => [day, dayVisits(places, spots)]));
  } catch (error) {
    if (error instanceof FileProblem) return { problem: error.key, values: error.values };
    throw error;
  }
}

// @ts-check
"use strict";
/* The people's page: choose a day, see it, answer; one press draws, keeps, shows and sends. */

const REPORT_EPOCH = 10957; // 2000-01-01, counted from 1970: reports count their days from there
const MOST_FOUND = 50;

/** @type {{survey: PlainSurvey | null, box: Box, to: string, values: Values}} */
const given = dataOf("people");
const words = new Wording(dataOf("messages"));

class People {
  /** @param {PlainSurvey} plain @param {IDBDatabase | null} database */
  constructor(plain, database) {
    this.plain = plain;
    this.database = database;
    this.places = openPlaces(plain);
    this.kinds = wholeNumbers(plain.places.kinds);
    this.clock = localClock(plain.timezone);
    this.today = dayOf(this.clock(Date.now()));
    this.host = new URL(given.to, document.baseURI).host || given.to;
    /** Where somebody was, by day; null as long as there is no file. @type {Map<number, Spot[]> | null} */
    this.file = null;
    /** What is shown and answered: the place of each timestep. @type {Map<number, number>} */
    this.visits = new Map();
    /** @type {number | null} */
    this.day = null;
    /** @type {Kept | null} */
    this.kept = null;
    this.map = new DayMap(part("map"), this.places, given.box, words.say("map"), (lat, lng) => this.near(lat, lng));
    part("no-map").hidden = Boolean(this.map.map);
    this.listen();
    this.again();
    this.search("");
    this.tellWaiting();
  }

  listen() {
    part("file").addEventListener("click", () => { part("file").value = ""; }); // the same file may have changed
    part("file").addEventListener("change", () => this.read());
    part("days").addEventListener("change", () => this.choose(Number(part("days").value)));
    part("date").addEventListener("change", () => {
      const day = dayNumber(part("date").value);
      if (Number.isFinite(day)) this.choose(day);
    });
    part("search").addEventListener("input", () => this.search(part("search").value));
    part("add").addEventListener("click", () => this.add());
    part("answer").addEventListener("click", () => this.answer());
    part("send").addEventListener("click", () => this.send());
    part("agree").addEventListener("change", () => this.tellButton());
  }

  /** All that depends on the language. */
  again() {
    this.tellDays();
    this.tellDay();
    if (this.kept && this.kept.isSent) this.show(this.kept);
    part("send").textContent = words.say("send_button", { host: this.host });
  }

  /** Something to hear and to see; problems at once. @param {string} id @param {string} [key]
   * @param {Values} [values] */
  tell(id, key = "", values = {}) {
    part(id).textContent = key ? words.say(key, { host: this.host, ...values }) : "";
  }

  /** An answer that was made and not sent. */
  async tellWaiting() {
    const { period } = this.plain;
    if (!this.database) this.tell("problem", "no_storage");
    else {
      const waiting = (await allKept(this.database, this.plain.hash)).find((one) => !one.isSent);
      if (waiting) this.tell("status", "waiting", { day: words.day(waiting.day) });
      else if (period && this.today < dayNumber(period[0])) this.tell("status", "not_begun", { first: period[0] });
      else if (period && this.today > dayNumber(period[1])) this.tell("status", "over", { last: period[1] });
    }
    document.body.dataset.people = "ready";
  }

  async read() {
    const file = part("file").files[0];
    if (!file) return;
    this.tell("problem");
    this.tell("status", "reading");
    await new Promise((resolve) => setTimeout(resolve)); // so that it is seen before the work begins
    try {
      const { stays, fixes } = await readOwnFile(file, this.clock, this.plain.aliases);
      const found = stays.length ? stays : findStays(fixes, this.plain.stay_chord);
      this.file = spotsByDay({ stays: found, fixes }, this.plain.minutes);
      const isFar = isOfAnotherCity(this.places, this.file, this.plain.far_chord);
      this.tell("status", isFar ? "other_city" : "read", { count: this.file.size });
      this.tellDays();
      if (this.day !== null) this.choose(this.day);
    } catch (error) {
      this.tell("status");
      if (error instanceof FileProblem) this.tell("problem", error.key, error.values);
      else this.tell("problem", "file_damaged");
    }
  }

  tellDays() {
    const days = [...(this.file || new Map())].reverse();
    part("days-part").hidden = !days.length;
    part("days").replaceChildren(...days.map(([day, spots]) => {
      const option = new Option(words.say("day_option", { day: words.day(day), count: spots.length }), String(day));
      option.disabled = this.wrongDay(day) !== null;
      option.selected = day === this.day;
      return option;
    }));
  }

  /** What is wrong with a day, whatever happened on it. @param {number} day @returns {[string, Values] | null} */
  wrongDay(day) {
    const { period } = this.plain;
    if (period && (day < dayNumber(period[0]) || day > dayNumber(period[1]))) {
      return ["day_outside", { first: period[0], last: period[1] }];
    }
    if (day > this.today) return ["day_later", {}];
    const told = toldDay(channelsOfDays(this.plain), day - REPORT_EPOCH);
    return told < 0 || day - REPORT_EPOCH > 65535 ? ["day_untold", {}] : null;
  }

  /** @param {number} day */
  choose(day) {
    this.day = day;
    part("date").value = dateOf(day);
    const spots = this.file ? this.file.get(day) || [] : [];
    this.visits = new Map(dayVisits(this.places, spots).map((visit) =>
      /** @type {[number, number]} */ ([visit % this.plain.timesteps, Math.floor(visit / this.plain.timesteps)])));
    if (!spots.length) this.visits.clear();
    this.hidePreview();
    const wrong = this.wrongDay(day);
    this.tell("problem", wrong ? wrong[0] : "", wrong ? wrong[1] : {});
    this.tell("status", !wrong && this.file && !spots.length ? "file_silent" : "");
    this.tellDay();
  }

  tellDay() {
    const rows = [...this.visits].sort(([a], [b]) => a - b);
    part("visits").replaceChildren(...rows.map(([timestep, place]) => this.row(timestep, place)));
    part("no-visits").hidden = this.day === null || rows.length > 0;
    this.map.draw(rows.map(([, place]) => this.map.points[place]));
    this.tellButton();
  }

  /** @param {number} timestep @param {number} place */
  row(timestep, place) {
    const row = document.createElement("tr");
    const [time, name] = [timeWords(this.plain, timestep), placeWords(this.plain, this.kinds, place)];
    const [first, second, third] = [time, name, ""].map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      cell.className = "text";
      return cell;
    });
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words.say("remove_short");
    button.setAttribute("aria-label", words.say("remove", { time, place: name }));
    button.addEventListener("click", () => {
      this.visits.delete(timestep);
      this.tellDay();
      part("search").focus();
    });
    third.append(button);
    row.append(first, second, third);
    return row;
  }

  tellButton() {
    const isChosen = this.day !== null && this.wrongDay(this.day) === null;
    const day = this.day === null ? "" : words.day(this.day);
    part("answer").textContent = words.say(isChosen ? "answer_button" : "answer_none", { day, host: this.host });
    part("answer").disabled = !isChosen || !this.database || (!part("agree-part").hidden && !part("agree").checked);
  }

  /** Places whose name or kind has these letters. @param {string} text */
  search(text) {
    const wanted = text.trim().toLocaleLowerCase();
    /** @type {HTMLOptionElement[]} */
    const found = [];
    for (let place = 0; place < this.places.count && found.length < MOST_FOUND; place++) {
      const name = placeWords(this.plain, this.kinds, place);
      if (name.toLocaleLowerCase().includes(wanted)) found.push(new Option(name, String(place)));
    }
    part("found").replaceChildren(...found);
    if (found.length) part("found").selectedIndex = 0;
  }

  /** The place nearest to where somebody clicked. @param {number} lat @param {number} lng */
  near(lat, lng) {
    const place = nearestPlace(this.places, { timestep: 0, lat, lng }, () => true, Infinity);
    const name = placeWords(this.plain, this.kinds, place);
    part("found").replaceChildren(new Option(name, String(place), true, true));
    part("search").value = "";
    this.tell("status", "place_chosen", { place: name });
    part("time").focus();
  }

  add() {
    const [hour, minute] = part("time").value.split(":").map(Number);
    const place = part("found").value;
    if (this.day === null || place === "" || !Number.isFinite(hour) || !Number.isFinite(minute)) {
      this.tell("problem", this.day === null ? "answer_none" : "choose_place");
      return;
    }
    this.tell("problem");
    this.visits.set(Math.floor((60 * hour + minute) / this.plain.minutes), Number(place));
    this.tellDay();
  }

  /** The day as numbered visits; who stays at a place visits it once. */
  numbered() {
    const spots = [...this.visits].sort(([a], [b]) => a - b);
    const visits = spots.filter(([, place], i) => i === 0 || spots[i - 1][1] !== place);
    if (!visits.length) return dayVisits(this.places, []);
    return visits.map(([timestep, place]) => place * this.plain.timesteps + timestep);
  }

  hidePreview() {
    this.kept = null;
    part("preview").hidden = part("send").hidden = true;
    this.tell("receipt");
  }

  async answer() {
    const day = this.day;
    if (day === null || !this.database || this.wrongDay(day)) return;
    part("answer").disabled = true;
    this.tell("problem");
    this.tell("status", "working");
    const [visits, survey, code] = [this.numbered(), channelsOf(this.plain), plainCode(part("code").value)];
    const draw = () => {
      const answer = answerSurvey(survey, visits, systemWords);
      return reportBytes(survey, answer, day - REPORT_EPOCH, systemWords);
    };
    // Before anything is drawn: what would be refused whatever the answer is costs no day.
    const wrong = code === null ? "bad_code" : await refusalBefore(given.to, this.plain.hash, code);
    if (wrong) this.tell("problem", wrong);
    else {
      if (navigator.storage && navigator.storage.persist) navigator.storage.persist().catch(() => false);
      const asked = await keptReport(this.database, this.plain.hash, day, this.plain.days, draw).catch(() => null);
      if (!asked) this.tell("problem", "storage_failed");
      else if (!asked.kept) {
        const list = asked.full.map((one) => words.day(one)).join("; ");
        this.tell("problem", "days_used", { days: asked.full.length, list });
      } else {
        this.kept = asked.kept;
        part("again").hidden = !asked.isAgain;
        if (asked.kept.isSent) this.show(asked.kept, "sent_before");
        else await this.send();
      }
    }
    this.tell("status");
    this.tellButton();
  }

  /**
   * An answer that was sent. Nobody sees it before: whether it is sent must not depend on what it says (R17).
   * @param {Kept} kept @param {string} [said]
   */
  show(kept, said) {
    const found = readReport(kept.report);
    const told = words.day(found.day + REPORT_EPOCH);
    const unit = this.plain.day_unit;
    part("picked-question").textContent = words.say(`ask_${this.plain.questions[found.answer.question].kind}`);
    part("picked").textContent = pickedWords(words, this.plain, found.answer);
    part("picked-day").textContent = unit === 1 ? told : words.say("preview_day_unit", { day: told, days: unit });
    part("picked-id").textContent = found.id;
    part("picked-bytes").textContent = found.bytes;
    part("preview").hidden = false;
    if (said) {
      this.tell("receipt", said, { id: found.id });
      part("preview-title").focus();
    }
  }

  async send() {
    const [kept, code] = [this.kept, plainCode(part("code").value)];
    if (!kept || !this.database) return;
    part("send").disabled = true;
    this.tell("problem");
    this.tell("receipt", "sending");
    const sent = code === null ? { said: "bad_code", status: 0 } : await sendReport(given.to, kept.report, code);
    const isSent = sent.said.startsWith("receipt");
    this.tell("receipt");
    if (isSent) {
      await markSent(this.database, kept).catch(() => {}); // it is there; sent again, nothing changes
      this.show(kept, sent.said);
    } else this.tell("problem", sent.said, { status: sent.status });
    part("send").textContent = words.say("send_button", { host: this.host });
    part("send").hidden = isSent;
    part("send").disabled = false;
  }
}

/** How days are rounded, without the rest of a survey. @param {PlainSurvey} plain @returns {Channels} */
function channelsOfDays(plain) {
  return { hash: plain.hash, shares: [], channels: [], dayUnit: plain.day_unit, firstDay: plain.first_day };
}

async function openPeople() {
  words.sayAll(given.values);
  // Whoever goes on with Back, on a computer that others use, must not find the day there.
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  if (window.top !== window.self) {
    part("problem").textContent = words.say("framed");
    return;
  }
  const page = given.survey ? new People(given.survey, await openKept()) : null;
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-language]"))) {
    button.addEventListener("click", () => {
      words.language = button.dataset.language || "en";
      words.sayAll(given.values);
      if (page) page.again();
    });
  }
}

openPeople().catch(() => {
  part("problem").textContent = words.say("failed");
});

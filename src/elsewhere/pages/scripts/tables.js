// @ts-check
"use strict";
/*
 * Plain tables with latitude, longitude and time, however separated and called: twin of Python's
 * inputs/delimited.py and inputs/column_names.py. The first row must name the columns.
 */

/** What separates columns. @param {string} line */
function separatorOf(line) {
  const unquoted = line.replace(/"[^"]*"/g, "quoted");
  const count = (/** @type {string} */ mark) => unquoted.split(mark).length - 1;
  if (count("\t") || count(";")) return count("\t") >= count(";") ? "\t" : ";";
  return ",";
}

/** Rows of a table with their numbers, as an editor counts them; blank ones are passed over.
 * @param {string} text @param {string} separator @returns {[number, string[]][]} */
function tableRows(text, separator) {
  /** @type {[number, string[]][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let [field, isQuoted, line] = ["", false, 1];
  const endRow = () => {
    row.push(field);
    if (row.some((one) => one)) rows.push([line, row]);
    [row, field] = [[], ""];
  };
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (isQuoted) {
      if (letter === '"' && text[i + 1] === '"') field += text[i++];
      else if (letter === '"') isQuoted = false;
      else field += letter;
      if (letter === "\n") line += 1;
    } else if (letter === '"' && field === "") isQuoted = true;
    else if (letter === separator) {
      row.push(field);
      field = "";
    } else if (letter === "\n" || (letter === "\r" && text[i + 1] !== "\n")) {
      endRow();
      line += 1;
    } else if (letter !== "\r") field += letter;
  }
  endRow();
  return rows;
}

/** A name without case and marks. @param {string} name */
function plainName(name) {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** Where each of the known columns is; the first of several names counts.
 * @param {string[]} names @param {Aliases} aliases @returns {{[key: string]: number}} */
function foundColumns(names, aliases) {
  const plain = names.map(plainName);
  /** @type {{[key: string]: number}} */
  const where = {};
  for (const key of ["datetime", "lat", "lng", "date"]) {
    const name = aliases[key].map(plainName).find((alias) => plain.includes(alias));
    if (name === undefined) continue;
    if (plain.indexOf(name) !== plain.lastIndexOf(name)) throw new FileProblem("file_twice", { column: key });
    where[key] = plain.indexOf(name);
  }
  return where;
}

/** @param {string} text @param {LocalClock} clock @param {Aliases} aliases @returns {Fix[]} */
function tableFixes(text, clock, aliases) {
  text = text.replace(/^\ufeff/, "");
  const separator = separatorOf((/[^\r\n]*\S[^\r\n]*/.exec(text) || [""])[0]);
  const [[, names], ...rows] = tableRows(text, separator);
  const where = foundColumns(names, aliases);
  for (const key of ["datetime", "lat", "lng"]) {
    if (!(key in where)) throw new FileProblem("file_column", { column: key });
  }
  const timeName = plainName(names[where.datetime]);
  const isUtc = timeName.includes("utc") || timeName.includes("gmt");
  const broken = rows.find(([, row]) => row.length !== names.length);
  if (broken) throw new FileProblem("file_row", { number: broken[0] });
  const times = rows.map(([, row]) => timeText(row, where));
  const order = times.length && YEAR_LAST.test(times[0]) ? dateOrder(times) : null;
  /** @type {boolean | null} */
  let hasZone = null;
  return rows.map(([number, row], i) => {
    const moment = rowMoment(times[i], order, number);
    if (moment.zone === null && isUtc) moment.zone = 0;
    if (hasZone !== null && hasZone !== (moment.zone !== null)) throw new FileProblem("file_zones", { number });
    hasZone = moment.zone !== null;
    // Where semicolons separate, commas stand in numbers.
    const [lat, lng] = [row[where.lat], row[where.lng]].map((one) =>
      numberOf(separator === ";" ? one.replace(",", ".") : one));
    if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) throw new FileProblem("file_degrees", { number });
    return { time: localTime(moment, clock), lat, lng };
  });
}

/** The time of a row, with its date if that has a column of its own. @param {string[]} row
 * @param {{[key: string]: number}} where */
function timeText(row, where) {
  const time = row[where.datetime].trim();
  return "date" in where && /^\d{1,2}:\d{2}/.test(time) ? `${row[where.date].trim()} ${time}` : time;
}

/** @param {string} text @param {"day" | "month" | null} order @param {number} number */
function rowMoment(text, order, number) {
  try {
    return tableMoment(text, order);
  } catch (error) {
    throw new FileProblem(error instanceof FileProblem ? error.key : "file_no_time", { number });
  }
}

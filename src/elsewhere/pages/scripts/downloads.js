// @ts-check
"use strict";
// What an analyst sees, to take along: a table, and a picture that says what it shows.

/** What is seen, as a table for other programs. @param {View} view @param {string} choice @param {number} hour */
function csvOf(view, choice, hour) {
  // Anybody can name a place: a spreadsheet must not take it for a formula.
  const quoted = (/** @type {string} */ text) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const lines = ["part,lng,lat,hour,hours,shown,value,low,high,known,reports"];
  for (const row of rowsAt(view, hour)) {
    const part = view.parts[view.part[row]];
    const one = shownAt(view, choice, row);
    lines.push([quoted(part.label), ...part.middle, view.hour[row], view.hours[row], choice, one.value, one.low,
      one.high, surenessOf(one, choice), view.reports].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/**
 * A map and what is said below it, as one picture.
 * @param {any} map @param {string[]} caption @param {(blob: Blob | null) => void} done
 */
function pictureOfMap(map, caption, done) {
  const from = map.getCanvas();
  const scale = from.width / from.clientWidth;
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [from.width, from.height + 60 * scale];
  const pen = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
  pen.fillStyle = lookOf("paper");
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.drawImage(from, 0, 0);
  pen.fillStyle = lookOf("ink");
  caption.forEach((line, at) => {
    pen.font = `${(at === 0 ? 14 : 11) * scale}px sans-serif`;
    pen.fillText(line, 8 * scale, from.height + (22 + 16 * at) * scale);
  });
  picture.toBlob(done);
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

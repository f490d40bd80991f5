// What every chart has around it: its title, its legend, its values as a table, and buttons that save it.
import { h, columnOf, legend, table } from "./dom.js";
import { saveButtons } from "./save.js";

/** A chart with its title and legend, and its values as a table for those who cannot see it. The table is made when it is opened. */
export function chart(title, note, picture, columns, rows, entries) {
  const place = h("div", { class: "table", tabindex: "0" });
  const values = columns ? h("details", { ontoggle: () => place.childElementCount || place.append(table(columns, typeof rows === "function" ? rows() : rows)) }, h("summary", {}, "values"), place) : null;
  const figure = h("figure", {},
    h("figcaption", {}, title, note ? h("small", {}, note) : null),
    entries?.length ? legend(entries) : null, picture, values);
  if (picture.querySelector("svg")) figure.append(saveButtons(figure));
  return figure;
}

/** About how high a part will be. */
function heightOf(part) {
  const picture = part.querySelector("svg, canvas");
  const rows = part.querySelectorAll(".table tr").length;
  return 70 + (part.querySelector(".legend") ? 26 : 0) + (picture ? Number(picture.getAttribute("height")) * (picture.localName === "svg") || parseFloat(picture.style.height) + 40 || 300 : 0) + 26 * rows + 20 * part.querySelectorAll(".table th .code").length;
}

/** Parts in two columns of about the same height where there is room for two, in their order otherwise. */
export function columns(parts, width) {
  const drawn = parts.flat().filter((part) => part instanceof Node);
  if (columnOf(width) === width) return drawn.length ? h("div", { class: "column" }, drawn) : null;
  const sides = [[], []];
  const heights = [0, 0];
  for (const part of drawn) {
    const side = sides[0].length && heights[1] <= heights[0] ? 1 : 0;
    sides[side].push(part);
    heights[side] += heightOf(part);
  }
  return !drawn.length ? null : h("div", { class: "grid" }, sides.map((side) => h("div", { class: "column" }, side)));
}

/** Charts side by side, and a line that names those left out because all their values are 0. parts: charts, nulls, and {zero: title}. */
export function panels(parts, width) {
  const zero = parts.filter((part) => part?.zero).map((part) => part.zero);
  return [columns(parts, width), zero.length ? h("p", { class: "soft zero" }, `Not drawn, because every value is 0: ${zero.join("; ")}.`) : null];
}

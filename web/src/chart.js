// What every chart has around it: its title, its legend, its values as a table, and buttons that save it.
import { h, legend, table } from "./dom.js";
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

/** Charts side by side, and a line that names those left out because all their values are 0. parts: charts, nulls, and {zero: title}. */
export function panels(parts, className = "grid") {
  const zero = parts.filter((part) => part?.zero).map((part) => part.zero);
  const drawn = parts.filter((part) => part instanceof Node);
  return [drawn.length ? h("div", { class: className }, drawn) : null, zero.length ? h("p", { class: "soft zero" }, `Not drawn, because every value is 0: ${zero.join("; ")}.`) : null];
}

// What every chart has around it: its title, its values as a table, and buttons that save it.
import { h, table } from "./dom.js";
import { saveButtons } from "./save.js";

/** A chart with its title, and its values as a table for those who cannot see it. */
export function chart(title, note, picture, columns, rows) {
  const figure = h("figure", {},
    h("figcaption", {}, title, note ? h("small", {}, note) : null),
    picture,
    columns ? h("details", {}, h("summary", {}, "values"), h("div", { class: "table", tabindex: "0" }, table(columns, rows))) : null);
  if (picture.querySelector("svg")) figure.append(saveButtons(figure));
  return figure;
}

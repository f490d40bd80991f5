// Many kinds of runs: a table whose cells are coloured by their values, rows for configurations and columns for programs.
import { h, format, tip } from "./dom.js";
import { isDark, rampColor } from "./heat.js";
import { geometricMean } from "./model.js";
import { state, set } from "./state.js";

/** Blue for less than 1, orange for more, on the page's background at 1. */
function around1(value, spread) {
  const t = Math.max(-1, Math.min(1, Math.log(value) / spread));
  const from = isDark() ? [38, 43, 52] : [250, 250, 248];
  const to = t < 0 ? [66, 105, 208] : isDark() ? [226, 120, 30] : [235, 130, 40];
  return from.map((c, i) => Math.round(c + (to[i] - c) * Math.abs(t)));
}

const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#14161a" : "#ffffff");

/** What rows and columns stand for: two keys in which the runs of one program differ, or configurations and programs. */
function layoutOf(data, keys) {
  const programs = new Set(data.map((d) => d.group));
  const differing = keys.filter((key) => new Set(data.filter((d) => d.run).map((d) => d.run[key])).size > 1);
  const isCross = programs.size === 1 && differing.length === 2;
  return isCross ? { corner: `${differing[0]} \\ ${differing[1]}`, row: (d) => d.run[differing[0]], column: (d) => d.run[differing[1]], isCross } : { corner: "configuration", row: (d) => d.bar, column: (d) => d.group };
}

/** data: {group, bar, value, run} as for bars. */
export function matrix({ data, metric, keys, text, onselect, isSelected }) {
  const known = data.filter((d) => typeof d.value === "number");
  const isRatio = metric === "speedup";
  const { corner, row, column, isCross } = layoutOf(data.filter((d) => d.run), keys);
  const cells = isCross ? known.filter((d) => d.run) : known;
  const columns = [...new Set(data.filter((d) => !isCross || d.run).map(column))];
  const rows = [...new Set(data.filter((d) => !isCross || d.run).map(row))];
  const at = new Map(cells.map((d) => [`${row(d)}\n${column(d)}`, d]));
  const values = known.map((d) => d.value);
  const [low, high] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
  const spread = Math.max(0.02, ...values.filter((v) => v > 0).map((v) => Math.abs(Math.log(v))));
  const colorOf = (v) => (isRatio && v > 0 ? around1(v, spread) : rampColor(high > low ? (v - low) / (high - low) : 0.5));
  const sortAt = columns.indexOf(state.column);
  if (sortAt >= 0) rows.sort((a, b) => (at.get(`${b}\n${columns[sortAt]}`)?.value ?? -Infinity) - (at.get(`${a}\n${columns[sortAt]}`)?.value ?? -Infinity));
  const cell = (name, c) => {
    const d = at.get(`${name}\n${c}`);
    if (!d) return h("td", { class: "none" }, "–");
    const color = colorOf(d.value);
    const td = h("td", { style: `background:rgb(${color});color:${inkOn(color)}`, class: isSelected?.(d) ? "selected" : null, tabindex: d.run ? "0" : null, role: d.run ? "link" : null, "aria-label": text(d).replaceAll("\n", ", "),
      "data-run": d.run?.id ?? null, onclick: () => d.run && onselect(d.run), onkeydown: (event) => ["Enter", " "].includes(event.key) && d.run && (event.preventDefault(), onselect(d.run)) },
      Math.abs(d.value) < 1000 ? d.value.toPrecision(3) : format(Math.round(d.value)));
    tip(td, () => text(d));
    return td;
  };
  const head = (c) => h("th", { scope: "col", "aria-sort": state.column === c ? "descending" : null }, h("button", { type: "button", "data-focus": `column-${c}`, title: "sort by this column", onclick: () => set({ column: state.column === c ? null : c }) }, c));
  const ends = isRatio ? `blue: slower, orange: faster; the strongest colour is a factor of ${Math.exp(spread).toPrecision(3)}` : `from ${format(low)} (pale) to ${format(high)} (strong)`;
  return h("div", {}, h("div", { class: "table tall", tabindex: "0" }, h("table", { class: "matrix" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "left" }, corner), columns.map(head))),
    h("tbody", {}, rows.map((name) => h("tr", {}, h("th", { scope: "row" }, name), columns.map((c) => cell(name, c))))))), h("p", { class: "soft" }, ends));
}

/** The geometric mean of each configuration over all programs, as cells of their own. */
export function means(data, bars, groups) {
  return bars.flatMap((bar) => {
    const values = data.filter((d) => d.bar === bar).map((d) => d.value);
    const mean = values.length === groups.length ? geometricMean(values) : null;
    return mean ? [{ group: "geometric mean", bar, value: mean }] : [];
  });
}

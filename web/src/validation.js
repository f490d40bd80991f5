// A machine held against the real GPU: simulated over real cycles, and the error of each workload.
import { h, columnOf, format, legend } from "./dom.js";
import { chart } from "./chart.js";
import { colorOf, scatter } from "./charts.js";
import { state, set } from "./state.js";

const signed = (error) => `${error < 0 ? "−" : "+"}${(100 * Math.abs(error)).toFixed(0)} %`;
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;

/** The mean and the median of the errors without their sign, and the correlation of the cycles' logarithms. */
function summarize(points) {
  const errors = points.map((p) => Math.abs(p.error)).sort((a, b) => a - b);
  const middle = errors.length >> 1;
  const [x, y] = [points.map((p) => Math.log(p.real)), points.map((p) => Math.log(p.simulated))];
  const [mx, my] = [mean(x), mean(y)];
  const product = (a, ma, b, mb) => a.reduce((sum, v, i) => sum + (v - ma) * (b[i] - mb), 0);
  const spread = Math.sqrt(product(x, mx, x, mx) * product(y, my, y, my));
  return {
    mean: mean(errors),
    median: errors.length % 2 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2,
    correlation: spread > 0 ? product(x, mx, y, my) / spread : null,
  };
}

function tiles({ mean, median, correlation }, n) {
  const list = [["workloads", n, format], ["mean error", mean, (v) => `${(100 * v).toFixed(1)} %`], ["median error", median, (v) => `${(100 * v).toFixed(1)} %`], ["correlation of logarithms", correlation, (v) => v.toFixed(3)]];
  return h("dl", { class: "tiles" }, list.filter(([, v]) => v !== null).map(([name, v, show]) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", { "data-summary": name, "data-value": v }, show(v)))));
}

const columns = [
  { key: "workload", value: (p) => p.run.program, left: true },
  { key: "error", value: (p) => p.error, show: signed, sortBy: (p) => Math.abs(p.error) },
  { key: "real", name: "real cycles", value: (p) => p.real, show: format },
  { key: "simulated", value: (p) => p.simulated, show: format },
  { key: "size", value: (p) => p.run.size, left: true },
  { key: "launches", value: (p) => p.launches, show: format },
];

/** Bars of errors grow to both sides of the middle; those beyond twice and none of the cycles are cut. */
function errorBar(error) {
  const length = 50 * Math.min(1, Math.abs(error));
  return h("span", { class: "error-bar", "aria-hidden": "true" }, h("span", { class: error < 0 ? "less" : "more", style: `width:${length}%;${error < 0 ? "right" : "left"}:50%` }));
}

/** The error of each workload, the greatest first until a column is chosen. */
function errorTable(points, onselect) {
  const sort = columns.find((c) => c.key === state.by) ?? columns[1];
  const way = state.way === "ascending" ? 1 : -1;
  const by = sort.sortBy ?? sort.value;
  const compare = (a, b) => (typeof by(a) === "string" ? by(b).localeCompare(by(a)) : by(a) - by(b));
  const next = (key) => (sort.key === key && way < 0 ? "ascending" : "descending");
  const head = (c) => h("th", { scope: "col", class: c.left || c.key === "error" ? "left" : null, colspan: c.key === "error" ? "2" : null, "aria-sort": sort === c ? (way > 0 ? "ascending" : "descending") : null },
    h("button", { type: "button", "data-sort": `error-${c.key}`, onclick: () => set({ by: c.key, way: next(c.key) }) }, c.name ?? c.key));
  const row = (p) => h("tr", { "data-run": p.run.id, "data-error": p.error }, columns.map((c, i) => i === 0
    ? h("th", { scope: "row" }, h("a", { href: "#run", onclick: (event) => (event.preventDefault(), onselect(p.run)) }, c.value(p)))
    : [h("td", { class: c.left ? "left" : null }, (c.show ?? String)(c.value(p))), c.key === "error" ? h("td", {}, errorBar(p.error)) : null]));
  return h("div", { class: "table errors", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, columns.map(head))),
    h("tbody", {}, [...points].sort((a, b) => way * compare(a, b)).map(row))));
}

const MOST_NAMES = 12; // of points that are named in the picture, those farthest from the diagonal

export function validationView(validation, width, onselect, keeps) {
  const points = validation.points.filter((p) => keeps(p.run));
  const card = h("section", { class: "card", id: "validation", "aria-labelledby": "validation-title" },
    h("header", {}, h("div", {}, h("h2", { id: "validation-title" }, `${validation.machine}: simulated and real cycles`),
      h("p", { class: "soft" }, "a point is a workload: the cycles of its recorded launches on the GPU, and those that Heddle computes"))));
  if (!points.length) {
    card.append(h("p", { class: "empty" }, "No workload is left: choose more above."));
    return card;
  }
  const sizes = [...new Set(validation.points.map((p) => p.run.size))];
  const colors = colorOf(sizes);
  const distance = (p) => Math.abs(Math.log(p.simulated / p.real));
  const named = new Set([...points].sort((a, b) => distance(b) - distance(a)).filter((p) => distance(p) > Math.log(1.25)).slice(0, MOST_NAMES));
  const text = (p) => `${p.run.program}${p.run.size ? `, ${p.run.size}` : ""}: ${signed(p.error)}\nreal: ${format(p.real)} cycles\nsimulated: ${format(p.simulated)} cycles`;
  const picture = scatter({ data: points.map((p) => ({ ...p, x: p.real, y: p.simulated, name: named.has(p) ? p.run.program : "", color: colors.get(p.run.size) })),
    width: Math.min(columnOf(width), 680), label: `simulated over real cycles of ${points.length} workloads`, xLabel: "cycles on the GPU", yLabel: "simulated cycles",
    text, onselect: (p) => onselect(p.run), isSelected: (p) => String(p.run.id) === state.run });
  card.append(tiles(summarize(points), points.length), h("div", { class: "grid" },
    h("div", {}, sizes.length > 1 ? legend(sizes.map((size) => ({ name: size, color: colors.get(size) }))) : null,
      chart("Simulated over real cycles", "on the line they are the same, between the dashed ones they differ by less than a factor of two", picture)),
    h("div", {}, h("h3", {}, "Error of each workload"), errorTable(points, onselect))));
  return card;
}

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

const nameOf = (p) => p.kernel ?? p.run.program;

const columns = [
  { key: "workload", value: nameOf, left: true },
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

/** The mean and the median of a metric's differences without their sign, and the programs in which ours is higher. */
function metricRow(metric, differences) {
  const sorted = differences.map(Math.abs).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return [metric, format(sorted.length), `${(100 * mean(sorted)).toFixed(1)} %`, `${(100 * median).toFixed(1)} %`, format(differences.filter((d) => d > 0).length)];
}

const MOST_DIFFERENCES = 100; // rows of the second table
const number = (value, isShare) => (isShare ? `${(100 * value).toFixed(1)} %` : value < 1000 ? Number(value.toPrecision(4)).toString() : format(Math.round(value)));

/** Counters beside the card's: how far each metric is off, and the largest differences of all. */
function metricsView(points, onselect) {
  const all = points.flatMap((p) => (p.metrics ?? []).map((m) => ({ ...m, point: p })));
  if (!all.length) return null;
  const words = [...new Set(all.map((m) => m.metric))];
  const table = (heads, rows, left) => h("div", { class: "table", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: i < left ? "left" : null }, head)))), h("tbody", {}, rows)));
  const cells = (row, left) => row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: i < left ? "left" : null }, cell)));
  const summary = words.map((word) => h("tr", { "data-metric": word }, cells(metricRow(word, all.filter((m) => m.metric === word).map((m) => m.difference)), 1)));
  const link = (p) => h("a", { href: "#run", onclick: (event) => (event.preventDefault(), onselect(p.run)) }, nameOf(p));
  const worst = [...all].sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference)).slice(0, MOST_DIFFERENCES)
    .map((m) => h("tr", { "data-difference": m.difference }, cells([link(m.point), m.metric, number(m.real, m.is_share), number(m.simulated, m.is_share), signed(m.difference)], 2)));
  return h("div", { class: "grid", id: "metrics" },
    h("div", {}, h("h3", {}, "Counters beside the card's"), table(["metric", "programs", "mean", "median", "ours is higher"], summary, 1)),
    h("div", {}, h("h3", {}, "The largest differences"), table(["program", "metric", "real", "simulated", "difference"], worst, 2)));
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
  const text = (p) => `${nameOf(p)}${p.run.size ? `, ${p.run.size}` : ""}: ${signed(p.error)}\nreal: ${format(p.real)} cycles\nsimulated: ${format(p.simulated)} cycles`;
  const picture = scatter({ data: points.map((p) => ({ ...p, x: p.real, y: p.simulated, name: named.has(p) ? nameOf(p) : "", color: colors.get(p.run.size) })),
    width: Math.min(columnOf(width), 680), label: `simulated over real cycles of ${points.length} workloads`, xLabel: "cycles on the GPU", yLabel: "simulated cycles",
    text, onselect: (p) => onselect(p.run), isSelected: (p) => String(p.run.id) === state.run });
  card.append(tiles(summarize(points), points.length), h("div", { class: "grid" },
    h("div", {}, sizes.length > 1 ? legend(sizes.map((size) => ({ name: size, color: colors.get(size) }))) : null,
      chart("Simulated over real cycles", "on the line they are the same, between the dashed ones they differ by less than a factor of two", picture)),
    h("div", {}, h("h3", {}, "Error of each workload"), errorTable(points, onselect))));
  const metrics = metricsView(points, onselect);
  if (metrics) card.append(metrics);
  return card;
}

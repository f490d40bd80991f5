// Every number of every run, with its configuration.
import { h, format } from "./dom.js";
import { metrics } from "./model.js";
import { state, set } from "./state.js";

const configuration = ["program", "size", "machine", "scheduler", "divergence", "outcome"];

function csv(runs, keys) {
  const quote = (v) => (v === null || v === undefined ? "" : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
  const lines = [[...configuration, ...keys].join(",")];
  for (const run of runs) lines.push([...configuration.map((c) => run[c]), ...keys.map((key) => (key === "speedup" ? run.speedup : run.total[key]))].map(quote).join(","));
  return `${lines.join("\n")}\n`;
}

const MOST_COLUMNS = 60;

export function numbers(model, chosen, onselect) {
  const runs = chosen.slice(0, MOST_COLUMNS);
  const keys = metrics(model.runs);
  const search = h("input", { type: "search", placeholder: "find a number", "aria-label": "find a number", value: state.find ?? "" });
  const rows = keys.map((key) => h("tr", { "data-key": key }, h("th", { scope: "row", title: model.meanings[key] ?? null }, key),
    runs.map((run) => {
      const value = key === "speedup" ? run.speedup : run.total[key];
      return h("td", { "data-value": value ?? null }, format(value));
    })));
  const filter = () => {
    const word = search.value.trim().toLowerCase();
    for (const row of rows) row.hidden = word !== "" && !row.dataset.key.includes(word) && !(model.meanings[row.dataset.key] ?? "").toLowerCase().includes(word);
  };
  search.addEventListener("input", () => (filter(), set({ find: search.value })));
  filter();
  const head = configuration.filter((c) => runs.some((run) => run[c])).map((c) => h("tr", { class: "group" }, h("th", { scope: "row" }, c),
    runs.map((run) => h("td", {}, c === "program" ? h("a", { href: "#run", onclick: (event) => (event.preventDefault(), onselect(run)) }, run[c]) : run[c] ?? ""))));
  const save = h("button", { type: "button", onclick: () => {
    const link = h("a", { download: "heddle.csv", href: URL.createObjectURL(new Blob([csv(chosen, keys)], { type: "text/csv" })) });
    link.click();
    URL.revokeObjectURL(link.href);
  } }, "Save as CSV");
  return h("section", { class: "card", id: "numbers", "aria-labelledby": "numbers-title" },
    h("header", {}, h("div", {}, h("h2", { id: "numbers-title" }, "All numbers"), h("p", { class: "soft" }, `${keys.length} statistics of ${runs.length < chosen.length ? `the first ${runs.length} of ${chosen.length}` : runs.length} runs; each name explains itself under the pointer`)),
      h("div", { class: "controls" }, search, save)),
    h("div", { class: "table", tabindex: "0" }, h("table", {}, h("thead", {}), h("tbody", {}, head, rows))));
}

// The annotated listing: each line with its executions, lanes, divergences, misses and stalls; columns sort it.
import { h, format, percent, select, legend, tip } from "./dom.js";
import { lineStalls } from "./model.js";
import { state, set } from "./state.js";

const counted = ["executed", "active_lanes", "diverged", "accesses", "requests", "misses"];
const stalls = (line) => lineStalls.reduce((sum, s) => sum + (line[s.key] ?? 0), 0);

/** Sums the lines of PTX by their line of CUDA. */
function asCuda(lines, sources) {
  const sums = new Map();
  const counters = [...counted, ...lineStalls.map((s) => s.key)];
  for (const line of lines) {
    if (!line.source_line) continue;
    const key = `${line.file}:${line.source_line}`;
    const sum = sums.get(key) ?? { line: line.source_line, file: line.file, text: sources?.[line.file]?.[line.source_line] ?? "" };
    for (const counter of counters) if (line[counter] !== undefined) sum[counter] = (sum[counter] ?? 0) + line[counter];
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
}

const columns = [
  { key: "line", name: "line", value: (l) => l.line },
  { key: "executed", name: "executed", value: (l) => l.executed, show: format },
  { key: "lanes", name: "lanes", value: (l) => (l.executed ? l.active_lanes / l.executed : 0), show: (v) => v.toFixed(1) },
  { key: "diverged", name: "diverged", value: (l) => l.diverged, show: (v) => (v ? format(v) : "") },
  { key: "misses", name: "misses", value: (l) => (l.requests ? l.misses / l.requests : -1), show: (v) => (v < 0 ? "" : percent(v)), isTimed: true },
  { key: "stalls", name: "stalls", value: stalls, isTimed: true },
];

/** PTX with its opcode and CUDA as it is. */
function code(text, isCuda) {
  const match = isCuda ? null : /^(@!?%\w+\s+)?([\w.:]+)(.*)$/s.exec(text);
  return match ? [match[1] ?? "", h("b", {}, match[2]), match[3]] : [text];
}

function body(lines, isTimed, isCuda) {
  const all = lines.reduce((sum, line) => sum + stalls(line), 0);
  const most = Math.max(1, ...lines.map(stalls));
  return lines.map((line) => {
    const bars = h("span", { class: "bars" }, lineStalls.map((s) => h("span", { style: `width:${(100 * (line[s.key] ?? 0)) / most}%;background:${s.color}` })));
    const waits = `${percent(all ? stalls(line) / all : 0)} of the stall cycles\n${lineStalls.filter((s) => line[s.key]).map((s) => `${s.name}: ${format(line[s.key])}`).join("\n")}`;
    tip(bars, () => waits);
    return h("tr", { "data-line": line.line, "data-executed": line.executed },
      h("th", { scope: "row" }, isCuda ? `${line.file.split("/").pop()}:${line.line}` : line.line || "–"),
      columns.slice(1).filter((c) => isTimed || !c.isTimed).map((c) =>
        c.key === "stalls" ? [h("td", {}, percent(all ? stalls(line) / all : 0)), h("td", { class: "left", "aria-label": waits.replaceAll("\n", ", ") }, bars)] : h("td", {}, c.show(c.value(line)))),
      h("td", { class: "code" }, code(line.text, isCuda)));
  });
}

export function sourceView(run) {
  if (!run.lines?.length) return null;
  const kernel = run.lines.find((k) => k.kernel === state.kernel) ?? run.lines.reduce((a, b) => (a.lines.reduce((s, l) => s + stalls(l) + l.executed, 0) >= b.lines.reduce((s, l) => s + stalls(l) + l.executed, 0) ? a : b));
  const hasCuda = kernel.lines.some((line) => line.source_line);
  const isCuda = hasCuda && state.code !== "ptx";
  const isTimed = kernel.lines.some((line) => line.stall_memory !== undefined);
  const lines = (isCuda ? asCuda(kernel.lines, run.sources) : kernel.lines).filter((line) => line.executed > 0);
  const sort = columns.find((c) => c.key === state.sort && (isTimed || !c.isTimed));
  const direction = state.order === "ascending" ? 1 : -1;
  if (sort) lines.sort((a, b) => direction * (sort.value(a) - sort.value(b)));
  const next = (key) => (state.sort !== key ? "descending" : state.order === "ascending" ? null : "ascending");
  const head = (c) => h("th", { scope: "col", "aria-sort": sort === c ? (direction > 0 ? "ascending" : "descending") : null, colspan: c.key === "stalls" ? "2" : null, class: c.key === "stalls" ? "left" : null },
    h("button", { type: "button", "data-sort": c.key, onclick: () => set(next(c.key) ? { sort: c.key, order: next(c.key) } : { sort: null, order: null }) }, c.name));
  return h("section", { id: "lines" },
    h("header", { class: "controls", style: "margin:1rem 0 .5rem" }, h("h3", {}, "Lines"),
      run.lines.length > 1 ? select("kernel", run.lines.map((k) => k.kernel), kernel.kernel, (k) => set({ kernel: k })) : h("span", { class: "soft" }, kernel.kernel),
      hasCuda ? select("as", [{ value: "cuda", name: "CUDA" }, { value: "ptx", name: "PTX" }], isCuda ? "cuda" : "ptx", (c) => set({ code: c })) : null,
      isTimed ? legend(lineStalls) : null),
    h("div", { class: "table", tabindex: "0" }, h("table", {},
      h("thead", {}, h("tr", {}, columns.filter((c) => isTimed || !c.isTimed).map(head), h("th", { class: "left", scope: "col" }, isCuda ? "CUDA" : "PTX"))),
      h("tbody", {}, body(lines, isTimed, isCuda)))));
}

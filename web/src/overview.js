// All runs side by side: a metric as bars or as a coloured table, and where the cycles went.
import { h, select, check, format, percent } from "./dom.js";
import { chart } from "./chart.js";
import { barAxis, groupedBars, stacked, colorOf } from "./charts.js";
import { matrix, means } from "./matrix.js";
import { baselines, cycleShares, metrics, partsIn, value } from "./model.js";
import { state, set } from "./state.js";

const MOST_BARS = 16; // of one program as bars; more are a table
const MOST_ROWS = 60;

const first = ["speedup", "ipc", "cycles", "simd_efficiency", "warp_instructions"];

function metricOf(runs) {
  const known = metrics(runs);
  return known.includes(state.metric) ? state.metric : first.find((key) => known.includes(key)) ?? known[0];
}

function barsOf(runs, all, metric) {
  const names = [...new Set(all.map((run) => run.label))];
  const data = runs.map((run) => ({ group: run.program, bar: run.label, value: value(run, metric), run }));
  const groups = [...new Set(data.map((d) => d.group))];
  const bars = names.filter((bar) => data.some((d) => d.bar === bar));
  if (metric === "speedup" && groups.length > 1) data.push(...means(data, bars, groups));
  return { data, bars, groups: [...new Set(data.map((d) => d.group))], colors: colorOf(names) };
}

/** What speed-ups are over: one target for all programs, or the first run of each. */
function baselineSelect({ targets, first }, chosen) {
  const options = first === null ? [{ value: "", name: "each program's first run" }, ...targets] : targets;
  return select("speed-up over", options, chosen ?? "", (target) => set({ baseline: target === first ? null : target }));
}

/** Where the cycles of each run went. */
function cyclesOf(runs, width, onselect) {
  const hasLabels = new Set(runs.map((run) => run.label)).size > 1;
  const hasPrograms = new Set(runs.map((run) => run.program)).size > 1;
  const nameOf = (run) => [hasPrograms || !hasLabels ? run.program : null, hasLabels ? run.label : null].filter(Boolean).join(" · ");
  const rows = runs.slice(0, MOST_ROWS).map((run) => ({ name: nameOf(run), run, parts: cycleShares(run) })).filter((row) => row.parts.length);
  if (!rows.length) return null;
  const parts = partsIn(rows);
  return h("div", { style: "margin-top:1rem" },
    chart("Where the cycles went", `of all SMs: an instruction issued, or the reason that none did${runs.length > MOST_ROWS ? `; the first ${MOST_ROWS} runs` : ""}`,
      stacked({ rows, width, label: "where the cycles went", xLabel: "SM cycles, %", onselect: (d) => onselect(d.run) }),
      [{ name: "run", left: true }, ...parts.map((part) => ({ name: part.name, format: percent }))], () => rows.map((row) => [row.name, ...parts.map((part) => row.parts.find((p) => p.key === part.key)?.share ?? 0)]), parts));
}

/** The runs as bars, or as a table where they are many. */
function picture(card, model, runs, metric, baseline, width, onselect) {
  const { data, bars, groups, colors } = barsOf(runs, model.runs, metric);
  const text = (d) => `${d.group}, ${d.bar}\n${metric}: ${format(d.value)}${d.run && d.run.outcome !== "done" ? `\nnot complete: ${d.run.error ?? d.run.outcome}` : ""}`;
  const isSelected = (d) => d.run && String(d.run.id) === state.run;
  const title = metric === "speedup" ? `speed-up${baseline ? ` over ${baseline}` : ""}` : metric;
  const isTable = state.as ? state.as === "table" : bars.length > MOST_BARS;
  const axis = barAxis(data.map((d) => d.value), { isFromZero: state.zero === "yes", with: metric === "speedup" ? 1 : undefined });
  card.querySelector(".controls").append(...[select("as", ["bars", "table"], isTable ? "table" : "bars", (as) => set({ as })), !isTable && axis.canCut ? check("from 0", state.zero === "yes", (on) => set({ zero: on ? "yes" : null })) : null].filter(Boolean));
  if (runs.some((run) => run.outcome !== "done")) card.append(h("p", { class: "soft" }, "Pale bars are of runs that did not come to their end."));
  const columns = [{ name: "program", left: true }, { name: "on", left: true }, { name: metric, format }];
  const rows = () => data.map((d) => [d.group, d.bar, d.value]);
  if (isTable) card.append(chart(title, null, matrix({ data, metric, keys: ["machine", "scheduler", "divergence", "arguments", "size"], text, onselect, isSelected })));
  else
    card.append(chart(title, axis.isCut ? "the values are near each other: the axis does not begin at 0" : null,
      groupedBars({ data, groups, bars, colors, width, axis, unit: title, label: `${metric} of ${data.length} runs`, line: metric === "speedup" ? 1 : undefined, text, onselect: (d) => onselect(d.run), isSelected }),
      columns, rows, bars.length > 1 && groups.length > 1 ? bars.map((bar) => ({ name: bar, color: colors.get(bar) })) : null));
}

export function overview(model, runs, width, onselect) {
  const metric = metricOf(model.runs);
  const known = baselines(model.runs);
  const baseline = known.targets.includes(state.baseline) ? state.baseline : known.first;
  const meaning = metric === "speedup" ? `cycles of ${baseline ?? "the program's first run"} / cycles of this run, of the same program` : model.meanings[metric] ?? "";
  const card = h("section", { class: "card", id: "overview", "aria-labelledby": "overview-title" },
    h("header", {},
      h("div", {}, h("h2", { id: "overview-title" }, "Side by side"), h("p", { class: "soft" }, meaning)),
      h("div", { class: "controls" }, known.targets.length > 1 ? baselineSelect(known, baseline) : null, select("show", metrics(model.runs), metric, (m) => set({ metric: m })))));
  if (!runs.length) card.append(h("p", { class: "empty" }, "No run is left: choose more above."));
  else {
    picture(card, model, runs, metric, baseline, width, onselect);
    const cycles = cyclesOf(runs, width, onselect);
    if (cycles) card.append(cycles);
  }
  return card;
}

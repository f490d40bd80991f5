// All runs side by side: grouped bars of a metric, and where the cycles went.
import { h, legend, select, format, percent } from "./dom.js";
import { chart } from "./chart.js";
import { groupedBars, stacked, colorOf } from "./charts.js";
import { baselines, cycleParts, cycleShares, geometricMean, metrics, value } from "./model.js";
import { state, set } from "./state.js";

const MOST_BARS = 24; // of one program, and colours that can be told apart with the help of their order

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
  if (metric === "speedup" && groups.length > 1)
    for (const bar of bars) {
      const values = data.filter((d) => d.bar === bar && d.group !== "geometric mean").map((d) => d.value);
      const mean = values.length === groups.length ? geometricMean(values) : null;
      if (mean) data.push({ group: "geometric mean", bar, value: mean });
    }
  return { data, bars, groups: [...new Set(data.map((d) => d.group))], colors: colorOf(names) };
}

/** What speed-ups are over: one target for all programs, or the first run of each. */
function baselineSelect({ targets, first }, chosen) {
  const options = first === null ? [{ value: "", name: "each program's first run" }, ...targets] : targets;
  return select("speed-up over", options, chosen ?? "", (target) => set({ baseline: target === first ? null : target }));
}

/** The bars of the chart, for links between charts, tables and tests. */
export function overview(model, runs, width, onselect) {
  const metric = metricOf(model.runs);
  const { data, bars, groups, colors } = barsOf(runs, model.runs, metric);
  const text = (d) => `${d.group}, ${d.bar}\n${metric}: ${format(d.value)}${d.run && d.run.outcome !== "done" ? `\nnot complete: ${d.run.error ?? d.run.outcome}` : ""}`;
  const known = baselines(model.runs);
  const baseline = known.targets.includes(state.baseline) ? state.baseline : known.first;
  const title = metric === "speedup" ? `speed-up${baseline ? ` over ${baseline}` : ""}` : metric;
  const meaning = metric === "speedup" ? `cycles of ${baseline ?? "the program's first run"} / cycles of this run, of the same program` : model.meanings[metric] ?? "";
  const isSelected = (d) => d.run && String(d.run.id) === state.run;
  const MOST_ROWS = 60;
  const hasLabels = new Set(model.runs.map((run) => run.label)).size > 1;
  const rows = runs.slice(0, MOST_ROWS).map((run) => ({ name: hasLabels ? `${run.program} · ${run.label}` : run.program, run, parts: cycleShares(run) })).filter((row) => row.parts.length);
  const card = h("section", { class: "card", id: "overview", "aria-labelledby": "overview-title" },
    h("header", {},
      h("div", {}, h("h2", { id: "overview-title" }, "Side by side"), h("p", { class: "soft" }, meaning)),
      h("div", { class: "controls" }, known.targets.length > 1 ? baselineSelect(known, baseline) : null, select("show", metrics(model.runs), metric, (m) => set({ metric: m })))));
  if (!data.length) card.append(h("p", { class: "empty" }, "No run is left: choose more above."));
  else if (bars.length > MOST_BARS) card.append(h("p", { class: "empty" }, `${bars.length} kinds of runs are too many to compare at once: choose fewer above.`));
  else {
    if (bars.length > 1) card.append(legend(bars.map((bar) => ({ name: bar, color: colors.get(bar) }))));
    if (runs.some((run) => run.outcome !== "done")) card.append(h("p", { class: "soft" }, "Pale bars are of runs that did not come to their end."));
    card.append(chart(title, null, groupedBars({ data, groups, bars, colors, width, label: `${metric} of ${data.length} runs`, line: metric === "speedup" ? 1 : undefined, text, onselect: (d) => onselect(d.run), isSelected }),
      [{ name: "program", left: true }, { name: "on", left: true }, { name: metric, format }], data.map((d) => [d.group, d.bar, d.value])));
  }
  if (rows.length && bars.length <= MOST_BARS)
    card.append(h("div", { style: "margin-top:1rem" }, legend(cycleParts),
      chart("Where the cycles went", `of all SMs: an instruction issued, or what the warps waited for${runs.length > MOST_ROWS ? `; the first ${MOST_ROWS} runs` : ""}`, stacked({ rows, width, label: "where the cycles went", xLabel: "SM cycles, %", onselect: (d) => onselect(d.run) }),
        [{ name: "run", left: true }, ...cycleParts.map((part) => ({ name: part.name, format: percent }))], rows.map((row) => [row.name, ...row.parts.map((part) => part.share)]))));
  return card;
}

// One run: its configuration, its main numbers, time series, threads and lines.
import { h, columnOf, select, format, percent, table, legend } from "./dom.js";
import { chart } from "./chart.js";
import { histogram, stacked } from "./charts.js";
import { cycleParts, cycleShares } from "./model.js";
import { seriesView } from "./series.js";
import { sourceView } from "./source.js";
import { threadsView } from "./threads.js";

const ratio = (a, b) => (b ? a / b : null);

function tiles(run) {
  const t = run.total;
  const list = [
    ["cycles", t.cycles, format],
    ["IPC", t.ipc, format],
    ["SIMD efficiency", t.simd_efficiency, percent],
    ["active lanes", t.average_active_lanes ?? t.average_active_threads ?? ratio(t.thread_instructions, t.warp_instructions), format],
    ["warp instructions", t.warp_instructions, format],
    ["divergent branches", ratio(t.divergent_branches, t.branches), percent],
    ["L1 misses", ratio(t.l1_misses, t.l1_accesses), percent],
    ["L2 misses", ratio(t.l2_misses, t.l2_accesses), percent],
    ["DRAM row hits", ratio(t.row_hits, t.row_hits + t.row_conflicts), percent],
    ["speed-up", run.speedup, format],
  ].filter(([, value]) => typeof value === "number" && !Number.isNaN(value));
  return h("dl", { class: "tiles" }, list.map(([name, value, show]) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", { "data-stat": name, "data-value": value }, show(value)))));
}

function configuration(run) {
  const words = [["program", run.program], ["size", run.size], ["machine", run.machine], ["scheduler", run.scheduler], ["divergence", run.divergence], ["arguments", run.arguments]].filter(([, v]) => v);
  return h("p", { class: "config" }, words.flatMap(([name, v]) => [`${name} `, h("code", {}, v), "  "]),
    h("span", { class: run.outcome === "done" ? "done" : "error" }, run.outcome === "done" ? (run.checked ? "result checked" : "done, not checked") : run.error ?? run.outcome));
}

/** What limits a run, in the words of the terminal, and how near each unit came to its peak. */
function limitOf(run) {
  if (!run.limit) return null;
  const units = Object.entries(run.limit.share_of_peak);
  return h("div", { class: "limit", "data-limit": run.limit.by },
    h("p", {}, "Limited by ", h("strong", {}, run.limit.by), `: ${run.limit.evidence}.`),
    h("p", { class: "soft" }, `Next: ${run.limit.next}.`),
    h("dl", { class: "meters", "aria-label": "share of each unit's peak" }, units.map(([unit, share]) =>
      h("div", {}, h("dt", {}, unit), h("dd", {}, h("meter", { min: 0, max: 1, value: share, "aria-label": unit }), h("span", {}, percent(share)))))));
}

function launches(run) {
  const kernels = run.kernels.filter((kernel) => kernel.timed !== false);
  if (kernels.length < 2) return null;
  const columns = [{ name: "launch", format: String }, { name: "kernel", left: true }, { name: "grid" }, { name: "block" }, { name: "cycles", format }, { name: "IPC", format }, { name: "SIMD efficiency", format: percent }, { name: "warp instructions", format }];
  const rows = kernels.map((k) => [k.launch, k.name, k.grid.join(" × "), k.block.join(" × "), k.cycles, k.ipc, k.simd_efficiency, k.warp_instructions]);
  return h("details", {}, h("summary", {}, `${format(kernels.length)} launches`), h("div", { class: "table", tabindex: "0" }, table(columns, rows)));
}

/** Where the cycles went in each launch, the longest first; a run of one launch has its own bar. */
function cyclesOf(run, width) {
  const MOST = 12;
  const kernels = run.kernels.map((kernel) => ({ total: kernel, name: `${kernel.launch}: ${kernel.name}`, cycles: kernel.cycles ?? 0 })).sort((a, b) => b.cycles - a.cycles);
  const some = kernels.length > 1 ? kernels.slice(0, MOST) : [{ total: run.total, name: run.program, cycles: run.total.cycles }];
  const rows = some.map((k) => ({ name: k.name, parts: cycleShares(k) })).filter((row) => row.parts.length);
  if (!rows.length) return null;
  return h("div", {}, chart("Where the cycles went", kernels.length > MOST ? `the ${MOST} longest of ${kernels.length} launches` : kernels.length > 1 ? "of each launch, the longest first" : "of all SMs",
    stacked({ rows, width, label: "where the cycles of each launch went", xLabel: "SM cycles, %" }),
    [{ name: "launch", left: true }, ...cycleParts.map((part) => ({ name: part.name, format: percent }))], rows.map((row) => [row.name, ...row.parts.map((part) => part.share)])), legend(cycleParts));
}

export function runView(model, run, width, onselect) {
  const name = (r) => [r.program, r.machine, r.scheduler, r.divergence, /#\d+$/.exec(r.label)?.[0]].filter(Boolean).join(" · ");
  const inner = width - 2;
  const half = columnOf(inner);
  const lanes = run.lanes.length && run.lanes.some((v) => v > 0)
    ? chart("Active lanes", "instructions by the number of lanes that execute them", histogram({ values: run.lanes, width: half, label: "active lanes", unit: "share of instructions, %", xLabel: "active lanes" }),
        [{ name: "lanes", format: String }, { name: "instructions", format }], run.lanes.map((v, i) => [i, v]))
    : null;
  return h("section", { class: "card", id: "run", "aria-labelledby": "run-title" },
    h("header", {}, h("div", {}, h("h2", { id: "run-title", tabindex: "-1" }, name(run)), configuration(run)),
      model.runs.length > 1 ? h("div", { class: "controls" }, select("run", model.runs.map((r) => ({ value: String(r.id), name: name(r) })), String(run.id), (id) => onselect(model.runs[id]))) : null),
    tiles(run), limitOf(run), h("div", { class: "grid" }, lanes, cyclesOf(run, half)), launches(run), seriesView(run, half), threadsView(run), sourceView(run));
}

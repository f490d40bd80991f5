// One run: what limits it and the evidence, its main numbers, its launches over time, threads and lines.
import { h, columnOf, select, format, percent, table } from "./dom.js";
import { chart, columns, panels } from "./chart.js";
import { histogram, stacked } from "./charts.js";
import { evidenceOf } from "./evidence.js";
import { intervalOf } from "./interval.js";
import { memoryChart } from "./memory.js";
import { cycleShares, partsIn } from "./model.js";
import { fullName, shortName } from "./names.js";
import { occupancyView } from "./occupancy.js";
import { roofline } from "./roofline.js";
import { chosenLaunch, seriesMap, seriesView, stallAreas } from "./series.js";
import { hotLines, showLine, sourceView } from "./source.js";
import { threadsView } from "./threads.js";
import { whyView } from "./why.js";

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
    ["L1 misses of loads", ratio(t.l1_misses - (t.l1_write_misses ?? 0), t.l1_accesses - (t.l1_writes ?? 0)), percent],
    ["L1 misses of stores", ratio(t.l1_write_misses, t.l1_writes), percent],
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
  const { line } = run.limit;
  const units = Object.entries(run.limit.share_of_peak);
  const most = Math.max(...units.map(([, share]) => share));
  return h("div", { class: "limit", "data-limit": run.limit.by },
    h("p", { class: "by" }, "Limited by ", h("strong", {}, run.limit.by)),
    h("p", {}, `${run.limit.evidence.charAt(0).toUpperCase()}${run.limit.evidence.slice(1)}. `, line && run.lines?.length ? h("button", { type: "button", class: "go", onclick: () => showLine(line) }, "show the line") : null),
    h("p", { class: "soft" }, `Next: ${nextOf(run)}.`),
    h("h3", { id: "peaks" }, "Share of each unit's peak"),
    h("dl", { class: "meters", "aria-labelledby": "peaks" }, units.map(([unit, share]) =>
      h("div", { class: share === most ? "most" : null }, h("dt", {}, unit), h("dd", {}, h("meter", { min: 0, max: 1, value: share, class: share >= 0.6 ? "busy" : null, "aria-label": unit }), h("span", {}, percent(share)))))));
}

/** The panel of the page that shows what an option of the command line adds to the terminal. */
const panelsOf = [["--lines", "the table Lines", (run) => run.lines?.length], ["--branches", "the column diverged of the table Lines", (run) => run.lines?.length], ["--html", "the chart of warps on each SM", (run) => chosenLaunch(run)]];

/** The next step of the terminal, with the page's panels in place of the options that made them. */
const nextOf = (run) => panelsOf.filter(([, , has]) => has(run)).reduce((text, [option, panel]) => text.replace(`${option} shows`, `${panel} shows`), run.limit.next);

function launches(run) {
  const kernels = run.kernels.filter((kernel) => kernel.timed !== false);
  if (kernels.length < 2) return null;
  const columns = [{ name: "launch", format: String }, { name: "kernel", left: true }, { name: "grid" }, { name: "block" }, { name: "cycles", format }, { name: "IPC", format }, { name: "SIMD efficiency", format: percent }, { name: "warp instructions", format }];
  const place = h("div", { class: "table", tabindex: "0" });
  const rows = () => kernels.map((k) => [k.launch, h("span", { title: fullName(k.name) }, shortName(k.name)), k.grid.join(" × "), k.block.join(" × "), k.cycles, k.ipc, k.simd_efficiency, k.warp_instructions]);
  return h("details", { ontoggle: () => place.childElementCount || place.append(table(columns, rows())) }, h("summary", {}, `all ${format(kernels.length)} launches`), place);
}

/** Where the cycles went in each launch, the longest first; a run of one launch has its own bar. */
function cyclesOf(run, width) {
  const MOST = 12;
  const kernels = run.kernels.map((kernel) => ({ total: kernel, name: `${kernel.launch}: ${shortName(kernel.name)}`, cycles: kernel.cycles ?? 0 })).sort((a, b) => b.cycles - a.cycles);
  const whole = { total: run.total, name: kernels.length > 1 ? "all launches" : run.program, cycles: run.total.cycles };
  const rows = [whole, ...(kernels.length > 1 ? kernels.slice(0, MOST) : [])].map((k) => ({ name: k.name, parts: cycleShares(k) })).filter((row) => row.parts.length);
  if (!rows.length) return null;
  const parts = partsIn(rows);
  return chart("Where the cycles went", kernels.length > MOST ? `of all SMs; the ${MOST} longest of ${kernels.length} launches` : kernels.length > 1 ? "of all SMs; the longest launch first" : "of all SMs",
    stacked({ rows, width, label: "where the cycles of each launch went", xLabel: "SM cycles, %" }),
    [{ name: "launch", left: true }, ...parts.map((part) => ({ name: part.name, format: percent }))], () => rows.map((row) => [row.name, ...parts.map((part) => row.parts.find((p) => p.key === part.key)?.share ?? 0)]), parts);
}

function lanesOf(run, width) {
  const last = run.lanes.findLastIndex((v) => v > 0);
  if (last < 0) return null;
  const most = run.peaks?.warp ?? 2 ** Math.ceil(Math.log2(Math.max(4, last)));
  const lanes = run.lanes.slice(0, Math.max(most, last) + 1);
  return chart("Active lanes", "instructions by the number of lanes that execute them", histogram({ values: lanes, width, label: "active lanes", unit: "share of instructions, %", xLabel: "active lanes" }),
    [{ name: "lanes", format: String }, { name: "instructions", format }], () => lanes.map((v, i) => [i, v]));
}

/** A chart of the longest launch over time, as evidence. */
function overTime(run, draw) {
  const launch = chosenLaunch(run);
  if (!launch) return null;
  const made = draw(launch.samples, intervalOf(launch.samples, launch.cycles));
  return made instanceof Node ? made : null;
}

/** Charts by the keys of evidence.js. */
const charts = {
  cycles: cyclesOf,
  lanes: lanesOf,
  memory: memoryChart,
  roofline,
  occupancy: occupancyView,
  lanesOverTime: (run) => overTime(run, (samples, time) => seriesMap(samples, "active_lanes", null, time)),
  warpsOverTime: (run) => overTime(run, (samples, time) => seriesMap(samples, samples.resident_groups ? "resident_groups" : "resident_blocks", null, time, run.peaks)),
  stallsOverTime: (run, width) => overTime(run, (samples, time) => stallAreas(samples, time, width)),
};
const always = ["cycles", "memory", "lanes", "roofline"];

export function runView(model, run, width, onselect) {
  const name = (r) => [r.program, r.machine, r.scheduler, r.divergence, /#\d+$/.exec(r.label)?.[0]].filter(Boolean).join(" · ");
  const half = columnOf(width - 2);
  const { charts: telling, lines } = evidenceOf(run.limit?.by);
  const evidence = run.limit ? telling.map((key) => charts[key](run, half)).filter(Boolean) : [];
  const hot = run.limit ? lines.map((kind) => hotLines(run, kind)).find(Boolean) : null;
  const rest = always.filter((key) => !run.limit || !telling.includes(key)).map((key) => charts[key](run, half));
  return h("section", { class: "card", id: "run", "aria-labelledby": "run-title" },
    h("header", {}, h("div", {}, h("h2", { id: "run-title", tabindex: "-1" }, name(run)), configuration(run),
      run.machine_description ? h("p", { class: "soft", "data-machine": "" }, `Machine: ${run.machine_description}`) : null),
      model.runs.length > 1 ? h("div", { class: "controls" }, select("run", model.runs.map((r) => ({ value: String(r.id), name: name(r) })), String(run.id), (id) => onselect(model.runs[id]))) : null),
    limitOf(run),
    evidence.length || hot ? h("section", { id: "evidence" }, h("h3", {}, "The evidence"), columns([...evidence, hot], width - 2)) : null,
    whyView(model, run, width, half),
    h("section", { id: "totals" }, h("h3", {}, "The whole run"), tiles(run), panels(rest, width - 2), telling.includes("occupancy") && run.limit ? null : occupancyView(run), launches(run)),
    seriesView(run, width - 2, half), sourceView(run), threadsView(run));
}

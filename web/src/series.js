// Time series of a launch: heat maps over SMs, channels and lanes, and lines.
import { h, format, legend, percent, select, short } from "./dom.js";
import { chart } from "./chart.js";
import { heatMap, palette, timeLines } from "./charts.js";
import { state, set } from "./state.js";

/** What is sampled. A count per cycle is divided by the cycles of an interval. */
const kinds = {
  thread_instructions: { title: "IPC of each SM over time", note: "thread instructions per cycle; SMs from top to bottom", row: "SM", unit: "IPC", isPerCycle: true },
  resident_groups: { title: "Warps on each SM over time", note: "groups in slots: what schedulers choose from", row: "SM", unit: "groups" },
  resident_blocks: { title: "Blocks on each SM over time", note: "at the end of each interval", row: "SM", unit: "blocks" },
  active_lanes: { title: "Active lanes over time", note: "instructions by their number of active lanes, 0 at the top", row: "active lanes:", unit: "instructions", height: 200 },
  channel_busy_cycles: { title: "DRAM channels over time", note: "share of cycles in which the channel moved data", row: "channel", unit: "of the cycles", isPerCycle: true },
};

/** Launches with a time series, longest first. */
export function seriesOf(run) {
  const launches = run.kernels.map((kernel) => ({ name: `launch ${kernel.launch}: ${kernel.name}`, cycles: kernel.cycles ?? 0, samples: kernel.samples })).filter((l) => l.samples?.thread_instructions?.length);
  const kept = (Array.isArray(run.samples) ? run.samples : []).map((samples, i) => ({ name: `launch ${samples.launch ?? i + 1}`, cycles: samples.every_cycles * samples.thread_instructions.length, samples }));
  return [...launches, ...kept].sort((a, b) => b.cycles - a.cycles);
}

const mean = (values) => (values.length ? values.reduce((sum, v) => sum + v, 0) / values.length : 0);

/** The heat map of one kind; null if the launch has none. */
export function seriesMap(samples, key, title) {
  const kind = kinds[key];
  const rows = samples[key];
  if (!kind || !rows?.[0]?.length) return null;
  const every = samples.every_cycles;
  const scale = kind.isPerCycle ? every : 1;
  const last = rows[0].length - 1;
  const at = (x, y) => rows[x][y] / scale;
  const sums = rows[0].map((_, y) => [y, mean(rows.map((row) => row[y] / scale)), rows.reduce((most, row) => Math.max(most, row[y] / scale), 0)]);
  const most = sums.reduce((m, [, , v]) => Math.max(m, v), 0);
  return chart(title ?? kind.title, title ? kind.title : kind.note, heatMap({
    columns: rows.length, rows: last + 1, at, height: kind.height, unit: kind.unit,
    across: [0, 0.25, 0.5, 0.75, 1].map((t) => short(t * rows.length * every)),
    down: last > 3 ? [0, Math.floor(last / 2), last] : last ? [0, last] : [0],
    text: (x, y) => `${kind.row} ${y}, cycles ${format(x * every)} to ${format((x + 1) * every)}\n${format(at(x, y))} ${kind.unit}`,
    label: `${kind.title}: ${last + 1} rows, ${rows.length} samples of ${every} cycles; most ${format(most)} ${kind.unit}`,
  }), [{ name: kind.row.replace(":", ""), format: String }, { name: "mean", format }, { name: "most", format }], sums);
}

/** How busy DRAM was, and how many of its accesses hit the open row. */
function dramLines(samples, width) {
  const every = samples.every_cycles;
  if (!samples.channel_busy_cycles?.[0]?.length) return null;
  const series = [{ name: "channels in use", color: palette[0], values: samples.channel_busy_cycles.map((row) => mean(row) / every) }];
  if (samples.row_accesses) series.push({ name: "row hits", color: palette[2], values: samples.row_accesses.map(([hits, others]) => (hits + others ? hits / (hits + others) : null)) });
  return h("div", {}, chart("DRAM: use and row hits", "share of cycles, share of accesses",
    timeLines({ series, every, width, label: "DRAM use and row hits over time", unit: "share", most: 1 }),
    [{ name: "cycle", format }, ...series.map((s) => ({ name: s.name, format: percent }))], series[0].values.map((_, i) => [(i + 1) * every, ...series.map((s) => s.values[i])])), legend(series));
}

export function seriesView(run, width) {
  const launches = seriesOf(run);
  if (!launches.length) return null;
  const launch = launches.find((l) => l.name === state.launch) ?? launches[0];
  const { samples } = launch;
  const keys = ["thread_instructions", samples.resident_groups ? "resident_groups" : "resident_blocks", "active_lanes", "channel_busy_cycles"];
  return h("section", { id: "time" },
    h("header", { class: "controls", style: "margin:1rem 0 .5rem" }, h("h3", {}, "Over time"),
      launches.length > 1 ? select("of", launches.map((l) => l.name), launch.name, (name) => set({ launch: name })) : h("span", { class: "soft" }, launch.name),
      h("span", { class: "soft" }, `${format(samples.thread_instructions.length)} samples of ${format(samples.every_cycles)} cycles`)),
    h("div", { class: "grid" }, keys.map((key) => seriesMap(samples, key)), dramLines(samples, width)));
}

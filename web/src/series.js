// A launch over time: what its SMs did, caches, DRAM and lines; an interval of it, chosen by the reader, in numbers.
import { h, format, percent, select } from "./dom.js";
import { chart, panels } from "./chart.js";
import { palette } from "./charts.js";
import { cycleLabels, heatMap } from "./heat.js";
import { intervalControls, intervalOf } from "./interval.js";
import { cycleKinds } from "./model.js";
import { shortName } from "./names.js";
import { state, set } from "./state.js";
import { timeAreas, timeLines } from "./time.js";
import { intervalView } from "./slice.js";

/** What is sampled. A count per cycle is divided by the cycles of an interval. */
const kinds = {
  thread_instructions: { title: "IPC of each SM over time", note: "thread instructions per cycle", row: "SM", unit: "IPC", isPerCycle: true },
  resident_groups: { title: "Warps on each SM over time", note: "groups in slots, from which schedulers choose", row: "SM", unit: "groups", end: (peaks) => peaks?.slots },
  resident_blocks: { title: "Blocks on each SM over time", note: "at the end of each interval", row: "SM", unit: "blocks" },
  active_lanes: { title: "Active lanes over time", note: "instructions by their number of active lanes, 0 at the top", row: "active lanes:", unit: "instructions", height: 200 },
  channel_busy_cycles: { title: "DRAM channels over time", note: "share of cycles in which the channel moved data", row: "channel", unit: "of the cycles", isPerCycle: true, end: () => 1 },
};

/** Launches with a time series, longest first. */
export function seriesOf(run) {
  const launches = run.kernels.map((kernel) => ({ id: String(kernel.launch), kernel, name: `launch ${kernel.launch}: ${shortName(kernel.name)}`, cycles: kernel.cycles ?? 0, samples: kernel.samples })).filter((l) => l.samples?.thread_instructions?.length);
  const kept = (Array.isArray(run.samples) ? run.samples : []).map((samples, i) => ({ id: String(samples.launch ?? i + 1), name: `launch ${samples.launch ?? i + 1}`, cycles: samples.every_cycles * samples.thread_instructions.length, samples }));
  return [...launches, ...kept].sort((a, b) => b.cycles - a.cycles);
}

const mean = (values) => (values.length ? values.reduce((sum, v) => sum + v, 0) / values.length : 0);
const total = (values) => values.reduce((sum, v) => sum + v, 0);

/** The cycles in which each channel moved data, by interval. Heddle counts a transfer in the interval in which it begins, so the
 * cycles that an interval has no room for belong to the next one. */
function busyCycles({ channel_busy_cycles: rows, every_cycles: every }) {
  const left = rows?.[0]?.map(() => 0);
  return rows?.map((row) => row.map((cycles, k) => {
    const busy = Math.min(every, cycles + left[k]);
    left[k] += cycles - busy;
    return busy;
  }));
}

/** The SMs, channels or lanes to draw: SMs that never had a group are left out. */
function rowsOf(samples, key) {
  const every = samples[key][0].map((_, y) => y);
  if (kinds[key].row !== "SM") return every;
  const has = (name, y) => samples[name]?.some((row) => row[y] > 0);
  const used = every.filter((y) => has("thread_instructions", y) || has("resident_groups", y) || has("resident_blocks", y));
  return used.length ? used : every;
}

/** The heat map of one kind; null if the launch has none. Figures have their own title, and no interval. */
export function seriesMap(samples, key, title, time, peaks) {
  const kind = kinds[key];
  const rows = key === "channel_busy_cycles" ? busyCycles(samples) : samples[key];
  if (!kind || !rows?.[0]?.length) return null;
  const every = samples.every_cycles;
  const scale = kind.isPerCycle ? every : 1;
  const shown = rowsOf(samples, key);
  const at = (x, y) => rows[x][shown[y]] / scale;
  const most = rows.reduce((m, row) => row.reduce((a, b) => Math.max(a, b), m), 0) / scale;
  if (!most) return title ? null : { zero: kind.title };
  const last = shown.length - 1;
  const note = shown.length < rows[0].length ? `${kind.note}; the ${shown.length} of ${rows[0].length} SMs that had work` : kind.note;
  const sums = () => shown.map((y) => [y, mean(rows.map((row) => row[y] / scale)), rows.reduce((m, row) => Math.max(m, row[y] / scale), 0)]);
  return chart(title ?? kind.title, title ? kind.title : note, heatMap({
    columns: rows.length, rows: last + 1, at, height: kind.height, unit: kind.unit, time, end: kind.end?.(peaks),
    across: cycleLabels(rows.length * every),
    down: (last > 3 ? [0, Math.floor(last / 2), last] : last ? [0, last] : [0]).map((y) => ({ at: (y + 0.5) / (last + 1), name: shown[y] })),
    text: (x, y) => `${kind.row} ${shown[y]}, cycles ${format(x * every)} to ${format((x + 1) * every)}\n${format(at(x, y))} ${kind.unit}`,
    label: `${kind.title}: ${last + 1} rows, ${rows.length} samples of ${every} cycles; most ${format(most)} ${kind.unit}`,
  }), [{ name: kind.row.replace(":", ""), format: String }, { name: "mean", format }, { name: "most", format }], sums);
}

/** Lines of shares over time. */
function shareLines(title, note, series, time, width) {
  const known = series.filter((s) => s.values?.some((v) => v > 0));
  if (!known.length) return series.some((s) => s.values) ? { zero: title } : null;
  return chart(title, note, timeLines({ series: known, time, width, label: title, unit: "share, 0 to 1", most: 1 }),
    [{ name: "cycle", format }, ...known.map((s) => ({ name: s.name, format: percent }))], () => known[0].values.map((_, i) => [(i + 1) * time.every, ...known.map((s) => s.values[i])]), known);
}

const ratio = ([part, rest]) => (part + rest ? part / (part + rest) : null);

function dramLines(samples, time, width) {
  return shareLines("DRAM over time", "cycles in which channels move data, accesses that hit the open row", [
    { name: "channels in use", color: palette[0], values: samples.channel_busy_cycles?.[0]?.length ? busyCycles(samples).map((row) => mean(row) / time.every) : undefined },
    { name: "row hits", color: palette[2], values: samples.row_accesses?.map(ratio) }], time, width);
}

const quotients = (parts, wholes) => parts?.map((part, i) => (wholes[i] ? part / wholes[i] : null));

/** How busy the crossbar is, and how many requests to the caches miss. */
function cacheLines(samples, peaks, time, width) {
  return shareLines("L1, L2 and crossbar over time", "requests that miss, and the crossbar's share of its peak", [
    { name: "L1 misses", color: palette[0], values: quotients(samples.l1_misses, samples.l1_accesses) },
    { name: "L2 misses", color: palette[5], values: quotients(samples.l2_misses, samples.l2_accesses) },
    { name: "crossbar in use", color: palette[2], values: peaks?.crossbar_bytes ? samples.crossbar_bytes?.map((bytes) => Math.min(1, bytes / (peaks.crossbar_bytes * time.every))) : undefined }], time, width);
}

/** Which lines the warps are at over time: a row for each line, in the order of the file. */
function lineMap(run, samples, time) {
  const { lines, cycles } = samples.lines ?? {};
  if (!lines?.length) return null;
  const order = lines.map((_, k) => k).sort((a, b) => (lines[a].file === lines[b].file ? placeIn(lines[a]) - placeIn(lines[b]) : (lines[a].file ?? "") < (lines[b].file ?? "") ? -1 : 1));
  const text = (line) => (run.sources?.[line.file]?.[line.source_line] ?? "").trim();
  const every = time.every;
  return chart("Lines over time", "cycles of warps at each line, waiting or issuing; the lines that take most, in the order of the program", heatMap({
    columns: cycles.length, rows: order.length, at: (x, y) => cycles[x][order[y]] / every, unit: "warps", time, height: order.length * 17,
    rowNames: order.map((k) => `${nameOf(lines[k])} ${text(lines[k])}`),
    across: cycleLabels(cycles.length * every),
    text: (x, y) => `${nameOf(lines[order[y]])} ${text(lines[order[y]])}\ncycles ${format(x * every)} to ${format((x + 1) * every)}: ${format(cycles[x][order[y]] / every)} warps`,
    label: `cycles of warps at ${order.length} lines over time`,
  }), [{ name: "line", left: true }, { name: "cycles", format }], () => order.map((k) => [`${nameOf(lines[k])} ${text(lines[k])}`, total(cycles.map((row) => row[k]))]));
}

const placeIn = (line) => line.source_line ?? line.line;
export const nameOf = (line) => (!line.file ? `PTX ${line.line}` : `${line.file.split("/").pop()}${line.source_line ? `:${line.source_line}` : ", no line"}`);

/** Where the SM cycles of each interval went: one row of [active, stalls...] per sample. */
export function stallAreas(samples, time, width, height) {
  if (!samples.sm_cycles?.length) return null;
  const rows = samples.sm_cycles;
  const series = cycleKinds.map((part, k) => ({ ...part, values: rows.map((row) => row[k] / (total(row) || 1)) })).filter((s) => s.values.some((v) => v > 0));
  return chart("Where the cycles went over time", "of all SMs: an instruction issued, or the reason that none did",
    timeAreas({ series, time, width, height, label: "where the cycles went over time", unit: "SM cycles, %" }),
    [{ name: "cycle", format }, ...series.map((s) => ({ name: s.name, format: percent }))], () => rows.map((_, i) => [(i + 1) * time.every, ...series.map((s) => s.values[i])]), series);
}

export function chosenLaunch(run) {
  const launches = seriesOf(run);
  return launches.find((l) => l.id === state.launch) ?? launches[0];
}

/** The charts of a launch over time. */
export function seriesView(run, width, half) {
  const launches = seriesOf(run);
  if (!launches.length) return null;
  const launch = chosenLaunch(run);
  const { samples } = launch;
  const time = intervalOf(samples, launch.cycles);
  const keys = ["thread_instructions", samples.resident_groups ? "resident_groups" : "resident_blocks", "active_lanes", "channel_busy_cycles"];
  return h("section", { id: "time" },
    h("header", { class: "controls", style: "margin:1rem 0 .5rem" }, h("h3", {}, "Over time"),
      launches.length > 1 ? select("of", launches.map((l) => ({ value: l.id, name: l.name })), launch.id, (id) => set({ launch: id, from: null, to: null })) : h("span", { class: "soft" }, launch.name),
      h("span", { class: "soft" }, `${format(samples.thread_instructions.length)} samples of ${format(samples.every_cycles)} cycles`)),
    intervalControls(time),
    stallAreas(samples, time, width),
    intervalView(run, launch, time, half),
    panels([...keys.slice(0, 3).map((key) => seriesMap(samples, key, null, time, run.peaks)), cacheLines(samples, run.peaks, time, half), dramLines(samples, time, half), seriesMap(samples, keys[3], null, time)], width),
    lineMap(run, samples, time));
}

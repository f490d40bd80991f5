// An interval of a launch in numbers, beside the whole launch: cycles, warps, requests and lines; and the command that shows it instruction by instruction.
import { h, format, percent, table } from "./dom.js";
import { cycleKinds } from "./model.js";
import { nameOf } from "./series.js";

const total = (values) => values.reduce((sum, v) => sum + v, 0);
const ratio = (a, b) => (b ? a / b : null);

/** The sums of a launch's samples from `first` to `end`. */
function sums(samples, first, end, cycles) {
  const part = (key) => samples[key]?.slice(first, end);
  const all = (key) => (samples[key] ? total(part(key).map((row) => (Array.isArray(row) ? total(row) : row))) : null);
  const groups = part("resident_groups")?.flat().filter((n) => n > 0) ?? [];
  const lanes = part("active_lanes");
  return {
    cycles,
    ipc: all("thread_instructions") / cycles,
    lanes: lanes ? ratio(total(lanes.map((row) => total(row.map((n, k) => n * k)))), total(lanes.map(total))) : null,
    sms: part("resident_groups") ? total(part("resident_groups").map((row) => row.filter((n) => n > 0).length)) / (end - first) : null,
    groups: groups.length ? total(groups) / groups.length : null,
    l1: all("l1_accesses"), l1Misses: ratio(all("l1_misses"), all("l1_accesses")),
    l2: all("l2_accesses"), l2Misses: ratio(all("l2_misses"), all("l2_accesses")),
    crossbar: all("crossbar_bytes"),
    dram: samples.channel_busy_cycles?.[0]?.length ? all("channel_busy_cycles") / (cycles * samples.channel_busy_cycles[0].length) : null,
    parts: samples.sm_cycles ? cycleKinds.map((_, k) => total(part("sm_cycles").map((row) => row[k]))) : null,
    lines: samples.lines ? samples.lines.lines.map((_, k) => total(samples.lines.cycles.slice(first, end).map((row) => row[k]))) : null,
    lineTotal: samples.lines ? total(samples.lines.cycles.slice(first, end).map(total)) : 0,
  };
}

/** The cycle of the timeline at which a launch begins. */
function startOf(run, launch) {
  const work = run.timeline?.find((w) => w.launch === Number(launch.id));
  if (work) return work.first;
  return total(run.kernels.filter((k) => k.launch < Number(launch.id)).map((k) => k.cycles ?? 0));
}

const quoted = (word) => (/^[\w./:=,+-]+$/.test(word) ? word : `'${word}'`);

function command(run, launch, time) {
  const start = startOf(run, launch);
  const machine = run.machine.replace(/ \(.*\)$/s, "");
  return ["heddle run", quoted(run.program), run.size ? `--size ${run.size}` : null, `-m ${quoted(machine)}`, ...(run.set ?? []).map((change) => `--set ${quoted(change)}`), `-s ${quoted(run.scheduler)}`, `-d ${quoted(run.divergence)}`,
    `--trace timeline.json --trace-cycles ${Math.round(start + time.from)}..${Math.round(start + time.to)}`].filter(Boolean).join(" ");
}

function numbersOf(part, whole) {
  const rows = [
    ["cycles", (s) => s.cycles, format], ["IPC", (s) => s.ipc, format], ["active lanes", (s) => s.lanes, format], ["SMs with warps", (s) => s.sms, format], ["warps on such an SM", (s) => s.groups, format],
    ["L1 requests", (s) => s.l1, format], ["L1 misses", (s) => s.l1Misses, percent], ["L2 requests", (s) => s.l2, format], ["L2 misses", (s) => s.l2Misses, percent], ["DRAM channels in use", (s) => s.dram, percent],
    ...(whole.parts ? cycleKinds.map((kind, k) => [`SM cycles: ${kind.name}`, (s) => ratio(s.parts[k], total(s.parts)), percent]) : []),
  ].filter(([, of]) => of(whole) !== null && of(whole) !== 0);
  return rows.map(([name, of, show]) => [name, ...(part ? [show(of(part))] : []), show(of(whole))]);
}

function linesOf(run, samples, part, whole) {
  if (!whole.lines) return null;
  const main = part ?? whole;
  const text = (line) => (run.sources?.[line.file]?.[line.source_line] ?? "").trim();
  const order = samples.lines.lines.map((_, k) => k).filter((k) => main.lines[k] > 0).sort((a, b) => main.lines[b] - main.lines[a]).slice(0, 8);
  const columns = [{ name: "line", left: true }, ...(part ? [{ name: "interval", format: percent }] : []), { name: "launch", format: percent }];
  return h("figure", { class: "hot" }, h("figcaption", {}, "Its lines", h("small", {}, "share of the cycles of all warps, waiting or issuing")), h("div", { class: "table", tabindex: "0" }, table(columns, order.map((k) => [
    h("span", {}, nameOf(samples.lines.lines[k]), h("span", { class: "code", title: text(samples.lines.lines[k]) }, text(samples.lines.lines[k]))), ...(part ? [ratio(part.lines[k], part.lineTotal)] : []), ratio(whole.lines[k], whole.lineTotal)]))));
}

export function intervalView(run, launch, time, half) {
  const { samples } = launch;
  const whole = sums(samples, 0, time.n, launch.cycles || time.n * time.every);
  const part = time.isAll ? null : sums(samples, time.first, time.end, time.to - time.from);
  const columns = [{ name: "", left: true }, ...(part ? [{ name: "interval" }] : []), { name: "launch" }];
  const hint = h("div", {}, h("p", { class: "soft" }, "The timeline of ", part ? "this interval" : "this launch", ", instruction by instruction: run this and open the file in ui.perfetto.dev."), h("code", { class: "command", tabindex: "0" }, command(run, launch, time)));
  const body = [h("div", { class: "grid" }, h("figure", {}, h("figcaption", {}, part ? `Cycles ${format(time.from)} to ${format(time.to)}` : "The launch in numbers", h("small", {}, part ? "the interval beside the whole launch" : "choose an interval to see it beside the launch")), h("div", { class: "table", tabindex: "0" }, table(columns, numbersOf(part, whole)))), linesOf(run, samples, part, whole)), hint];
  return part ? h("section", { id: "slice" }, body) : h("details", { id: "slice" }, h("summary", {}, "the launch in numbers, its lines and its timeline"), body);
}

// Why one run is faster than another: cycles by cause as a waterfall, launches, and lines with their stalls and lanes.
import * as Plot from "@observablehq/plot";
import { h, format, percent, select, table } from "./dom.js";
import { chart, columns } from "./chart.js";
import { base, barAxis, activate, markCut, wrap } from "./charts.js";
import { linesOf, placeOf, stallsOf } from "./lines.js";
import { cyclePartsOf, isTimed, lineStalls, workOf } from "./model.js";
import { shortName } from "./names.js";
import { state, set } from "./state.js";

const signed = (v) => `${v < 0 ? "−" : "+"}${format(Math.abs(Math.round(v)))}`;

const issued = { issue: { name: "issue", color: "#2e9e6b" }, divergence: { name: "divergence", color: "#8ccfae" } };

/** Cycles of the whole run by cause: the SM cycles of each part, divided by the number of SMs. Where heddle says how many of the active
 * cycles were lost to idle lanes, they are a cause of their own. */
function causes(run) {
  const sms = run.total.sm_cycles / run.total.cycles;
  const split = run.limit?.sm_cycles;
  const parts = cyclePartsOf(run.total).flatMap((part) => (part.key === "active_cycles" && split?.divergence !== undefined ? Object.entries(issued).map(([key, about]) => ({ key, ...about, cycles: split[key] })) : [part]));
  return new Map(parts.map((part) => [part.key, { ...part, cycles: part.cycles / sms }]));
}

/** The causes of the difference, the largest first: what b spends more (or less) than a. They add up to the difference of the cycles. */
export function differences(a, b) {
  const [ofA, ofB] = [causes(a), causes(b)];
  return [...new Set([...ofA.keys(), ...ofB.keys()])].map((key) => {
    const part = ofA.get(key) ?? ofB.get(key);
    return { key, name: part.name, color: part.color, a: ofA.get(key)?.cycles ?? 0, b: ofB.get(key)?.cycles ?? 0 };
  }).map((d) => ({ ...d, change: d.b - d.a })).filter((d) => Math.abs(d.change) >= 0.5).sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
}

const words = { active: "issuing instructions", issue: "issuing instructions", divergence: "on idle lanes of instructions", memory: "waiting for memory", dependency: "waiting for results", barrier: "waiting at barriers", fetch: "waiting for instructions", structural: "waiting for a unit", "launch start": "starting launches", tail: "in the tail, after an SM's last block", "SM without a block": "on SMs without a block", empty: "without a warp" };

function sentence(a, b, parts) {
  const [more, less] = [parts.filter((p) => p.change > 0), parts.filter((p) => p.change < 0)];
  const isFaster = b.total.cycles < a.total.cycles;
  const name = (p) => `${format(Math.abs(Math.round(p.change)))} ${words[p.name] ?? p.name}`;
  const [main, against] = isFaster ? [less, more] : [more, less];
  const difference = Math.abs(b.total.cycles - a.total.cycles);
  if (!difference) return "Both runs take the same number of cycles.";
  return [`${b.target} takes ${format(difference)} cycles ${isFaster ? "fewer" : "more"} than ${a.target} (${percent(difference / a.total.cycles)}): `,
    `${isFaster ? "it saves" : "it spends"} ${main.slice(0, 2).map(name).join(" and ")}`, against.length ? `, and ${isFaster ? "spends" : "saves"} ${name(against[0])}` : "", ". ",
    lanesSentence(a, b)].join("").replaceAll(" %", "\u00a0%");
}

function lanesSentence(a, b) {
  const lanes = (run) => run.total.thread_instructions / run.total.warp_instructions;
  const change = lanes(b) - lanes(a);
  if (Math.abs(change) < 0.05) return `An instruction has ${lanes(b).toFixed(1)} active lanes in both.`;
  return `An instruction has ${lanes(b).toFixed(1)} active lanes instead of ${lanes(a).toFixed(1)}, so there are ${percent(Math.abs(b.total.warp_instructions / a.total.warp_instructions - 1))} ${b.total.warp_instructions < a.total.warp_instructions ? "fewer" : "more"} instructions.`;
}

/** From the cycles of a, step by step, to those of b. */
function waterfall(a, b, parts, width) {
  let at = a.total.cycles;
  const steps = parts.map((p) => ({ ...p, from: at, to: (at += p.change), label: signed(p.change) }));
  const rows = [{ name: a.target, from: 0, to: a.total.cycles, color: "var(--soft)", label: format(a.total.cycles), isEnd: true }, ...steps, { name: b.target === a.target ? `${b.target} ` : b.target, from: 0, to: b.total.cycles, color: "var(--soft)", label: format(b.total.cycles), isEnd: true }];
  const axis = barAxis(rows.map((r) => r.to), {});
  const low = axis.isCut ? axis.domain[0] : 0;
  const left = Math.min(0.36 * width, 20 + 6.8 * Math.max(...rows.map((r) => r.name.length)));
  const most = Math.floor((left - 12) / 6.4);
  const height = rows.length * 26 + 50;
  const data = rows.map((r) => ({ ...r, from: r.isEnd ? low : r.from }));
  const svg = Plot.plot({
    ...base,
    width,
    height,
    marginTop: 4,
    marginLeft: left,
    marginRight: 76,
    marginBottom: 44,
    x: { grid: true, domain: [low, axis.domain[1]], label: "cycles", labelAnchor: "center", tickFormat: "~s", ticks: Math.max(3, Math.floor(width / 110)) },
    y: { domain: rows.map((r) => r.name), label: null, tickSize: 0, padding: 0.2, tickFormat: (name) => (name.length > most ? `${name.slice(0, most - 1)}…` : name) },
    marks: [
      Plot.barX(data, { y: "name", x1: "from", x2: "to", fill: "color", rx: 1.5 }),
      Plot.text(data, { y: "name", x: (d) => Math.max(d.from, d.to), text: "label", textAnchor: "start", dx: 5, fontSize: 11.5, fill: "currentColor" }),
    ],
  });
  if (axis.isCut) markCut(svg, false, { left, top: 4, bottom: height - 44 });
  activate(svg, 'g[aria-label="bar"] rect', data, (d) => (d.isEnd ? `${d.name}: ${d.label} cycles` : `${d.name}: ${signed(d.change)} cycles\n${format(Math.round(d.a))} in ${a.target}, ${format(Math.round(d.b))} in ${b.target}`));
  return chart(`Cycles by cause, from ${a.target} to ${b.target}`, `SM cycles divided by the SMs; the causes add up to the difference${axis.isCut ? "; the axis does not begin at 0" : ""}`, wrap(svg, "cycles by cause"),
    [{ name: "cause", left: true }, { name: a.target, format }, { name: b.target, format }, { name: "difference", format: signed }], parts.map((p) => [p.name, Math.round(p.a), Math.round(p.b), p.change]));
}

function launchTable(a, b) {
  const ofB = new Map(b.kernels.map((k) => [k.launch, k]));
  const both = a.kernels.filter((k) => k.cycles && ofB.get(k.launch)?.cycles).map((k) => ({ a: k, b: ofB.get(k.launch), change: ofB.get(k.launch).cycles - k.cycles }));
  if (both.length < 2) return null;
  const all = b.total.cycles - a.total.cycles;
  both.sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
  return h("figure", {}, h("figcaption", {}, "By launch", h("small", {}, "the launches that differ most")), h("div", { class: "table", tabindex: "0" },
    table([{ name: "launch", left: true }, { name: a.target, format }, { name: b.target, format }, { name: "difference", format: signed }, { name: "of all", format: (v) => (all ? percent(v / all) : "–") }],
      both.slice(0, 12).map((x) => [`${x.a.launch}: ${shortName(x.a.name)}`, x.a.cycles, x.b.cycles, x.change, x.change]))));
}

/** Lines by the change of their stalls, with the lanes that regrouping won or lost at them. */
function lineTable(a, b) {
  if (!a.lines?.length || !b.lines?.length) return null;
  const ofA = new Map(a.lines.flatMap((listing) => linesOf(listing, a.sources).map((line) => [`${listing.kernel} ${line.key}`, line])));
  const rows = b.lines.flatMap((listing) => linesOf(listing, b.sources).map((line) => ({ a: ofA.get(`${listing.kernel} ${line.key}`), b: line })))
    .filter((x) => x.a && (x.a.executed || x.b.executed)).map((x) => ({ ...x, change: stallsOf(x.b) - stallsOf(x.a) }));
  const lanes = (l) => (l.executed ? l.active_lanes / l.executed : null);
  const some = rows.filter((x) => x.change || x.a.executed !== x.b.executed).sort((x, y) => Math.abs(y.change) - Math.abs(x.change)).slice(0, 14);
  if (!some.length) return null;
  const mostly = (x) => {
    const most = lineStalls.map((stall) => ({ name: stall.name, change: (x.b[stall.key] ?? 0) - (x.a[stall.key] ?? 0) })).reduce((p, q) => (Math.abs(q.change) > Math.abs(p.change) ? q : p));
    return most.change ? `${most.name} ${signed(most.change)}` : "";
  };
  const one = (v) => (v === null ? "–" : v.toFixed(1));
  return h("figure", {}, h("figcaption", {}, "By line", h("small", {}, `cycles in which warps waited at the line, and lanes of its instructions: ${a.target} → ${b.target}`)), h("div", { class: "table", tabindex: "0" },
    table([{ name: "line", left: true }, { name: "stalls", format: signed }, { name: "mostly", left: true }, { name: "lanes", format: String }, { name: "won or lost", format: (v) => (v === null || Math.abs(v) < 0.05 ? "" : `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(1)}`) }, { name: "executed", format: String }, { name: "text", left: true }],
      some.map((x) => [placeOf(x.b), x.change, mostly(x), `${one(lanes(x.a))} → ${one(lanes(x.b))}`, lanes(x.a) === null || lanes(x.b) === null ? null : lanes(x.b) - lanes(x.a), `${format(x.a.executed)} → ${format(x.b.executed)}`, h("span", { class: "code clip", title: x.b.text }, x.b.text)]))));
}

/** The run to compare with: the reader's choice, the baseline, or for the baseline itself the fastest other run. */
function otherOf(run, others) {
  const chosen = others.find((r) => String(r.id) === state.against);
  if (chosen) return chosen;
  return run.base && run.base !== run && others.includes(run.base) ? run.base : others.reduce((x, y) => (y.total.cycles < x.total.cycles ? y : x));
}

export function whyView(model, run, width, half) {
  const others = model.runs.filter((r) => r !== run && isTimed(r) && workOf(r) === workOf(run) && r.total.sm_cycles);
  if (!others.length || !isTimed(run) || !run.total.sm_cycles) return null;
  const a = otherOf(run, others);
  const parts = differences(a, run);
  const byLaunch = launchTable(a, run);
  return h("section", { id: "why" },
    h("header", { class: "controls", style: "margin:1rem 0 .3rem" }, h("h3", {}, run.total.cycles <= a.total.cycles ? "Why it is faster" : "Why it is slower"),
      select("than", others.map((r) => ({ value: String(r.id), name: r.target })), String(a.id), (id) => set({ against: id }))),
    h("p", { "data-why": "" }, sentence(a, run, parts)),
    columns([parts.length ? waterfall(a, run, parts, byLaunch ? half : width) : null, byLaunch], width), lineTable(a, run));
}

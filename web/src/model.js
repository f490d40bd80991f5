// What the page shows: the documents that heddle wrote, as one list of runs and one of experiments.
import { learnNames } from "./names.js";

const stallColors = { memory: "#d1495b", dependency: "#edae49", barrier: "#8d6cab", fetch: "#3e8eb5", structural: "#7a5c45", empty: "#a9b0ba", ready: "#a9b0ba" };

/** What a word alone does not say. An SM without an issue for whose warps the unit was taken is structural, and each of these warps is ready. */
const meanings = { structural: "a warp was ready, but its unit was taken", ready: "it could issue, but another warp did, or its unit was taken (structural)" };

/** A stall by the word that heddle has for it (src/stats/stalls.def); the page's data has the words. */
const stall = (word) => ({ key: `stall_${word}`, name: word, meaning: meanings[word], color: stallColors[word] ?? "#667" });

/** What the cycles of SMs are counted as, in the order of the tables of `heddle run` and of time series. load() adds the stalls. */
export const cycleKinds = [{ key: "active_cycles", name: "active", color: "#2e9e6b" }];

/** The same in finer parts: cycles without a warp are those of SMs that never had a block, of the launch's start and of its tail. */
const idleParts = [
  { key: "start", name: "launch start", color: "#b7c9d9", get: (t) => t.empty_start + (t.fetch_start ?? 0) },
  { key: "tail", name: "tail", color: "#8f98a5", get: (t) => t.empty_tail },
  { key: "unused", name: "SM without a block", color: "#d5d9de", get: (t) => t.empty_unused },
];

/** The parts of the SM cycles of a run or launch, in cycles. */
export function cyclePartsOf(total) {
  const isFine = typeof total.empty_unused === "number";
  const parts = cycleKinds.filter((kind) => !isFine || kind.key !== "stall_empty").map((kind) => ({ ...kind, cycles: (total[kind.key] ?? 0) - (isFine && kind.key === "stall_fetch" ? total.fetch_start ?? 0 : 0) }));
  return isFine ? [...parts, ...idleParts.map(({ get, ...part }) => ({ ...part, cycles: get(total) }))] : parts;
}

/** The stalls of a line of a kernel, from load(). */
export const lineStalls = [];

/** What runs can be chosen by. */
export const dimensions = [
  { key: "program", name: "program" },
  { key: "machine", name: "machine" },
  { key: "scheduler", name: "scheduler" },
  { key: "divergence", name: "divergence" },
  { key: "size", name: "size" },
];

function sumLanes(kernels) {
  const sum = [];
  for (const kernel of kernels ?? [])
    (kernel.active_lanes ?? []).forEach((count, lanes) => (sum[lanes] = (sum[lanes] ?? 0) + count));
  return sum;
}

/** A policy of the user's own by the name of its file: /home/me/mine.so:length=8 is mine:length=8. */
const policyName = (name) => (name ?? "").replace(/^[^:]*\/([^/:]+)\.so(?=$|:)/, "$1");

function makeRun(from, id) {
  const machine = from.functional ? "functional" : from.machine ?? "";
  return {
    ...from,
    id,
    machine: from.set?.length ? `${machine} (${from.set.join(", ")})` : machine,
    scheduler: policyName(from.scheduler),
    divergence: policyName(from.divergence),
    size: from.size ?? "",
    total: from.total ?? {},
    kernels: (from.kernels ?? []).map((kernel, i) => ({ ...kernel, launch: kernel.launch ?? i + 1 })),
    lanes: from.active_lanes ?? sumLanes(from.kernels),
    outcome: from.outcome ?? from.stopped ?? (from.error ? "error" : "done"),
    speedup: null,
  };
}

export function value(run, key) {
  if (key === "speedup") return run.speedup;
  const value = run.total[key];
  return typeof value === "number" ? value : null;
}

/** The parts of a run's SM cycles, which add up to 1; none without time. */
export function cycleShares(run) {
  const parts = cyclePartsOf(run.total);
  const all = parts.reduce((sum, part) => sum + part.cycles, 0);
  return all ? parts.map((part) => ({ ...part, share: part.cycles / all })) : [];
}

/** The parts that some of the rows have, for their legend. */
export function partsIn(rows) {
  const parts = new Map();
  for (const row of rows) for (const part of row.parts) if (part.share > 0) parts.set(part.key, part);
  const order = [...cycleKinds, ...idleParts].map((part) => part.key);
  return [...parts.values()].sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key));
}

/** Names runs by the keys in which they differ, and those of one group that do not differ by a number. */
function nameBy(runs, keys, groupOf, name) {
  const differing = varying(runs, keys);
  const seen = new Map();
  for (const run of runs) {
    const words = differing.map((key) => run[key]).filter(Boolean);
    const label = words.length ? words.join(" · ") : run.scheduler || run.machine || run.program;
    const key = `${groupOf(run)}\n${label}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    run[name] = seen.get(key) > 1 ? `${label} #${seen.get(key)}` : label;
  }
}

/** label: the name of a run among those of its program. target: what it ran on, among runs of the same work. */
function nameRuns(runs) {
  nameBy(runs, ["machine", "scheduler", "divergence", "arguments", "size"], (run) => run.program, "label");
  nameBy(runs, ["machine", "scheduler", "divergence"], workOf, "target");
}

/** Runs of the same work can be compared: the program with its size and arguments. */
export const workOf = (run) => [run.program, run.size, run.arguments ?? ""].join("\n");

/** The runs of each work, in their order. */
function byWork(runs) {
  const works = new Map();
  for (const run of runs) works.set(workOf(run), [...(works.get(workOf(run)) ?? []), run]);
  return [...works.values()];
}

export const isTimed = (run) => run.outcome === "done" && run.total.cycles > 0;

/** The targets that speed-ups can be over, and the first of all works if they have it in common. */
export function baselines(runs) {
  const compared = byWork(runs).map((work) => work.filter(isTimed)).filter((work) => work.length > 1);
  const firsts = new Set(compared.map((work) => work[0].target));
  return { targets: [...new Set(compared.flat().map((run) => run.target))], first: firsts.size === 1 ? [...firsts][0] : null };
}

/** Sets the speed-up of each run: the cycles of the work's run on the target `baseline`, or of its first one that came to its end, divided by its own. */
export function compareWith(runs, baseline) {
  const isKnown = baselines(runs).targets.includes(baseline);
  for (const work of byWork(runs)) {
    const base = work.find((run) => (isKnown ? run.target === baseline : isTimed(run)));
    const isCompared = work.filter(isTimed).length > 1;
    for (const run of work) run.base = base;
    for (const run of work) run.speedup = isCompared && base && isTimed(base) && isTimed(run) ? base.total.cycles / run.total.cycles : null;
  }
}

export function load(data) {
  const runs = [];
  const experiments = [];
  const validations = [];
  cycleKinds.push(...data.stalls.sm.map(stall));
  lineStalls.push(...data.stalls.line.map(stall));
  const add = (run) => {
    const made = makeRun(run, runs.length);
    runs.push(made);
    return made;
  };
  for (const document of data.documents) {
    if (document.validation) {
      const own = document.runs.map(add);
      validations.push({ ...document.validation, points: document.validation.points.map((p) => ({ ...p, run: own[p.run] })) });
    } else if (document.runs && !document.experiments) document.runs.forEach(add);
    else if (document.experiments) {
      const first = runs.length;
      (document.runs ?? []).forEach(add);
      for (const experiment of document.experiments)
        experiments.push({
          ...experiment,
          values: experiment.values.map((v) => ({ ...v, run: v.run === undefined ? undefined : runs[first + v.run] })),
        });
    } else if (document.total) add(document);
  }
  nameRuns(runs);
  learnNames(data.names ?? {}, runs.flatMap((run) => [...run.kernels.map((k) => k.name), ...(run.lines ?? []).map((l) => l.kernel), ...(run.threads ?? []).map((t) => t.kernel)]));
  return { runs, experiments, validations, meanings: data.meanings ?? {}, version: data.heddle, title: data.title };
}

/** The keys in which runs differ. */
function varying(runs, keys) {
  return keys.filter((key) => new Set(runs.map((run) => run[key])).size > 1);
}

/** Every number of a run's total that some run has, in their order. */
export function metrics(runs) {
  const keys = new Set();
  if (runs.some((run) => typeof run.speedup === "number")) keys.add("speedup");
  for (const run of runs) for (const [key, v] of Object.entries(run.total)) if (typeof v === "number") keys.add(key);
  return [...keys];
}

export function geometricMean(values) {
  return values.length && values.every((v) => v > 0) ? Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length) : null;
}

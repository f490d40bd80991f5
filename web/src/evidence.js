// The charts and lines that show the limit of a run.
import { stallsOf } from "./lines.js";

const byStalls = { title: "Lines that wait most", note: "share of the cycles in which warps waited; a warp waits at the line that it will issue next", column: "stalls", isStalls: true, of: stallsOf };

const byTraffic = { title: "Lines that fetch most", note: "requests that missed the L1", column: "misses", of: (l) => l.misses ?? 0, detailName: "sectors per request", detail: (l) => (l.accesses ? ((l.sectors ?? l.requests) / l.accesses).toFixed(1) : "") };

const byLostLanes = { title: "Lines that lose most lanes", note: "lanes of issued instructions that did no work", column: "lost lanes", of: (l) => 32 * l.executed - l.active_lanes, detailName: "lanes of 32", detail: (l) => (l.active_lanes / l.executed).toFixed(1) };

/** The executed instructions of a line that have conflicts: a line of CUDA has others too. */
const conflicting = (line) => (line.parts ?? [line]).reduce((sum, part) => sum + (part.bank_conflicts ? part.executed : 0), 0);

const byConflicts = { title: "Lines with most bank conflicts", note: "passes of shared memory beyond those that as many bytes need", column: "conflicts", of: (l) => l.bank_conflicts ?? 0, detailName: "per access", detail: (l) => (l.bank_conflicts / conflicting(l)).toFixed(1) };

const byExecutions = { title: "Lines that are executed most", note: "instructions issued", column: "executed", of: (l) => l.executed, detailName: "lanes of 32", detail: (l) => (l.active_lanes / l.executed).toFixed(1) };

/** For each limit of src/report/advice.def the charts that show it, the most telling first, and the lines. */
const shown = [
  [/bank conflict|shared memory|unit/, ["memory", "cycles"], byConflicts],
  [/bandwidth/, ["memory", "roofline"], byTraffic],
  [/uncoalesced|atomics/, ["memory", "cycles"], byTraffic],
  [/divergen/, ["lanes", "lanesOverTime"], byLostLanes],
  [/few blocks|tail/, ["warpsOverTime", "cycles"], byExecutions],
  [/occupancy/, ["occupancy", "cycles", "warpsOverTime"], byStalls],
  [/^issue|special|precision/, ["cycles", "lanes"], byExecutions],
  [/./, ["cycles", "stallsOverTime"], byStalls],
];

/** The evidence of a limit: the keys of its charts, and the kinds of lines of which the first that has any is shown. */
export function evidenceOf(limit) {
  const [, charts, lines] = shown.find(([words]) => words.test(limit ?? "any"));
  return { charts, lines: [lines, byStalls] };
}

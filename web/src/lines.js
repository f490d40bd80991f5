// The lines of a run's kernels with their counters, as PTX or summed by line of CUDA.
import { lineStalls } from "./model.js";

const counted = ["executed", "active_lanes", "diverged", "accesses", "requests", "sectors", "misses", "bank_conflicts"];

export const stallsOf = (line) => lineStalls.reduce((sum, s) => sum + (line[s.key] ?? 0), 0);

/** The stall that a line waits in most; null if it never waits. */
export function mainStall(line) {
  const most = lineStalls.reduce((a, b) => ((line[b.key] ?? 0) > (line[a.key] ?? 0) ? b : a));
  return line[most.key] ? most : null;
}

/** Sums the lines of PTX by their line of CUDA, in the order of the files; each sum keeps its PTX in `parts`. */
export function asCuda(lines, sources) {
  const sums = new Map();
  const counters = [...counted, ...lineStalls.map((s) => s.key)];
  for (const line of lines) {
    if (!line.source_line) continue;
    const key = `${line.file}:${line.source_line}`;
    const sum = sums.get(key) ?? { key, line: line.source_line, file: line.file, text: sources?.[line.file]?.[line.source_line] ?? "", parts: [] };
    for (const counter of counters) if (line[counter] !== undefined) sum[counter] = (sum[counter] ?? 0) + line[counter];
    sum.parts.push(line);
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
}

export const hasCuda = (listing) => listing.lines.some((line) => line.source_line);

/** The lines of a kernel, of CUDA if they are known. */
export const linesOf = (listing, sources) => (hasCuda(listing) ? asCuda(listing.lines, sources) : listing.lines.map((line) => ({ ...line, key: `${line.line}` })));

/** Where a line is: file:line of CUDA, or the line of the PTX. */
export const placeOf = (line) => (line.file && line.parts ? `${line.file.split("/").pop()}:${line.line}` : line.line ? `PTX ${line.line}` : "–");

/** The kernel whose lines take most, by stalls and executions. */
export function heaviest(listings) {
  const weight = (k) => k.lines.reduce((sum, l) => sum + stallsOf(l) + l.executed, 0);
  return listings.reduce((a, b) => (weight(a) >= weight(b) ? a : b));
}

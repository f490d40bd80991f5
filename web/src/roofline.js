// The roofline: how fast a run executes, and how fast it could at most, by the instructions that it executes for each byte of a level.
import * as Plot from "@observablehq/plot";
import { format, percent } from "./dom.js";
import { chart } from "./chart.js";
import { activate, base, palette, wrap } from "./charts.js";

const levelsOf = { shared: 4, L1: 0, L2: 5, DRAM: 2 }; // with their colours in the palette

export function roofline(run, width) {
  const { memory, peaks, total: t } = run;
  if (!memory?.levels || !peaks?.issue || !t.cycles || !memory.operations) return null;
  const speed = memory.operations / t.cycles;
  const points = memory.levels.filter((level) => level.name in levelsOf && level.bytes > 0).map((level) => {
    const peak = peaks[`${level.name.toLowerCase()}_bytes`];
    const x = memory.operations / level.bytes;
    return { name: level.name, x, y: speed, peak, roof: Math.min(peaks.issue, x * peak), color: palette[levelsOf[level.name]] };
  });
  if (!points.length) return null;
  const ridge = (p) => peaks.issue / p.peak;
  const low = Math.min(...points.map((p) => Math.min(p.x, ridge(p)))) / 2;
  const high = Math.max(...points.map((p) => Math.max(p.x, ridge(p)))) * 2;
  const bottom = Math.min(speed / 2, ...points.map((p) => p.roof / 2));
  const roofs = points.flatMap((p) => [{ ...p, x: Math.max(low, bottom / p.peak), y: Math.max(low, bottom / p.peak) * p.peak }, { ...p, x: ridge(p), y: peaks.issue }, { ...p, x: high, y: peaks.issue }]);
  const steps = (from, to) => {
    const all = [];
    for (let at = 10 ** Math.floor(Math.log10(from)); at <= to; at *= 10) all.push(...[1, 2, 5].map((n) => n * at).filter((v) => v >= from && v <= to));
    return all.length > 7 ? all.filter((v) => /^1/.test(v.toExponential())) : all;
  };
  const svg = Plot.plot({
    ...base,
    width,
    height: 270,
    marginTop: 28,
    marginBottom: 42,
    marginRight: 24,
    x: { type: "log", domain: [low, high], grid: true, label: "thread instructions per byte", labelAnchor: "center", ticks: steps(low, high), tickFormat: "~g" },
    y: { type: "log", domain: [bottom, peaks.issue * 1.4], grid: true, label: "thread instructions per cycle", ticks: steps(bottom, peaks.issue * 1.4), tickFormat: "~s" },
    marks: [
      Plot.line(roofs, { x: "x", y: "y", z: "name", stroke: (d) => d.color, strokeWidth: 2 }),
      Plot.link(points, { x1: "x", x2: "x", y1: "y", y2: "roof", stroke: (d) => d.color, strokeDasharray: "3 3" }),
      Plot.dot(points, { x: "x", y: "y", r: 5.5, fill: (d) => d.color, stroke: "var(--card)" }),
    ],
  });
  activate(svg, 'g[aria-label="dot"] circle', points, (p) => `${p.name}: ${format(p.x)} thread instructions per byte\n${format(p.y)} per cycle, ${percent(p.y / p.roof)} of the roof, ${format(p.roof)}`);
  return chart("Roofline", "a point for each level of memory, and its roof: the bandwidth, or all lanes at work; a point near its roof is limited by it", wrap(svg, "roofline"),
    [{ name: "level", left: true }, { name: "instructions per byte", format }, { name: "per cycle", format }, { name: "roof", format }, { name: "of the roof", format: percent }], points.map((p) => [p.name, p.x, p.y, p.roof, p.y / p.roof]), points);
}

// The roofline: how fast a run executes, and how fast it could at most, by the instructions that it executes for each byte of a level.
import * as Plot from "@observablehq/plot";
import { format, percent } from "./dom.js";
import { chart } from "./chart.js";
import { activate, base, palette, wrap } from "./charts.js";

export function roofline(run, width) {
  const { levels, total: t } = run;
  if (!levels || !t.cycles || !t.thread_instructions) return null;
  const speed = t.thread_instructions / t.cycles;
  const names = ["L1", "L2", "DRAM"].filter((name) => levels[name]?.bytes > 0);
  const points = names.map((name, i) => {
    const x = t.thread_instructions / levels[name].bytes;
    const roof = Math.min(levels.lanes, x * levels[name].peak);
    return { name, x, y: speed, roof, color: palette[[0, 5, 2][i]], peak: levels[name].peak };
  });
  if (!points.length) return null;
  const low = Math.min(...points.map((p) => Math.min(p.x, levels.lanes / p.peak))) / 3;
  const high = Math.max(...points.map((p) => Math.max(p.x, levels.lanes / p.peak))) * 3;
  const bottom = Math.min(speed / 3, ...points.map((p) => p.roof / 3));
  const roofs = points.flatMap((p) => [{ ...p, x: Math.max(low, bottom / p.peak), y: Math.max(low, bottom / p.peak) * p.peak }, { ...p, x: levels.lanes / p.peak, y: levels.lanes }, { ...p, x: high, y: levels.lanes }]);
  const svg = Plot.plot({
    ...base,
    width,
    height: 270,
    marginTop: 28,
    marginBottom: 42,
    marginRight: 24,
    x: { type: "log", domain: [low, high], grid: true, label: "thread instructions per byte", labelAnchor: "center", ticks: 5, tickFormat: "~g" },
    y: { type: "log", domain: [bottom, levels.lanes * 1.3], grid: true, label: "thread instructions per cycle", ticks: 4, tickFormat: "~s" },
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

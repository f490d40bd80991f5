// Charts over the cycles of a launch: lines, and areas of parts of a whole.
import * as Plot from "@observablehq/plot";
import { h, format, hideTip, percent, showTip } from "./dom.js";
import { base } from "./charts.js";
import { pick } from "./interval.js";

const LEFT = 52;
const RIGHT = 14;

/** Puts a chart into a frame in which an interval can be chosen, and shows text(sample) at the pointer. */
function frameOf(svg, width, time, label, text) {
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const frame = h("div", { class: "frame chart" }, svg);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width - LEFT / width) / (1 - (LEFT + RIGHT) / width);
    const i = Math.min(Math.max(Math.floor(share * time.n), 0), time.n - 1);
    showTip(`cycles ${format(i * time.every)} to ${format((i + 1) * time.every)}\n${text(i)}`, event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hideTip);
  pick(frame, LEFT / width, 1 - RIGHT / width, time);
  return frame;
}

const options = (width, height, time, unit, domain) => ({
  ...base,
  width,
  height,
  marginTop: 24,
  marginBottom: 36,
  marginLeft: LEFT,
  marginRight: RIGHT,
  x: { label: "cycle", labelAnchor: "center", tickFormat: "~s", domain: [0, time.n * time.every], ticks: Math.max(3, Math.floor(width / 90)) },
  y: { grid: true, label: unit, domain, tickFormat: "~s", zero: true, ticks: 5 },
});

/** Several lines over time. series: [{name, color, values}] with one value per sample. */
export function timeLines({ series, time, width, label, unit, most }) {
  const data = series.flatMap((s) => s.values.map((v, i) => ({ cycle: (i + 0.5) * time.every, value: v, name: s.name, color: s.color })));
  const svg = Plot.plot({
    ...options(width, 210, time, unit, most === undefined ? undefined : [0, most]),
    marks: [Plot.line(data, { x: "cycle", y: (d) => d.value ?? NaN, z: "name", stroke: (d) => d.color, strokeWidth: 1.5 }), Plot.ruleY([0])],
  });
  return frameOf(svg, width, time, label, (i) => series.slice(0, 12).map((s) => `${s.name}: ${format(s.values[i])}`).join("\n"));
}

/** Parts of a whole over time, which add up to 1. */
export function timeAreas({ series, time, width, label, unit, height = 230 }) {
  const data = [];
  series.forEach((s, k) => s.values.forEach((v, i) => {
    const below = series.slice(0, k).reduce((sum, other) => sum + other.values[i], 0);
    for (const edge of [i, i + 1]) data.push({ cycle: edge * time.every, low: 100 * below, high: 100 * (below + v), name: s.name, color: s.color });
  }));
  const svg = Plot.plot({
    ...options(width, height, time, unit, [0, 100]),
    marks: [Plot.areaY(data, { x: "cycle", y1: "low", y2: "high", z: "name", fill: (d) => d.color }), Plot.ruleY([0])],
  });
  return frameOf(svg, width, time, label, (i) => series.filter((s) => s.values[i] > 0).map((s) => `${s.name}: ${percent(s.values[i])}`).join("\n"));
}

// Data flow: SMs, L1, crossbar, L2 and DRAM with arrows as wide as their bytes, hit rates, and shared memory.
import { h, format, percent, short } from "./dom.js";
import { chart } from "./chart.js";

const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function bytesText(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  for (; bytes >= 999.5 && i < units.length - 1; i++) bytes /= 1000;
  return `${i ? bytes.toPrecision(3) : Math.round(bytes)} ${units[i]}`;
}

const BUSY = 0.6; // of its peak: requests queue
const BOX = 70;
const TALL = 96;

/** The traffic between neighbours, from the SMs outwards. The requests are those that the farther one gets. */
function flows(levels) {
  const flow = (level, name, requests) => (levels.has(level) ? [{ level, name, bytes: levels.get(level).bytes, share: levels.get(level).share_of_peak, requests: levels.get(requests)?.requests }] : []);
  return [...flow("L1", "SMs and L1", "L1"), ...flow("crossbar", "L1 and L2, through the crossbar", "L2"), ...flow("DRAM", "L2 and DRAM", "DRAM")];
}

/** A double arrow from x1 to x2 around y, as thick as its bytes. */
function arrow(x1, x2, y, thick, isBusy) {
  const [head, half] = [Math.min(14, (x2 - x1) / 3), thick / 2];
  const wide = half + 5;
  const points = [[x1, y], [x1 + head, y - wide], [x1 + head, y - half], [x2 - head, y - half], [x2 - head, y - wide], [x2, y], [x2 - head, y + wide], [x2 - head, y + half], [x1 + head, y + half], [x1 + head, y + wide]];
  return draw("polygon", { points: points.map((p) => p.join(",")).join(" "), fill: isBusy ? "var(--bad)" : "var(--accent)", "fill-opacity": 0.75 });
}

function box(x, y, lines, isBusy) {
  return draw("g", {}, draw("rect", { x, y, width: BOX, height: TALL, rx: 8, fill: "var(--bg)", stroke: isBusy ? "var(--bad)" : "var(--line)", "stroke-width": isBusy ? 2 : 1 }),
    ...lines.filter(Boolean).map((line, i, all) => draw("text", { x: x + BOX / 2, y: y + TALL / 2 + 5 + 16 * (i - (all.length - 1) / 2), "text-anchor": "middle", "font-weight": i ? 400 : 600, "font-size": i ? 11 : 13 }, line)));
}

/** Shared memory below the SMs, with its bank conflicts. */
function sharedBox(x, y, width, { shared_passes: passes, bank_conflicts: conflicts }, level) {
  const isBusy = conflicts > 0.3 * passes || level?.share_of_peak >= BUSY;
  return [draw("path", { d: `M${x + BOX / 2},${y - 27} V${y - 3}`, stroke: isBusy ? "var(--bad)" : "var(--accent)", "stroke-width": 3 }),
    draw("rect", { x, y, width: Math.min(width - 4, 420), height: 58, rx: 8, fill: "var(--bg)", stroke: isBusy ? "var(--bad)" : "var(--line)", "stroke-width": isBusy ? 2 : 1 }),
    draw("text", { x: x + 12, y: y + 23, "font-size": 13, "font-weight": 600 }, `shared memory${level ? `: ${percent(level.share_of_peak)} of its peak` : ""}`),
    draw("text", { x: x + 12, y: y + 43, "font-size": 11 }, `${short(passes)} passes, ${percent(conflicts / passes)} of them because of bank conflicts`)];
}

export function memoryChart(run, width) {
  if (!run.memory?.levels) return null;
  const t = run.total;
  const levels = new Map(run.memory.levels.map((level) => [level.name, level]));
  const list = flows(levels);
  const most = Math.max(0, ...list.map((f) => f.bytes));
  const hasShared = t.shared_passes > 0;
  if (!most && !hasShared) return { zero: "Data flow" };
  const hits = (level) => (typeof levels.get(level)?.hit_rate === "number" ? percent(levels.get(level).hit_rate) : "–");
  const boxes = [["SMs", short(t.memory_instructions), "accesses"], ["L1", hits("L1"), "hits"], ["L2", hits("L2"), "hits"], ["DRAM", hits("DRAM"), "row hits"]];
  const inner = Math.max(400, width);
  const gap = (inner - 4 - 4 * BOX) / 3;
  const top = 38;
  const middle = top + TALL / 2;
  const height = top + TALL + (hasShared ? 92 : 8);
  const at = (i) => 2 + i * (BOX + gap);
  const svg = draw("svg", { width: inner, height, viewBox: `0 0 ${inner} ${height}`, "font-size": 11, role: "img" });
  list.forEach((f, i) => {
    const x = at(i) + BOX;
    const label = (text, y, isBold) => draw("text", { x: x + gap / 2, y, "text-anchor": "middle", "font-size": 11, "font-weight": isBold ? 600 : 400 }, text);
    svg.append(arrow(x + 3, x + gap - 3, middle, Math.max(1.5, (44 * f.bytes) / (most || 1)), f.share >= BUSY), label(bytesText(f.bytes), middle - 56, true), label(percent(f.share), middle - 42), label(f.requests === undefined ? "" : short(f.requests), middle + 54));
  });
  const isBusy = (name) => levels.get(name)?.share_of_peak >= BUSY;
  boxes.slice(0, list.length + 1).forEach((lines, i) => svg.append(box(at(i), top, lines, isBusy(lines[0]))));
  if (hasShared) svg.append(...sharedBox(at(0), top + TALL + 30, inner, t, levels.get("shared")));
  svg.setAttribute("aria-label", `${list.map((f) => `between ${f.name}: ${bytesText(f.bytes)}, ${percent(f.share)} of the peak, ${format(f.requests)} requests`).join("; ")}; L1 hits ${hits("L1")}, L2 hits ${hits("L2")}, DRAM row hits ${hits("DRAM")}`);
  return chart("Data flow", "between neighbours: bytes (the width of the arrow) and their share of the peak above it, requests below it; red from 60 %",
    h("div", { class: inner > width ? "scroll" : "chart" }, svg),
    [{ name: "level", left: true }, { name: "bytes", format: bytesText }, { name: "share of the peak", format: percent }, { name: "requests", format }, { name: "hits", format: percent }], run.memory.levels.map((l) => [l.name, l.bytes, l.share_of_peak, l.requests, l.hit_rate]));
}

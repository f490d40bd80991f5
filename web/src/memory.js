// The way of the data: SMs, L1, L2 and DRAM with arrows as wide as their bytes, hit rates, and shared memory.
import { h, format, percent } from "./dom.js";
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
  for (; bytes >= 1000 && i < units.length - 1; i++) bytes /= 1000;
  return `${i ? bytes.toPrecision(3) : Math.round(bytes)} ${units[i]}`;
}

/** The traffic between neighbours, from the SMs outwards: the bytes, the requests and the share of the level's peak. */
function flows(run) {
  const { total: t, levels } = run;
  const flow = (level, name, requests, what) => (levels[level] ? [{ name, bytes: levels[level].bytes, share: levels[level].bytes / (levels[level].peak * t.cycles), requests, what }] : []);
  return [...flow("L1", "SMs and L1", t.l1_accesses, "requests"), ...flow("L2", "L1 and L2, through the crossbar", t.l2_accesses, "requests"), ...flow("DRAM", "L2 and DRAM", (t.dram_reads ?? 0) + (t.dram_writes ?? 0), "accesses")];
}

const BOX = 70;
const TALL = 96;

/** A double arrow from x1 to x2 around y, as thick as its bytes. */
function arrow(x1, x2, y, thick, isBusy) {
  const [head, half] = [Math.min(14, (x2 - x1) / 3), thick / 2];
  const wide = half + 5;
  const points = [[x1, y], [x1 + head, y - wide], [x1 + head, y - half], [x2 - head, y - half], [x2 - head, y - wide], [x2, y], [x2 - head, y + wide], [x2 - head, y + half], [x1 + head, y + half], [x1 + head, y + wide]];
  return draw("polygon", { points: points.map((p) => p.join(",")).join(" "), fill: isBusy ? "var(--bad)" : "var(--accent)", "fill-opacity": 0.75 });
}

function box(x, y, lines) {
  return draw("g", {}, draw("rect", { x, y, width: BOX, height: TALL, rx: 8, fill: "var(--bg)", stroke: "var(--line)" }),
    ...lines.filter(Boolean).map((line, i, all) => draw("text", { x: x + BOX / 2, y: y + TALL / 2 + 5 + 16 * (i - (all.length - 1) / 2), "text-anchor": "middle", "font-weight": i ? 400 : 600, "font-size": i ? 11 : 13 }, line)));
}

const share = (part, whole) => (whole ? `${percent(part / whole)}` : "–");

export function memoryChart(run, width) {
  if (!run.levels || !run.total.cycles) return null;
  const t = run.total;
  const list = flows(run);
  const most = Math.max(...list.map((f) => f.bytes));
  if (!list.length || !most) return list.length ? { zero: "The way of the data" } : null;
  const conflicts = t.bank_conflicts ?? 0;
  const inner = Math.max(430, width);
  const gap = (inner - 4 - 4 * BOX) / 3;
  const top = 38;
  const middle = top + TALL / 2;
  const height = t.shared_passes ? top + TALL + 96 : top + TALL + 8;
  const svg = draw("svg", { width: inner, height, viewBox: `0 0 ${inner} ${height}`, "font-size": 11, role: "img" });
  const at = (i) => 2 + i * (BOX + gap);
  const boxes = [["SMs", `${format(t.memory_instructions)}`, "accesses"], ["L1", share(t.l1_accesses - t.l1_misses, t.l1_accesses), "hits"], ["L2", share(t.l2_accesses - t.l2_misses, t.l2_accesses), "hits"], ["DRAM", share(t.row_hits, t.row_hits + t.row_conflicts), "row hits"]];
  list.forEach((f, i) => {
    const x = at(i) + BOX;
    const busy = f.share >= 0.6;
    const label = (text, y, bold) => draw("text", { x: x + gap / 2, y, "text-anchor": "middle", "font-size": 11, "font-weight": bold ? 600 : 400 }, text);
    svg.append(arrow(x + 3, x + gap - 3, middle, Math.max(1.5, (44 * f.bytes) / most), busy), label(bytesText(f.bytes), middle - 56, true), label(`${percent(f.share)}`, middle - 42), label(`${compact(f.requests)}`, middle + 54));
  });
  boxes.slice(0, list.length + 1).forEach((lines, i) => svg.append(box(at(i), top, lines)));
  if (t.shared_passes) {
    const y = top + TALL + 30;
    svg.append(draw("path", { d: `M${at(0) + BOX / 2},${top + TALL + 3} V${y - 3}`, stroke: conflicts > 0.3 * t.shared_passes ? "var(--bad)" : "var(--accent)", "stroke-width": 3 }),
      draw("rect", { x: at(0), y, width: Math.min(inner - 4, 330), height: 56, rx: 8, fill: "var(--bg)", stroke: "var(--line)" }),
      draw("text", { x: at(0) + 12, y: y + 23, "font-size": 13, "font-weight": 600 }, "shared memory"),
      draw("text", { x: at(0) + 12, y: y + 42 }, `${compact(t.shared_passes)} passes, ${share(conflicts, t.shared_passes)} of them bank conflicts`));
  }
  const label = `${list.map((f) => `between ${f.name}: ${bytesText(f.bytes)}, ${percent(f.share)} of the peak, ${format(f.requests)} ${f.what}`).join("; ")}; L1 hits ${boxes[1][1]}, L2 hits ${boxes[2][1]}, DRAM row hits ${boxes[3][1]}`;
  svg.setAttribute("aria-label", label);
  return chart("The way of the data", "between neighbours: bytes (the width of the arrow) and their share of the peak above it, requests below; red from 60 %",
    h("div", { class: inner > width ? "scroll" : "chart" }, svg),
    [{ name: "between", left: true }, { name: "bytes", format: bytesText }, { name: "share of the peak", format: percent }, { name: "requests", format }], list.map((f) => [f.name, f.bytes, f.share, f.requests]));
}

function compact(value) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
}

// The kinds of charts, over Observable Plot. A chart is an SVG whose bars can be reached by keyboard, or a canvas for pictures with a
// value per pixel.
import * as Plot from "@observablehq/plot";
import { h, format, short, tip, hideTip } from "./dom.js";

export const palette = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#a463f2", "#3ca951", "#ff8ab7", "#9c6b4e", "#97bbf5", "#9498a0", "#b83b5e", "#1f7a6d", "#c9b458", "#5d4a9e", "#e8946a", "#3a4a66"];

export function colorOf(names) {
  return new Map(names.map((name, i) => [name, palette[i % palette.length]]));
}

export const base = { style: { background: "transparent", fontFamily: "inherit" }, marginLeft: 56, marginTop: 14 };

/** Makes the shapes of one mark answer to pointer and keyboard. data: what the mark was given. */
export function activate(svg, selector, data, text, onselect, isSelected) {
  for (const shape of svg.querySelectorAll(selector)) {
    const datum = data[shape.__data__];
    if (!datum) continue;
    tip(shape, () => text(datum));
    shape.setAttribute("aria-label", text(datum));
    if (!onselect || !datum.run) continue;
    shape.setAttribute("tabindex", "0");
    shape.setAttribute("role", "link");
    shape.style.cursor = "pointer";
    shape.dataset.run = datum.run.id;
    if (isSelected?.(datum)) shape.classList.add("selected");
    shape.addEventListener("click", () => (hideTip(), onselect(datum)));
    shape.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        hideTip();
        onselect(datum);
      }
    });
  }
  return svg;
}

export function wrap(svg, label, isWide) {
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", label);
  return h("div", { class: isWide ? "scroll" : "chart" }, svg);
}

/** A number in three digits, on a bar. */
function brief(value) {
  return Math.abs(value) >= 1000 ? short(value) : String(Number(value.toPrecision(3)));
}

/** As many digits as it takes to tell the values of bars apart, three to five. */
function digitsFor(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const difference = high > 0 ? (high - low) / high : 1;
  return difference > 0 && difference < 0.02 ? (difference < 0.002 ? 5 : 4) : 3;
}

/** The axis of bars. Where all values are near each other it begins near the least of them, unless isFromZero: isCut says so. */
export function barAxis(values, { isFromZero, with: also } = {}) {
  const all = [...values, also].filter((v) => typeof v === "number" && Number.isFinite(v));
  if (!all.length) return { domain: undefined, isCut: false, canCut: false };
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const canCut = low > 0.8 * high && high > low && low > 0;
  if (!canCut || isFromZero) return { domain: [Math.min(0, low), Math.max(0, high)], isCut: false, canCut };
  return { domain: [low - 0.4 * (high - low), high + 0.05 * (high - low)], isCut: true, canCut };
}

/** Marks an axis that does not begin at 0: two waves across the feet of the bars. */
export function markCut(svg, isVertical, { left, right, top, bottom }) {
  const [from, to] = isVertical ? [left, right] : [top, bottom];
  let wave = "";
  for (let at = from, n = 0; at <= to; at += 6, n++) {
    const off = n % 2 ? 2.5 : -2.5;
    wave += `${n ? "L" : "M"}${isVertical ? `${at},${bottom - 9 + off}` : `${left + 9 + off},${at}`}`;
  }
  const path = (attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [key, value] of Object.entries({ d: wave, fill: "none", "pointer-events": "none", ...attributes })) made.setAttribute(key, value);
    svg.append(made);
  };
  path({ stroke: "var(--soft)", "stroke-width": 5 });
  path({ stroke: "var(--card)", "stroke-width": 3, class: "cut" });
}

const shownOf = (data) => data.filter((d) => d.value !== null && d.value !== undefined);
const opacityOf = (d) => (d.run && d.run.outcome !== "done" ? 0.35 : 1);

/** Bars of one group, a row for each: data as for groupedBars. */
function barRows({ data, bars, colors, width, label, unit, axis, line, text, onselect, isSelected }) {
  const shown = shownOf(data);
  const printed = data.filter((d) => typeof d.paper === "number");
  const digits = digitsFor(shown.map((d) => d.value));
  const left = Math.min(0.4 * width, 12 + 6.6 * Math.max(4, ...bars.map((bar) => bar.length)));
  const most = Math.floor((left - 12) / 6.4);
  const height = bars.length * 26 + 54;
  const svg = Plot.plot({
    ...base,
    width,
    height,
    marginTop: 4,
    marginLeft: left,
    marginRight: 52,
    marginBottom: 46,
    x: { grid: true, label: unit ?? null, labelAnchor: "center", domain: axis.domain, tickFormat: tickFormat(axis) },
    y: { domain: bars, label: null, tickSize: 0, padding: 0.2, tickFormat: (bar) => (bar.length > most ? `${bar.slice(0, most - 1)}…` : bar) },
    marks: [
      Plot.barX(shown, { y: "bar", x1: axis.domain?.[0] > 0 ? axis.domain[0] : 0, x2: "value", fill: (d) => colors.get(d.bar), fillOpacity: opacityOf, rx: 1.5 }),
      line === undefined ? null : Plot.ruleX([line], { stroke: "currentColor", strokeDasharray: "3 3", strokeOpacity: 0.6 }),
      Plot.text(shown, { y: "bar", x: "value", text: (d) => (Math.abs(d.value) >= 10000 ? short(d.value) : String(Number(d.value.toPrecision(digits)))), textAnchor: "start", dx: 5, fontSize: 11.5, fill: "currentColor" }),
      Plot.dot(printed, { y: "bar", x: "paper", symbol: "diamond", r: 4.5, fill: "var(--card)", stroke: "var(--ink)", strokeWidth: 1.5 }),
    ],
  });
  if (axis.isCut) markCut(svg, false, { left, top: 4, bottom: height - 46 });
  activate(svg, 'g[aria-label="bar"] rect', shown, text, onselect, isSelected);
  activate(svg, 'g[aria-label="dot"] path', printed, text, onselect);
  return wrap(svg, label);
}

/** Ticks of a cut axis need the digits in which they differ. */
const tickFormat = (axis) => (axis?.isCut ? (v) => String(Number(v.toPrecision(4))) : short);

/** Grouped bars. data: {group, bar, value, paper?, run?, low?, high?}; a paper's number is a mark on the bar. */
export function groupedBars(options) {
  const { data, groups, bars, colors, width, label, unit, xLabel, axis, line, text, onselect, isSelected, height = 300 } = options;
  if (groups.length === 1 && bars.length > 1 && !data.some((d) => typeof d.low === "number")) return barRows(options);
  const least = groups.length * (bars.length * 9 + 14) + 70;
  const inner = Math.max(least, width);
  const isLong = groups.some((g) => 6.6 * g.length > (inner - 70) / groups.length - 8);
  const shown = shownOf(data);
  const printed = data.filter((d) => typeof d.paper === "number");
  const bottom = (isLong ? Math.min(110, 26 + 4.2 * Math.max(...groups.map((g) => g.length))) : 30) + (xLabel ? 18 : 6);
  const hasValues = (inner - 70) / groups.length / (bars.length + 1) >= 36 && !printed.length;
  const spread = shown.filter((d) => typeof d.low === "number" && d.high > d.low);
  const digits = digitsFor(shown.map((d) => d.value));
  const whole = height + bottom - 40;
  const foot = axis?.domain?.[0] > 0 ? axis.domain[0] : 0;
  const svg = Plot.plot({
    ...base,
    width: inner,
    height: whole,
    marginTop: 26,
    marginBottom: bottom,
    fx: { domain: groups, label: xLabel ?? null, labelAnchor: "center", labelOffset: bottom - 6, tickRotate: isLong ? -35 : 0, padding: 0.12 },
    x: { domain: bars, axis: null, padding: bars.length * groups.length < 8 ? 0.3 : 0.08 },
    y: { grid: true, label: unit ?? null, domain: axis?.domain, tickFormat: tickFormat(axis), nice: !axis?.isCut },
    marks: [
      Plot.barY(shown, { fx: "group", x: "bar", y1: foot, y2: "value", fill: (d) => colors.get(d.bar), fillOpacity: opacityOf, rx: 1.5 }),
      line === undefined ? null : Plot.ruleY([line], { stroke: "currentColor", strokeDasharray: "3 3", strokeOpacity: 0.6 }),
      hasValues ? Plot.text(shown.filter((d) => d.value > 0), { fx: "group", x: "bar", y: "value", dy: -7, text: (d) => (digits > 3 ? String(Number(d.value.toPrecision(digits))) : brief(d.value)), fontSize: 11, fill: "currentColor", stroke: "var(--card)", strokeWidth: 3 }) : null,
      Plot.ruleX(spread, { fx: "group", x: "bar", y1: "low", y2: "high", stroke: "currentColor" }),
      Plot.dot(printed, { fx: "group", x: "bar", y: "paper", symbol: "diamond", r: 4.5, fill: "var(--card)", stroke: "var(--ink)", strokeWidth: 1.5 }),
      Plot.ruleY([foot], { stroke: "currentColor" }),
    ],
  });
  if (axis?.isCut) markCut(svg, true, { left: 56, right: inner - 20, bottom: whole - bottom });
  activate(svg, 'g[aria-label="bar"] rect', shown, text, onselect, isSelected);
  activate(svg, 'g[aria-label="dot"] path', printed, text, onselect);
  return wrap(svg, label, inner > width);
}

/** Lines over an axis of numbers, or of names. data: {x, line, value, paper?, run?}. */
export function lines({ data, points, pointNames, colors, width, label, unit, domain, xLabel, isNumeric, text, onselect, height = 260 }) {
  const shown = data.filter((d) => typeof d.value === "number");
  const printed = data.filter((d) => typeof d.paper === "number");
  const options = { x: "x", stroke: (d) => colors.get(d.line), z: "line" };
  const isLog = isNumeric && points.length > 3 && Math.min(...points) > 0 && Math.max(...points) / Math.min(...points) >= 16;
  const svg = Plot.plot({
    ...base,
    width,
    height,
    marginTop: 26,
    marginBottom: 42,
    marginRight: 20,
    x: isNumeric ? { type: isLog ? "log" : "linear", base: isLog ? 2 : undefined, label: xLabel, labelAnchor: "center", ticks: points, tickFormat: (x) => pointNames[points.indexOf(x)] ?? "" }
                 : { type: "point", domain: points, label: xLabel, labelAnchor: "center" },
    y: { grid: true, label: unit ?? null, domain, tickFormat: short, nice: true },
    marks: [
      Plot.line(shown, { ...options, y: "value", strokeWidth: 2 }),
      Plot.dot(shown, { x: "x", y: "value", r: 4, fill: (d) => colors.get(d.line) }),
      Plot.dot(printed, { x: "x", y: "paper", symbol: "diamond", r: 5, fill: "var(--card)", stroke: (d) => colors.get(d.line), strokeWidth: 2 }),
    ],
  });
  activate(svg, 'g[aria-label="dot"] circle', shown, text, onselect);
  activate(svg, 'g[aria-label="dot"] path', printed, text, onselect);
  return wrap(svg, label);
}

/** Points over two logarithmic axes of one range, with the diagonal, and twice and half of it dashed.
 * data: {x, y, name, color, run}; a name that is not empty stands beside its point. */
export function scatter({ data, width, label, xLabel, yLabel, text, onselect, isSelected }) {
  const all = data.flatMap((d) => [d.x, d.y]);
  const power = (v) => 10 ** Math.floor(Math.log10(v) + 1e-9);
  const [low, high] = [0.9 * Math.min(...all), 1.12 * Math.max(...all)];
  const decades = [];
  for (let at = power(low); at <= high; at *= 10) decades.push(...(high / low < 100 ? [at, 2 * at, 5 * at] : [at]).filter((v) => v >= low && v <= high));
  const line = (factor, options) => Plot.line([[Math.max(low, low / factor), Math.max(low, low * factor)], [Math.min(high, high / factor), Math.min(high, high * factor)]], { ...options, stroke: "currentColor" });
  const axis = { type: "log", domain: [low, high], grid: true, ticks: decades, tickFormat: "~s", labelAnchor: "center", labelArrow: "none" };
  const names = (some, anchor) => Plot.text(some, { x: "x", y: "y", text: "name", dx: anchor === "end" ? -8 : 8, textAnchor: anchor, fontSize: 11, stroke: "var(--card)", strokeWidth: 3, fill: "currentColor" });
  const svg = Plot.plot({
    ...base,
    width,
    height: width,
    marginLeft: 62,
    marginBottom: 42,
    marginRight: 16,
    x: { ...axis, label: xLabel },
    y: { ...axis, label: yLabel },
    marks: [
      line(1, { strokeWidth: 1.2 }),
      line(2, { strokeDasharray: "3 4", strokeOpacity: 0.5 }),
      line(0.5, { strokeDasharray: "3 4", strokeOpacity: 0.5 }),
      names(data.filter((d) => d.y > d.x), "end"),
      names(data.filter((d) => d.y <= d.x), "start"),
      Plot.dot(data, { x: "x", y: "y", r: 4.5, fill: (d) => d.color, fillOpacity: 0.85, stroke: "var(--card)", strokeWidth: 1 }),
    ],
  });
  activate(svg, 'g[aria-label="dot"] circle', data, text, onselect, isSelected);
  return wrap(svg, label);
}

/** Horizontal bars of parts that add up to 1. rows: {name, run, parts: [{name, share, color}]}. */
export function stacked({ rows, width, label, xLabel, onselect, isSelected }) {
  const data = rows.flatMap((row) => row.parts.map((part) => ({ ...part, row: row.name, run: row.run })));
  const longest = Math.min(220, 0.42 * width, 6.6 * Math.max(4, ...rows.map((row) => row.name.length)));
  const most = Math.floor(longest / 6.3);
  const svg = Plot.plot({
    ...base,
    width,
    height: rows.length * 23 + 46,
    marginTop: 4,
    marginBottom: 38,
    marginLeft: longest + 12,
    marginRight: 16,
    x: { percent: true, label: xLabel ?? "share, %", labelAnchor: "center", domain: [0, 100], ticks: width < 520 ? 5 : 10 },
    y: { domain: rows.map((row) => row.name), label: null, tickSize: 0, tickFormat: (name) => (name.length > most ? `${name.slice(0, most - 1)}…` : name), padding: 0.18 },
    marks: [Plot.barX(data, { y: "row", x: "share", fill: (d) => d.color, order: null, insetLeft: 0.5 })],
  });
  activate(svg, 'g[aria-label="bar"] rect', data, (d) => `${d.row}\n${d.name}: ${(100 * d.share).toFixed(1)} %`, onselect, isSelected);
  return wrap(svg, label);
}

/** Bars over numbers, such as active lanes. */
export function histogram({ values, width, label, unit, xLabel }) {
  const all = values.reduce((sum, v) => sum + v, 0);
  const data = values.map((count, i) => ({ i, count, share: all ? count / all : 0 }));
  const svg = Plot.plot({
    ...base,
    width,
    height: 240,
    marginTop: 24,
    marginBottom: 36,
    x: { type: "band", label: xLabel, labelAnchor: "center", tickSize: 0, tickFormat: (i) => (i % 4 === 0 ? i : ""), padding: 0.1 },
    y: { grid: true, percent: true, label: unit },
    marks: [Plot.barY(data, { x: "i", y: "share", fill: "var(--accent)" }), Plot.ruleY([0])],
  });
  activate(svg, 'g[aria-label="bar"] rect', data, (d) => `${d.i} active lanes: ${format(d.count)} instructions, ${(100 * d.share).toFixed(1)} %`);
  return wrap(svg, label);
}

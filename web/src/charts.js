// The kinds of charts, over Observable Plot. A chart is an SVG whose bars can be reached by keyboard, or a canvas for pictures with a
// value per pixel.
import * as Plot from "@observablehq/plot";
import { h, format, short, tip, hideTip, showTip } from "./dom.js";

export const palette = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#a463f2", "#3ca951", "#ff8ab7", "#9c6b4e", "#97bbf5", "#9498a0"];

export function colorOf(names) {
  return new Map(names.map((name, i) => [name, palette[i % palette.length]]));
}

const base = { style: { background: "transparent", fontFamily: "inherit" }, marginLeft: 56, marginTop: 14 };

/** Makes the shapes of one mark answer to pointer and keyboard. data: what the mark was given. */
function activate(svg, selector, data, text, onselect, isSelected) {
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

function wrap(svg, label, isWide) {
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", label);
  return h("div", { class: isWide ? "scroll" : "chart" }, svg);
}

/** A number in three digits, on a bar. */
function brief(value) {
  return Math.abs(value) >= 1000 ? short(value) : String(Number(value.toPrecision(3)));
}

/** Grouped bars. data: {group, bar, value, paper?, run?, low?, high?}; a paper's number is a mark on the bar. */
export function groupedBars({ data, groups, bars, colors, width, label, unit, domain, line, text, onselect, isSelected, height = 300 }) {
  const least = groups.length * (bars.length * 9 + 14) + 70;
  const inner = Math.max(least, Math.min(width, groups.length * (bars.length * (groups.length > 1 ? 54 : 110) + 40) + 70));
  const isLong = groups.some((g) => g.length > 9) && inner / groups.length < 110;
  const shown = data.filter((d) => d.value !== null && d.value !== undefined);
  const printed = data.filter((d) => typeof d.paper === "number");
  const bottom = isLong ? Math.min(90, 26 + 3.6 * Math.max(...groups.map((g) => g.length))) : 36;
  const hasValues = (inner - 70) / groups.length / (bars.length + 1) >= 36 && !printed.length;
  const spread = shown.filter((d) => typeof d.low === "number" && d.high > d.low);
  const svg = Plot.plot({
    ...base,
    width: inner,
    height: height + bottom - 40,
    marginBottom: bottom,
    fx: { domain: groups, label: null, tickRotate: isLong ? -35 : 0, padding: 0.12 },
    x: { domain: bars, axis: null, padding: 0.08 },
    y: { grid: true, label: unit ?? null, domain, tickFormat: short, nice: true },
    marks: [
      Plot.barY(shown, { fx: "group", x: "bar", y: "value", fill: (d) => colors.get(d.bar), fillOpacity: (d) => (d.run && d.run.outcome !== "done" ? 0.35 : 1), rx: 1.5 }),
      line === undefined ? null : Plot.ruleY([line], { stroke: "currentColor", strokeDasharray: "3 3", strokeOpacity: 0.6 }),
      hasValues ? Plot.text(shown.filter((d) => d.value > 0), { fx: "group", x: "bar", y: "value", dy: -7, text: (d) => brief(d.value), fontSize: 11, fill: "currentColor", stroke: "var(--card)", strokeWidth: 3 }) : null,
      Plot.ruleX(spread, { fx: "group", x: "bar", y1: "low", y2: "high", stroke: "currentColor" }),
      Plot.dot(printed, { fx: "group", x: "bar", y: "paper", symbol: "diamond", r: 4.5, fill: "var(--card)", stroke: "var(--ink)", strokeWidth: 1.5 }),
      Plot.ruleY([0], { stroke: "currentColor" }),
    ],
  });
  activate(svg, 'g[aria-label="bar"] rect', shown, text, onselect, isSelected);
  activate(svg, 'g[aria-label="dot"] path', printed, text, onselect);
  return wrap(svg, label, inner > width);
}

/** Lines over an axis of numbers, or of names. data: {x, line, value, paper?, run?}. */
export function lines({ data, points, pointNames, colors, width, label, domain, xLabel, isNumeric, text, onselect, height = 260 }) {
  const shown = data.filter((d) => typeof d.value === "number");
  const printed = data.filter((d) => typeof d.paper === "number");
  const options = { x: "x", stroke: (d) => colors.get(d.line), z: "line" };
  const isLog = isNumeric && points.length > 3 && Math.min(...points) > 0 && Math.max(...points) / Math.min(...points) >= 16;
  const svg = Plot.plot({
    ...base,
    width,
    height,
    marginBottom: 42,
    marginRight: 20,
    x: isNumeric ? { type: isLog ? "log" : "linear", base: isLog ? 2 : undefined, label: xLabel, labelAnchor: "center", ticks: points, tickFormat: (x) => pointNames[points.indexOf(x)] ?? "" }
                 : { type: "point", domain: points, label: xLabel, labelAnchor: "center" },
    y: { grid: true, label: null, domain, tickFormat: short, nice: true },
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
  const longest = Math.min(220, 7 * Math.max(4, ...rows.map((row) => row.name.length)));
  const svg = Plot.plot({
    ...base,
    width,
    height: rows.length * 23 + 46,
    marginTop: 4,
    marginBottom: 38,
    marginLeft: longest + 12,
    marginRight: 16,
    x: { percent: true, label: xLabel ?? "share, %", labelAnchor: "center", domain: [0, 100], ticks: 10 },
    y: { domain: rows.map((row) => row.name), label: null, tickSize: 0, tickFormat: (name) => (name.length > 34 ? `${name.slice(0, 33)}…` : name), padding: 0.18 },
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

/** Several lines over time. series: [{name, color, values}] with one value per sample. */
export function timeLines({ series, every, width, label, unit, most }) {
  const data = series.flatMap((s) => s.values.map((v, i) => ({ cycle: (i + 1) * every, value: v, name: s.name, color: s.color })));
  const svg = Plot.plot({
    ...base,
    width,
    height: 220,
    marginTop: 24,
    marginBottom: 36,
    x: { label: "cycle", labelAnchor: "center", tickFormat: "~s" },
    y: { grid: true, label: unit, domain: most === undefined ? undefined : [0, most], tickFormat: "~s", zero: true },
    marks: [
      Plot.line(data, { x: "cycle", y: (d) => d.value ?? NaN, z: "name", stroke: (d) => d.color, strokeWidth: 1.5 }),
      Plot.ruleY([0]),
      Plot.ruleX(data, Plot.pointerX({ x: "cycle", stroke: "currentColor", strokeOpacity: 0.4 })),
    ],
  });
  const scale = svg.scale("x");
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const cycle = scale.invert(((event.clientX - box.left) * svg.viewBox.baseVal.width) / box.width);
    const i = Math.min(Math.max(Math.round(cycle / every) - 1, 0), series[0].values.length - 1);
    showTip([`cycle ${format((i + 1) * every)}`, ...series.slice(0, 12).map((s) => `${s.name}: ${format(s.values[i])}`)].join("\n"), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hideTip);
  return wrap(svg, label);
}

/** Colours from the background's to its opposite, which the colour-blind can tell apart too: on dark viridis, by five of its points,
 * and on light from pale yellow over green to blue. */
const onDark = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const onLight = [[250, 250, 235], [199, 233, 180], [65, 182, 196], [34, 94, 168], [8, 29, 88]];
function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function rampColor(ramp, t) {
  const at = Math.min(Math.max(t, 0), 1) * (ramp.length - 1);
  const i = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[i].map((low, k) => Math.round(low + (ramp[i + 1][k] - low) * (at - i)));
}

/** Colours follow the square root of a value's share of the most, so that low values can be told apart beside high ones. */
function paint(canvas, ramp, width, height, most, at) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const value = at(x, y);
      image.data.set(value === null ? [0, 0, 0, 0] : [...rampColor(ramp, most ? Math.sqrt(value / most) : 0), 255], 4 * (y * width + x));
    }
  context.putImageData(image, 0, 0);
}

/** The value that all but one in a hundred of the others above 0 stay below: a few extremes must not darken the rest. */
function brightest(columns, rows, at) {
  const values = [];
  for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) if (at(x, y) > 0) values.push(at(x, y));
  values.sort((a, b) => a - b);
  return values[Math.floor(0.99 * (values.length - 1))] ?? 0;
}

function axis(names, isVertical) {
  return h("div", { class: isVertical ? "axis down" : "axis", "aria-hidden": "true" }, names.map((name) => h("span", {}, name)));
}

/** A picture with a value per pixel: columns by rows, text(x, y) for the pointer. across and down: names along its sides. */
export function heatMap({ columns, rows, at, label, text, height, unit, isPicture, across, down }) {
  const canvas = h("canvas", { role: "img", "aria-label": label, tabindex: "0" });
  const top = brightest(columns, rows, at);
  const ramp = isDark() ? onDark : onLight;
  paint(canvas, ramp, columns, rows, top, at);
  canvas.style.width = isPicture ? `${Math.max(Math.min(columns * Math.ceil(260 / columns), 420), 160)}px` : "100%";
  canvas.style.height = isPicture ? "auto" : `${height ?? Math.max(90, Math.min(320, rows * 14))}px`;
  let [x, y] = [0, 0];
  const show = (clientX, clientY) => showTip(text(x, y), clientX, clientY);
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    x = Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * columns), 0), columns - 1);
    y = Math.min(Math.max(Math.floor(((event.clientY - box.top) / box.height) * rows), 0), rows - 1);
    show(event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("blur", hideTip);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    x = Math.min(Math.max(x + step[0], 0), columns - 1);
    y = Math.min(Math.max(y + step[1], 0), rows - 1);
    const box = canvas.getBoundingClientRect();
    show(box.left + ((x + 0.5) / columns) * box.width, box.top + ((y + 0.5) / rows) * box.height);
  });
  const stops = [0, 0.06, 0.25, 0.56, 1].map((t) => `rgb(${rampColor(ramp, Math.sqrt(t))}) ${100 * t}%`);
  const bar = h("span", { class: "ramp", style: `background:linear-gradient(90deg,${stops.join(",")})` });
  const scale = h("div", { class: "scale" }, "0 ", bar, ` ${format(top)} ${unit ?? ""}`);
  if (isPicture) return h("div", {}, canvas, scale);
  return h("div", { class: "map" }, axis(down ?? [], true), canvas, h("span"), axis(across ?? []), h("span"), scale);
}

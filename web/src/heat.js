// Pictures with a value per pixel: SMs, channels, lanes or lines over time, and threads.
import { h, format, hideTip, short, showTip } from "./dom.js";
import { pick } from "./interval.js";

/** Colours from low to high, which the colour-blind can tell apart too: viridis, by five of its points. A value has the same colour on
 * light and on dark. */
const ramp = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

export function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function between(t) {
  const at = Math.min(Math.max(t, 0), 1) * (ramp.length - 1);
  const i = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[i].map((low, k) => Math.round(low + (ramp[i + 1][k] - low) * (at - i)));
}

/** The colour of a share of the most, 0 to 1. */
export const rampColor = between;

/** Colours follow the square root of a value's share of the most, so that low values can be told apart beside high ones. */
function paint(canvas, width, height, most, at) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const colors = Array.from({ length: 256 }, (_, i) => between(i / 255));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const value = at(x, y);
      if (value === null) continue;
      const [r, g, b] = colors[most ? Math.min(255, Math.round(255 * Math.sqrt(value / most))) : 0];
      const i = 4 * (y * width + x);
      image.data[i] = r;
      image.data[i + 1] = g;
      image.data[i + 2] = b;
      image.data[i + 3] = 255;
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

/** Labels beside a picture, each at its place: {at, name}, `at` a share of the side's length. Those at the ends stay inside. */
function axis(labels, isVertical) {
  const widest = Math.max(0, ...labels.map(({ name }) => String(name).length));
  return h("div", { class: isVertical ? "axis down" : "axis", style: isVertical ? `width:${widest}ch` : null, "aria-hidden": "true" }, labels.map(({ at, name }) =>
    h("span", { "data-at": at, style: isVertical ? `top:${100 * at}%` : `left:${100 * at}%;transform:translateX(${at === 0 ? 0 : at === 1 ? -100 : -50}%)` }, name)));
}

/** The labels below a picture of `cycles` cycles. */
export const cycleLabels = (cycles) => [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, name: `${short(at * cycles)}${at === 1 ? " cycles" : ""}` }));

/** A picture with a value per pixel: columns by rows, text(x, y) for the pointer. across and down: labels along its sides, {at, name}.
 * rowNames: a name beside each row. end: the value at the end of the colours; without it that of the brightest pixels. time: the columns are samples of a launch, and an interval of them can be chosen. */
export function heatMap({ columns, rows, at, label, text, height, unit, isPicture, across, down, rowNames, time, end }) {
  const canvas = h("canvas", { role: "img", "aria-label": label, tabindex: "0" });
  const top = end ?? brightest(columns, rows, at);
  paint(canvas, columns, rows, top, at);
  canvas.style.width = isPicture ? `${Math.max(Math.min(columns * Math.ceil(260 / columns), 420), 160)}px` : "100%";
  canvas.style.height = isPicture ? "auto" : `${height ?? Math.max(56, Math.min(300, rows * 14))}px`;
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
  const stops = [0, 0.06, 0.25, 0.56, 1].map((t) => `rgb(${between(Math.sqrt(t))}) ${100 * t}%`);
  const bar = h("span", { class: "ramp", style: `background:linear-gradient(90deg,${stops.join(",")})` });
  const scale = h("div", { class: "scale" }, "0 ", bar, ` ${format(top)} ${unit ?? ""}`);
  if (isPicture) return h("div", {}, canvas, scale);
  const names = rowNames ? h("div", { class: "axis down names", "aria-hidden": "true" }, rowNames.map((name) => h("span", { title: name }, name))) : axis(down ?? [], true);
  const frame = h("div", { class: "frame" }, canvas);
  if (time) pick(frame, 0, 1, time);
  return h("div", { class: "map" }, names, frame, h("span"), axis(across ?? []), h("span"), scale);
}

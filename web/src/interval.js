// An interval of a launch's time: chosen by dragging over any chart of it, or with the controls above them, and kept in the address.
import { h, format } from "./dom.js";
import { state, set } from "./state.js";

/** The samples of a launch that the address chooses: {first, end, from, to}, in samples and in cycles; isAll without a choice. */
export function intervalOf(samples, cycles) {
  const n = samples.thread_instructions.length;
  const every = samples.every_cycles;
  const chosen = [state.from, state.to].every((cycle) => cycle !== undefined && Number.isFinite(Number(cycle)));
  const first = chosen ? Math.min(Math.max(Math.round(Number(state.from) / every), 0), n - 1) : 0;
  const end = chosen ? Math.min(Math.max(Math.round(Number(state.to) / every), first + 1), n) : n;
  return { first, end, n, every, from: first * every, to: end === n ? cycles ?? n * every : end * every, isAll: first === 0 && end === n };
}

const choose = (first, end, { n, every }) => (first <= 0 && end >= n ? set({ from: null, to: null }) : set({ from: first * every, to: end * every }));

/** Lets the reader drag over a frame whose time axis goes from `left` to `right`, in shares of its width. */
export function pick(frame, left, right, interval) {
  const { n } = interval;
  const band = h("div", { class: "band", hidden: interval.isAll });
  const place = (first, end) => {
    band.style.left = `${100 * (left + ((right - left) * first) / n)}%`;
    band.style.width = `${(100 * (right - left) * (end - first)) / n}%`;
  };
  place(interval.first, interval.end);
  const sample = (event) => {
    const box = frame.getBoundingClientRect();
    return Math.min(Math.max((((event.clientX - box.left) / box.width - left) / (right - left)) * n, 0), n);
  };
  let start = null;
  const range = (event) => {
    const at = sample(event);
    return [Math.floor(Math.min(start.at, at)), Math.ceil(Math.max(start.at, at))];
  };
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = { at: sample(event), x: event.clientX };
    frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", (event) => {
    if (!start || Math.abs(event.clientX - start.x) < 4) return;
    band.hidden = false;
    place(...range(event));
  });
  frame.addEventListener("pointerup", (event) => {
    if (!start) return;
    const isDrag = Math.abs(event.clientX - start.x) >= 4;
    const [first, end] = range(event);
    start = null;
    if (isDrag) choose(first, Math.max(end, first + 1), interval);
    else if (!interval.isAll) choose(0, n, interval);
  });
  frame.addEventListener("pointercancel", () => {
    start = null;
    place(interval.first, interval.end);
    band.hidden = interval.isAll;
  });
  frame.classList.add("pick");
  frame.append(band);
}

/** Two sliders, for the keyboard, and the way back to the whole launch. */
export function intervalControls(interval) {
  const { n, every } = interval;
  if (n < 2) return null;
  const slider = (name, value, change) => {
    const input = h("input", { type: "range", min: 0, max: n, step: 1, value, "data-focus": `interval-${name}`, "aria-valuetext": `cycle ${format(value * every)}`, onchange: () => change(Number(input.value)) });
    return h("label", {}, name, input);
  };
  return h("div", { class: "controls interval" },
    slider("from", interval.first, (v) => choose(Math.min(v, interval.end - 1), interval.end, interval)),
    slider("to", interval.end, (v) => choose(interval.first, Math.max(v, interval.first + 1), interval)),
    h("output", {}, interval.isAll ? "the whole launch; drag over a chart to choose an interval" : `cycles ${format(interval.from)} to ${format(interval.to)}`),
    interval.isAll ? null : h("button", { type: "button", "data-focus": "interval-all", onclick: () => choose(0, n, interval) }, "whole launch"));
}

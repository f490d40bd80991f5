// Experiments: our numbers beside those that a paper prints, and which of its claims hold.
import { h, check, columnOf, legend, format, table } from "./dom.js";
import { chart } from "./chart.js";
import { barAxis, groupedBars, lines, stacked, colorOf, palette } from "./charts.js";
import { seriesMap, seriesOf } from "./series.js";
import { state, set } from "./state.js";
import { threadPicture } from "./threads.js";

/** The axes of an experiment in the order of its figure: along x, by colour, and the others, which make panels. */
function axesOf(experiment) {
  const names = Object.keys(experiment.values[0]?.at ?? {});
  const x = experiment.figure?.x && names.includes(experiment.figure.x) ? experiment.figure.x : names[0];
  const group = names.find((name) => name === experiment.figure?.group && name !== x) ?? (experiment.figure ? undefined : names.find((name) => name !== x));
  return { x, group, others: names.filter((name) => name !== x && name !== group) };
}

const points = (values, axis) => [...new Set(values.map((v) => v.at[axis]))];

const asNumber = (text) => (/^-?[\d.]+[kKMG]?$/.test(text) ? Number.parseFloat(text) * ({ k: 1024, K: 1024, M: 2 ** 20, G: 2 ** 30 }[text.at(-1)] ?? 1) : NaN);

function panelsOf(values, others) {
  const panels = new Map();
  for (const v of values) {
    const name = others.map((axis) => v.at[axis]).join(" · ");
    panels.set(name, [...(panels.get(name) ?? []), v]);
  }
  return panels;
}

function tableOf(values, measure) {
  const names = Object.keys(values[0].at);
  return [
    [...names.map((name) => ({ name, left: true })), { name: measure, format }, { name: "paper", format }],
    values.map((v) => [...names.map((name) => v.at[name]), v.ours, v.paper]),
  ];
}

/** The axis of a measure; lines far above 0, and bars that differ little, do not begin there. */
function axisOf(values, isLines) {
  const all = values.flatMap((v) => [v.ours, v.paper, v.low, v.high]).filter((v) => typeof v === "number");
  if (!isLines) return barAxis(all, { isFromZero: state.zero === "yes" });
  if (!all.length) return { domain: undefined };
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  return { domain: low > 0.6 * high ? [low - 0.05 * (high - low), high] : [Math.min(0, low), high] };
}

function panel(experiment, measure, name, values, axis, width, height, onselect, entries) {
  const { x, group } = axesOf(experiment);
  const xs = points(values, x);
  const bars = group ? points(values, group) : [measure.name];
  const colors = colorOf(bars);
  const text = (d) => [`${d.at.join(", ")}`, `${measure.title}: ${format(d.value)}`, typeof d.paper === "number" ? `paper: ${format(d.paper)}` : null].filter(Boolean).join("\n");
  const data = values.map((v) => ({ at: Object.values(v.at), value: v.ours, paper: v.paper, low: v.low, high: v.high, run: v.run, group: v.at[x], bar: group ? v.at[group] : measure.name, x: v.at[x], line: group ? v.at[group] : measure.name }));
  const isLines = experiment.figure?.kind === "lines";
  const numbers = xs.map(asNumber);
  const isNumeric = isLines && numbers.every((n) => !Number.isNaN(n));
  const options = { colors, width, height, axis, domain: axis.domain, unit: measure.title, label: `${experiment.name}: ${measure.title}`, text, onselect: (d) => onselect(d.run), isSelected: (d) => d.run && String(d.run.id) === state.run };
  const picture = isLines
    ? lines({ ...options, data: isNumeric ? data.map((d) => ({ ...d, x: asNumber(d.x) })) : data, points: isNumeric ? numbers : xs, pointNames: xs, xLabel: x, isNumeric })
    : groupedBars({ ...options, data, groups: xs, bars, xLabel: x });
  const [columns, rows] = tableOf(values, measure.name);
  return chart(name || measure.title, axis.isCut ? "the axis does not begin at 0" : null, picture, columns, rows, entries);
}

/** The names of the bars or lines of all panels. */
function legendOf(experiment, values) {
  const { group } = axesOf(experiment);
  const bars = group ? points(values, group) : [];
  const colors = colorOf(bars);
  const entries = bars.length > 1 ? bars.map((bar) => ({ name: bar, color: colors.get(bar) })) : [];
  if (values.some((v) => typeof v.paper === "number")) entries.push({ name: "the paper's number", paper: true });
  return entries;
}

/** A figure whose measures are parts of a whole, one bar for each point. */
function stackedPanel(experiment, width, onselect) {
  const { x, group } = axesOf(experiment);
  const measures = experiment.figure.measures ?? [...new Set(experiment.values.map((v) => v.measure))];
  const colors = measures.map((_, i) => palette[i % palette.length]);
  const rows = new Map();
  for (const v of experiment.values) {
    const part = measures.indexOf(v.measure);
    if (part < 0 || typeof v.ours !== "number") continue;
    const name = [v.at[x], group ? v.at[group] : null].filter(Boolean).join(" · ");
    const row = rows.get(name) ?? { name, run: v.run, parts: [] };
    row.parts.push({ name: v.measure, share: v.ours, color: colors[part] });
    rows.set(name, row);
  }
  for (const row of rows.values()) {
    const all = row.parts.reduce((sum, part) => sum + part.share, 0);
    for (const part of row.parts) part.share = all ? part.share / all : 0;
  }
  const list = [...rows.values()];
  return h("div", {}, legend(measures.map((name, i) => ({ name, color: colors[i] }))),
    chart(experiment.title, "parts of the whole", stacked({ rows: list, width, label: experiment.title, onselect: (d) => onselect(d.run) }),
      [{ name: "at", left: true }, ...measures.map((name) => ({ name, format }))], list.map((row) => [row.name, ...measures.map((m) => row.parts.find((p) => p.name === m)?.share)])));
}

function allValues(values) {
  const names = Object.keys(values[0].at);
  return table([{ name: "measure", left: true }, ...names.map((name) => ({ name, left: true })), { name: "ours", format }, { name: "paper", format }],
    values.map((v) => [v.measure, ...names.map((name) => v.at[name]), v.ours, v.paper]));
}

/** What the figure shows of each run: a time series, or its threads. */
function pictures(experiment, values) {
  const { kind, series } = experiment.figure ?? {};
  const shown = new Map(values.filter((v) => v.run).map((v) => [v.run, Object.values(v.at).join(" · ")]));
  const list = [...shown].flatMap(([run, name]) =>
    kind === "series" ? seriesOf(run).slice(0, 1).map((launch) => seriesMap(launch.samples, series, name))
    : kind === "threads" ? (run.threads ?? []).slice(0, 1).map((profile) => threadPicture(profile, series, name)) : []).filter(Boolean);
  return list.length ? h("div", { class: kind === "series" ? "grid" : "pictures", style: "margin-bottom:1rem" }, list) : null;
}

export function figure(experiment, width, onselect, keeps) {
  const values = experiment.values.filter((v) => !v.run || keeps(v.run));
  const { others } = axesOf(experiment);
  const known = experiment.measures ?? [...new Set(values.map((v) => v.measure))].map((name) => ({ name, title: name }));
  const drawn = experiment.figure?.measures?.length ? known.filter((m) => experiment.figure.measures.includes(m.name)) : known;
  const card = h("section", { class: "card", id: `figure-${experiment.name}` },
    h("header", {}, h("div", {}, h("h2", {}, experiment.name), h("p", {}, experiment.title),
      h("p", { class: "soft" }, [experiment.source, experiment.size ? `size ${experiment.size}` : null].filter(Boolean).join(" · ")))));
  const panels = [];
  let [canCut, hasPanels] = [false, false];
  const image = pictures(experiment, values);
  if (image) card.append(image);
  if (experiment.figure?.kind === "stacked") panels.push(stackedPanel({ ...experiment, values }, width, onselect));
  for (const measure of experiment.figure?.kind === "stacked" ? [] : drawn) {
    const own = values.filter((v) => v.measure === measure.name && (v.ours !== null || typeof v.paper === "number"));
    const split = panelsOf(own, others);
    const half = split.size > 1 ? columnOf(width) : width;
    const isLines = experiment.figure?.kind === "lines";
    const hasOwnScales = state.scales === "own";
    const axis = axisOf(own, isLines);
    canCut ||= !isLines && (axis.canCut || (hasOwnScales && [...split.values()].some((some) => axisOf(some, false).canCut)));
    hasPanels ||= split.size > 1;
    const entries = legendOf(experiment, own);
    const list = [...split].map(([name, some]) => panel(experiment, measure, name, some, hasOwnScales ? axisOf(some, isLines) : axis, half, split.size > 1 ? 200 : undefined, onselect, split.size > 1 ? null : entries));
    if (list.length) panels.push(h("div", {}, split.size > 1 ? [h("h3", {}, measure.title), entries.length ? legend(entries) : null] : null, h("div", { class: split.size > 1 ? "grid" : null }, list)));
  }
  card.append(...panels.map((p) => h("div", { style: "margin-bottom:1rem" }, p)));
  if (hasPanels || canCut)
    card.querySelector("header").append(h("div", { class: "controls" }, hasPanels ? check("own scale for each panel", state.scales === "own", (on) => set({ scales: on ? "own" : null })) : null,
      canCut ? check("from 0", state.zero === "yes", (on) => set({ zero: on ? "yes" : null })) : null));
  if (!panels.length && !image) card.append(h("p", { class: "empty" }, "No value is left: choose more above."));
  if (experiment.claims?.length)
    card.append(h("h3", {}, experiment.source ? "What the paper claims" : "Claims"), h("ul", { class: "claims" }, experiment.claims.map((claim) =>
      h("li", {}, h("span", { class: `verdict ${claim.state === "not known" ? "unknown" : claim.state}` }, claim.state),
        h("span", {}, claim.says, claim.reason ? h("p", { class: "soft" }, claim.reason) : null)))));
  if (values.length)
    card.append(h("details", {}, h("summary", {}, "all values"), h("div", { class: "table", tabindex: "0" }, allValues(values))));
  if (experiment.ours?.length)
    card.append(h("details", {}, h("summary", {}, "what the paper leaves open, and our choices"), h("ul", {}, experiment.ours.map((line) => h("li", {}, line)))));
  return card;
}

// The page: reads its data, and draws what the address selects.
import { h } from "./dom.js";
import { compareWith, dimensions, load } from "./model.js";
import { state, list, set, watch } from "./state.js";
import { overview } from "./overview.js";
import { figure } from "./figures.js";
import { validationView } from "./validation.js";
import { runView } from "./run.js";
import { numbers } from "./numbers.js";

const model = load(JSON.parse(document.getElementById("data").textContent));

const keeps = (run) => dimensions.every(({ key }) => !list(key) || list(key).includes(run[key]));

function selected() {
  return model.runs.find((run) => String(run.id) === state.run) ?? (state.run === undefined ? model.runs.find(keeps) : undefined);
}

/** Selects a run and goes to it. */
function choose(run) {
  if (!run) return;
  set({ run: run.id, launch: null, kernel: null });
  const section = document.getElementById("run");
  section?.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  document.getElementById("run-title")?.focus({ preventScroll: true });
}

const MOST_PILLS = 14;

/** The values of a dimension; a click shows or hides one, and at least one stays. */
function filterOf({ key, name }) {
  const values = [...new Set(model.runs.map((run) => run[key]))];
  if (values.length < 2) return null;
  const chosen = new Set(list(key) ?? values);
  const change = (value, isOn) => {
    if (isOn) chosen.add(value);
    else chosen.delete(value);
    set({ [key]: chosen.size === values.length || chosen.size === 0 ? null : values.filter((v) => chosen.has(v)).join("|") });
  };
  const pills = values.map((value) => {
    const box = h("input", { type: "checkbox", value, "data-filter": key, checked: chosen.has(value), onchange: () => change(value, box.checked) });
    return h("label", { class: "pill" }, box, h("span", {}, value || "none"));
  });
  if (values.length <= MOST_PILLS) return h("fieldset", {}, h("legend", {}, name), pills);
  const isOpen = document.querySelector(`details[data-of="${key}"]`)?.open;
  return h("details", { "data-of": key, open: isOpen }, h("summary", {}, `${name}: ${chosen.size} of ${values.length}`), h("fieldset", {}, pills));
}

function drawFilters() {
  const focused = document.activeElement?.dataset?.filter && [document.activeElement.dataset.filter, document.activeElement.value];
  document.getElementById("filters").replaceChildren(...dimensions.map(filterOf).filter(Boolean));
  if (focused) document.querySelector(`input[data-filter="${focused[0]}"][value="${CSS.escape(focused[1])}"]`)?.focus();
}

const widthOf = (main) => Math.max(300, main.clientWidth - (innerWidth <= 640 ? 52 : 76));

function draw() {
  const main = document.getElementById("content");
  const width = widthOf(main);
  const runs = model.runs.filter(keeps);
  const scroll = scrollY;
  const run = selected();
  compareWith(model.runs, state.baseline);
  const parts = [
    ...model.validations.map((validation) => validationView(validation, width, choose, keeps)),
    ...model.experiments.map((experiment) => figure(experiment, width, choose, keeps)),
  ];
  const isOverviewFirst = !parts.length;
  if (model.runs.length > 1 && isOverviewFirst) parts.push(overview(model, runs, width, choose));
  if (run) parts.push(runView(model, run, width, choose));
  if (model.runs.length > 1 && !isOverviewFirst) parts.push(overview(model, runs, width, choose));
  if (runs.length) parts.push(numbers(model, runs, choose));
  if (!parts.length) parts.push(h("p", { class: "empty" }, "There is nothing to show: the results have no runs."));
  main.replaceChildren(...parts);
  scrollTo(0, scroll);
}

/** The keys that change only the run that is shown. */
const ofRun = ["launch", "kernel", "sort", "order", "code", "from", "to", "against"];

function drawRun() {
  const [section, run] = [document.getElementById("run"), selected()];
  if (section && run) section.replaceWith(runView(model, run, widthOf(document.getElementById("content")), choose));
}

/** Draws again and returns the keyboard to the control that had it. */
function keepFocus(action) {
  const at = document.activeElement;
  const section = at?.closest?.("section[id]")?.id;
  const scroll = at?.closest?.(".table")?.scrollTop;
  const attribute = ["data-sort", "data-select", "data-focus"].find((name) => at?.hasAttribute?.(name));
  const name = attribute && at.getAttribute(attribute);
  action();
  if (!attribute) return;
  const again = (section ? document.getElementById(section) : document)?.querySelector(`[${attribute}="${CSS.escape(name)}"]`);
  again?.focus({ preventScroll: true });
  if (again && scroll !== undefined) again.closest(".table").scrollTop = scroll;
}

/** Light, dark, or as the system. */
const themes = ["auto", "light", "dark"];
function drawTheme() {
  const theme = themes.includes(state.theme) ? state.theme : "auto";
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[theme];
}

/** What a change leads to; a search draws by itself and keeps the focus. */
function update(keys) {
  if (keys?.length === 1 && keys[0] === "find") return;
  if (keys?.every((key) => ofRun.includes(key))) return keepFocus(drawRun);
  drawTheme();
  drawFilters();
  keepFocus(draw);
}

document.getElementById("theme").addEventListener("click", () => set({ theme: themes[(themes.indexOf(state.theme ?? "auto") + 1) % 3] }));
document.getElementById("print").addEventListener("click", () => print());
document.title = document.getElementById("title").textContent = model.title ?? "Heddle";
const count = (n, what) => (n ? `${n} ${what}${n === 1 ? "" : "s"}` : null);
document.getElementById("subtitle").textContent = [`Heddle ${model.version}`, count(model.runs.length, "run"), count(model.experiments.length, "experiment")].filter(Boolean).join(" · ");
document.getElementById("footer").replaceChildren(h("p", {}, "Written by heddle. Everything is in this file: it needs no network. The address after # is the selection: copy it to link to what you see."));
watch(update);
update(null);
let timer;
let last = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === last) return;
  last = innerWidth;
  clearTimeout(timer);
  timer = setTimeout(draw, 150);
});
document.documentElement.dataset.ready = "true";

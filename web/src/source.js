// The annotated listing: each line with its stalls, executions, lanes, divergences, misses, sectors and bank conflicts; columns sort it.
// A line of CUDA opens to its PTX.
import { h, format, percent, select, legend, tip } from "./dom.js";
import { asCuda, hasCuda, heaviest, mainStall, placeOf, stallsOf } from "./lines.js";
import { lineStalls } from "./model.js";
import { fullName, shortName } from "./names.js";
import { state, set } from "./state.js";

const MOST_LINES = 150; // that are drawn before the reader asks for all

const columns = [
  { key: "line", name: "line", value: (l) => l.line, order: (l) => l.line },
  { key: "stalls", name: "stalls", title: "share of the cycles in which the kernel's warps waited", value: stallsOf, isTimed: true },
  { key: "executed", name: "executed", title: "instructions issued", value: (l) => l.executed, show: format },
  { key: "lanes", name: "lanes", title: "mean number of active lanes", value: (l) => (l.executed ? l.active_lanes / l.executed : 0), show: (v) => v.toFixed(1) },
  { key: "diverged", name: "diverged", title: "branches at which the threads of a warp went different ways", value: (l) => l.diverged ?? 0, show: (v) => (v ? format(v) : ""), isOptional: true },
  { key: "sectors", name: "sectors per request", title: "sectors of 32 bytes that an access to memory touches; 4 is the least for 32 neighbouring words", value: (l) => (l.accesses && l.sectors ? l.sectors / l.accesses : 0), show: (v) => (v ? v.toFixed(1) : ""), isTimed: true, isOptional: true },
  { key: "misses", name: "misses", title: "share of the requests that the L1 had to fetch", value: (l) => (l.requests ? l.misses / l.requests : -1), show: (v) => (v < 0 ? "" : percent(v)), isTimed: true, isOptional: true },
  { key: "conflicts", name: "bank conflicts", title: "passes of shared memory beyond those that as many bytes need", value: (l) => l.bank_conflicts ?? 0, show: (v) => (v ? format(v) : ""), isTimed: true, isOptional: true },
];

/** PTX with its opcode and CUDA as it is. */
function code(text, isCuda) {
  const match = isCuda ? null : /^(@!?%\w+\s+)?([\w.:]+)(.*)$/s.exec(text);
  return match ? [match[1] ?? "", h("b", {}, match[2]), match[3]] : [text];
}

/** The stalls of a line as a bar, whose length is relative to `most`. */
export function stallBar(line, most, all) {
  const bars = h("span", { class: "bars" }, lineStalls.map((s) => h("span", { style: `width:${(100 * (line[s.key] ?? 0)) / most}%;background:${s.color}` })));
  const waits = `${percent(all ? stallsOf(line) / all : 0)} of the stall cycles\n${lineStalls.filter((s) => line[s.key]).map((s) => `${s.name}: ${format(line[s.key])}`).join("\n")}`;
  tip(bars, () => waits);
  return { bars, waits };
}

function rowOf(line, shown, all, most, isCuda, isPart) {
  const { bars, waits } = stallBar(line, most, all);
  const place = isPart ? `PTX ${line.line}` : isCuda ? placeOf(line) : line.line || "–";
  const row = h("tr", { class: isPart ? "part" : null, "data-line": line.line, "data-executed": line.executed },
    h("th", { scope: "row" }, line.parts?.length ? h("button", { type: "button", class: "unfold", "aria-expanded": "false", title: "show the PTX of this line" }, place) : place),
    shown.slice(1).map((c) => (c.key === "stalls" ? [h("td", {}, percent(all ? stallsOf(line) / all : 0)), h("td", { class: "left", "aria-label": waits.replaceAll("\n", ", ") }, bars),
      h("td", { class: "code", title: line.text }, code(line.text, isCuda && !isPart))] : h("td", {}, c.show(c.value(line))))),
    shown.some((c) => c.key === "stalls") ? null : h("td", { class: "code", title: line.text }, code(line.text, isCuda && !isPart)));
  const button = row.querySelector("button.unfold");
  button?.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) while (row.nextElementSibling?.classList.contains("part")) row.nextElementSibling.remove();
    else row.after(...line.parts.filter((part) => part.executed > 0).map((part) => rowOf(part, shown, all, most, isCuda, true)));
  });
  return row;
}

/** The rows, and a button for those beyond the first. */
function fill(body, lines, shown, isCuda) {
  const all = lines.reduce((sum, line) => sum + stallsOf(line), 0);
  const most = lines.reduce((m, line) => Math.max(m, stallsOf(line)), 1);
  const rows = (some) => some.map((line) => rowOf(line, shown, all, most, isCuda));
  body.append(...rows(lines.slice(0, MOST_LINES)));
  if (lines.length <= MOST_LINES) return null;
  const more = h("button", { type: "button", onclick: () => (body.append(...rows(lines.slice(MOST_LINES))), more.remove()) }, `show all ${format(lines.length)} lines`);
  return more;
}

export function sourceView(run) {
  if (!run.lines?.length) return null;
  const kernel = run.lines.find((k) => k.kernel === state.kernel) ?? heaviest(run.lines);
  const canCuda = hasCuda(kernel);
  const isCuda = canCuda && state.code !== "ptx";
  const isTimed = kernel.lines.some((line) => line.stall_memory !== undefined);
  const lines = (isCuda ? asCuda(kernel.lines, run.sources) : [...kernel.lines]).filter((line) => line.executed > 0);
  const shown = columns.filter((c) => (isTimed || !c.isTimed) && (!c.isOptional || lines.some((l) => c.value(l) > 0)));
  const sort = shown.find((c) => c.key === state.sort) ?? shown.find((c) => c.key === "stalls") ?? shown[0];
  const direction = state.order ? (state.order === "ascending" ? 1 : -1) : sort.key === "line" ? 1 : -1;
  const natural = new Map(lines.map((line, i) => [line, i]));
  lines.sort((a, b) => direction * (sort.key === "line" ? natural.get(a) - natural.get(b) : sort.value(a) - sort.value(b)) || natural.get(a) - natural.get(b));
  const next = (key) => (sort.key === key ? (direction < 0 ? "ascending" : "descending") : key === "line" ? "ascending" : "descending");
  const head = (c) => h("th", { scope: "col", title: c.title, "aria-sort": sort === c ? (direction > 0 ? "ascending" : "descending") : null, colspan: c.key === "stalls" ? "2" : null, class: c.key === "stalls" ? "left" : null },
    h("button", { type: "button", "data-sort": c.key, onclick: () => set({ sort: c.key, order: next(c.key) }) }, c.name));
  const textHead = h("th", { class: "left", scope: "col" }, isCuda ? "CUDA" : "PTX");
  const body = h("tbody", {});
  const more = fill(body, lines, shown, isCuda);
  return h("section", { id: "lines" },
    h("header", { class: "controls", style: "margin:1rem 0 .5rem" }, h("h3", {}, "Lines"),
      run.lines.length > 1 ? select("kernel", run.lines.map((k) => ({ value: k.kernel, name: shortName(k.kernel), title: fullName(k.kernel) })), kernel.kernel, (k) => set({ kernel: k })) : h("span", { class: "soft", title: fullName(kernel.kernel) }, shortName(kernel.kernel)),
      canCuda ? select("as", [{ value: "cuda", name: "CUDA, opens to PTX" }, { value: "ptx", name: "PTX" }], isCuda ? "cuda" : "ptx", (c) => set({ code: c })) : null,
      isTimed ? legend(lineStalls) : null),
    h("div", { class: "table", tabindex: "0" }, h("table", {},
      h("thead", {}, h("tr", {}, shown.flatMap((c) => (c.key === "stalls" ? [head(c), textHead] : [head(c)])), isTimed ? null : textHead)), body)), more);
}

/** Opens the listing at a line: {kernel, file, source_line} or {kernel, line} of the PTX. */
export function showLine(line) {
  set({ kernel: line.kernel, code: line.file ? "cuda" : "ptx", sort: null, order: null });
  const number = String(line.file ? line.source_line : line.line);
  const name = line.file?.split("/").pop();
  const row = [...document.querySelectorAll("#lines tbody tr")].find((tr) => tr.dataset.line === number && (!name || tr.firstElementChild.textContent.startsWith(name)));
  row?.classList.add("found");
  row?.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  (row?.querySelector("button") ?? row)?.focus({ preventScroll: true });
}

/** The few lines that count most by one measure: what to look at first. kinds: see `evidence.js`. */
export function hotLines(run, kind) {
  const all = (run.lines ?? []).flatMap((listing) => (hasCuda(listing) ? asCuda(listing.lines, run.sources) : listing.lines).filter((line) => line.executed > 0).map((line) => ({ ...line, kernel: listing.kernel })));
  const value = kind.of;
  const sum = all.reduce((s, line) => s + value(line), 0);
  if (!sum) return null;
  const top = all.sort((a, b) => value(b) - value(a)).slice(0, 5).filter((line) => value(line) > 0.01 * sum);
  const most = top.reduce((m, line) => Math.max(m, stallsOf(line)), 1);
  const allStalls = all.reduce((s, line) => s + stallsOf(line), 0);
  const cells = (line) => {
    const stall = mainStall(line);
    return h("tr", {}, h("th", { scope: "row", title: fullName(line.kernel) }, placeOf(line), h("span", { class: "code", title: line.text }, code(line.text, Boolean(line.parts)))),
      h("td", {}, percent(value(line) / sum)), h("td", { class: "left" }, kind.isStalls ? [stallBar(line, most, allStalls).bars] : h("span", { class: "bars" }, h("span", { style: `width:${(100 * value(line)) / value(top[0])}%;background:var(--accent)` }))),
      h("td", { class: "left" }, kind.isStalls ? stall?.name ?? "" : kind.detail(line)));
  };
  return h("figure", { class: "hot" }, h("figcaption", {}, kind.title, h("small", {}, kind.note)),
    kind.isStalls ? legend(lineStalls.filter((s) => top.some((line) => line[s.key] > 0))) : null,
    h("div", { class: "table", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "left" }, "line"), h("th", { scope: "col", colspan: 2, class: "left" }, kind.column), h("th", { scope: "col", class: "left" }, kind.isStalls ? "mostly" : kind.detailName))),
      h("tbody", {}, top.map(cells)))));
}

// How each kernel fills an SM: the warps that fit, and the resource that limits them.
import { h, percent, table } from "./dom.js";
import { fullName, shortName } from "./names.js";

/** The kernels of a run by name and occupancy, those with most cycles first. */
function kinds(run) {
  const found = new Map();
  for (const kernel of run.kernels) {
    if (!kernel.occupancy) continue;
    const key = `${kernel.name} ${JSON.stringify(kernel.occupancy)}`;
    const kind = found.get(key) ?? { name: kernel.name, occupancy: kernel.occupancy, cycles: 0, threads: kernel.block.reduce((a, b) => a * b, 1), grid: kernel.grid.reduce((a, b) => a * b, 1) };
    kind.cycles += kernel.cycles ?? 0;
    found.set(key, kind);
  }
  return [...found.values()].sort((a, b) => b.cycles - a.cycles);
}

export function occupancyView(run) {
  const list = kinds(run);
  if (!list.length) return null;
  const bar = (share) => h("span", { class: "bars" }, h("span", { style: `width:${100 * share}%;background:var(--accent)` }));
  const rows = list.slice(0, 8).map(({ name, occupancy: o, threads }) => [
    h("span", { title: fullName(name) }, shortName(name)), h("span", { class: "pair" }, bar(o.warps / o.most_warps), percent(o.warps / o.most_warps)), `${o.warps} of ${o.most_warps}`, o.limited_by, `${o.blocks} × ${threads}`, o.registers, o.shared_bytes]);
  return h("figure", {}, h("figcaption", {}, "Occupancy", h("small", {}, "warps that fit on an SM at once, and the resource that allows no more")),
    h("div", { class: "table", tabindex: "0" }, table([{ name: "kernel", left: true }, { name: "occupancy", left: true }, { name: "warps" }, { name: "limited by", left: true }, { name: "blocks × threads" }, { name: "registers per thread" }, { name: "shared bytes" }], rows)));
}

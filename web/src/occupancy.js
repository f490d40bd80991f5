// How each kernel fills an SM: the warps that fit, and the resource that limits them.
import { h, format, percent, table } from "./dom.js";
import { fullName, shortName } from "./names.js";

/** The kernels of a run by name and by what fits, those with most cycles first; `achieved` is their mean, weighted by cycles. */
function kinds(run) {
  const found = new Map();
  for (const kernel of run.kernels) {
    if (!kernel.occupancy) continue;
    const { achieved, ...fits } = kernel.occupancy;
    const key = `${kernel.name} ${JSON.stringify(fits)}`;
    const kind = found.get(key) ?? { name: kernel.name, fits, cycles: 0, sum: 0, grid: kernel.grid.reduce((a, b) => a * b, 1) };
    kind.cycles += kernel.cycles ?? 0;
    kind.sum += (achieved ?? 0) * (kernel.cycles ?? 0);
    found.set(key, kind);
  }
  return [...found.values()].map((kind) => ({ ...kind, achieved: kind.cycles ? kind.sum / kind.cycles : 0 })).sort((a, b) => b.cycles - a.cycles);
}

const resources = [["threads", "blocks_by_threads"], ["registers", "blocks_by_registers"], ["shared memory", "blocks_by_shared_memory"], ["blocks", "blocks_by_blocks"]];

export function occupancyView(run) {
  const list = kinds(run);
  if (!list.length) return null;
  const bar = (share) => h("span", { class: "bars" }, h("span", { style: `width:${Math.min(100, 100 * share)}%;background:var(--accent)` }));
  const pair = (share) => h("span", { class: "pair" }, bar(share), percent(share));
  /** Too few blocks for all SMs: the grid is the limit, not a resource of the SM. */
  const isGrid = (o, grid) => grid < o.blocks * (run.peaks?.sms ?? 0);
  const allowed = (o, [word, key]) => (o.limited_by === word ? h("strong", {}, o[key] ?? "any") : o[key] ?? "any");
  const rows = list.slice(0, 8).map(({ name, fits: o, achieved, grid }) => [
    h("span", { title: fullName(name) }, shortName(name)), pair(o.theoretical), pair(achieved), isGrid(o, grid) ? "the grid" : o.limited_by, ...resources.map((resource) => allowed(isGrid(o, grid) ? { ...o, limited_by: null } : o, resource)), isGrid(o, grid) ? h("strong", {}, format(grid)) : grid, o.registers, o.shared_bytes]);
  return h("figure", { class: "occupancy" }, h("figcaption", {}, "Occupancy", h("small", {}, "share of an SM's places for warps: as many as fit, and the mean while the SM had work; then what allows no more (the grid, if it has too few blocks for all SMs), and the blocks that each resource allows")),
    h("div", { class: "table", tabindex: "0" }, table([{ name: "kernel", left: true }, { name: "fits", left: true }, { name: "achieved", left: true }, { name: "limited by", left: true }, ...resources.map(([name]) => ({ name })), { name: "blocks of the grid", format }, { name: "registers per thread" }, { name: "shared bytes", format }], rows)));
}

// Threads as pictures: a pixel for each, laid out like the grid; a launch of one dimension is cut into rows.
import { h, format } from "./dom.js";
import { chart } from "./chart.js";
import { heatMap } from "./heat.js";
import { fullName, shortName } from "./names.js";

const titles = { path: "Instructions of each thread", split: "Divergent branches of each thread", miss: "L1 misses of each thread" };

/** A power of two of at least a warp that makes the picture about square. */
function lineWidth(n) {
  let width = 32;
  while (width * width < n && width < 1 << 15) width *= 2;
  return Math.min(width, n);
}

/** The values by their place in the picture, and its width. */
function layOut({ block, grid }, values) {
  const isLine = grid[1] * block[1] * grid[2] * block[2] === 1;
  if (isLine) return { isLine, width: lineWidth(values.length), placed: values };
  const width = grid[0] * block[0];
  const height = grid[1] * block[1]; // of one layer; layers are below each other
  const perBlock = block[0] * block[1] * block[2];
  const placed = new Array(values.length);
  values.forEach((value, i) => {
    const [b, t] = [Math.floor(i / perBlock), i % perBlock];
    const x = (b % grid[0]) * block[0] + (t % block[0]);
    const y = (Math.floor(b / grid[0]) % grid[1]) * block[1] + (Math.floor(t / block[0]) % block[1]);
    const z = Math.floor(b / grid[0] / grid[1]) * block[2] + Math.floor(t / block[0] / block[1]);
    placed[(z * height + y) * width + x] = value;
  });
  return { isLine, width, placed };
}

/** The picture of one count; null if it is 0 for all threads. */
export function threadPicture(profile, key, name) {
  const values = profile[key];
  const most = values?.reduce((m, v) => Math.max(m, v), 0);
  if (!most) return null;
  const { isLine, width, placed } = layOut(profile, values);
  const height = Math.ceil(values.length / width);
  const at = (x, y) => placed[y * width + x] ?? null;
  return chart(name ?? titles[key], name ? titles[key] : h("span", { title: fullName(profile.kernel) }, `${shortName(profile.kernel)}, ${format(values.length)} threads`), heatMap({
    columns: width, rows: height, at, isPicture: true,
    text: (x, y) => (at(x, y) === null ? "" : `thread ${isLine ? format(y * width + x) : `${x}, ${y}`}: ${format(at(x, y))}`),
    label: `${titles[key]} of ${shortName(profile.kernel)}, ${width} by ${height}; most ${format(most)}`,
  }));
}

const FIRST = 2; // kernels whose threads are drawn at once

export function threadsView(run) {
  const kernels = (run.threads ?? []).map((profile) => Object.keys(titles).map((key) => threadPicture(profile, key)).filter(Boolean)).filter((pictures) => pictures.length);
  if (!kernels.length) return null;
  const rest = kernels.slice(FIRST);
  return h("section", { id: "threads" }, h("h3", { style: "margin-top:1rem" }, "Threads"),
    h("div", { class: "pictures" }, kernels.slice(0, FIRST).flat()),
    rest.length ? h("details", {}, h("summary", {}, `the threads of ${rest.length} more launch shapes`), h("div", { class: "pictures" }, rest.flat())) : null);
}

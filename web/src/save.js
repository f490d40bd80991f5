// A chart as a picture of its own, for slides and papers: SVG, or PNG of twice the size. It has the chart's title and legend, and the colours
// of the page as it is.
import { h } from "./dom.js";

const MARGIN = 12;
const LINE = 18;
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The legend that belongs to a chart: its own, or the nearest one beside what it stands in. */
function legendOf(figure) {
  for (let at = figure.firstElementChild; at && !at.matches("section"); at = at.parentElement) {
    const found = at.parentElement?.querySelector(":scope > .legend");
    if (found) return [...found.children].map((entry) => ({ name: entry.textContent, mark: getComputedStyle(entry.querySelector("i")) }));
  }
  return [];
}

/** Adds the legend, in as many lines as it needs. Returns the height. */
function drawLegend(into, entries, width, top) {
  let [x, y] = [MARGIN, top];
  for (const { name, mark } of entries) {
    const long = 20 + 6.6 * name.length;
    if (x > MARGIN && x + long > width - MARGIN) [x, y] = [MARGIN, y + LINE];
    const box = { x, y: y - 9, width: 10, height: 10, rx: 2, fill: mark.backgroundColor };
    if (parseFloat(mark.borderTopWidth) > 0) Object.assign(box, { stroke: mark.borderTopColor, "stroke-width": 1.5, transform: `rotate(45 ${x + 5} ${y - 4})` });
    into.append(element("rect", box), element("text", { x: x + 15, y, "font-size": 12 }, name));
    x += long + 8;
  }
  return entries.length ? y - top + LINE : 0;
}

/** The text of an SVG file. */
function standalone(figure) {
  const page = getComputedStyle(document.documentElement);
  const svg = figure.querySelector("svg").cloneNode(true);
  const { width, height } = svg.viewBox.baseVal;
  const entries = legendOf(figure);
  const whole = element("svg", { xmlns: SVG, fill: "currentColor", "font-family": "system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif" });
  const background = element("rect", { width: "100%", height: "100%", fill: page.getPropertyValue("--card") });
  whole.append(background, element("text", { x: MARGIN, y: MARGIN + 12, "font-size": 15, "font-weight": 600 }, figure.querySelector("figcaption").firstChild.textContent));
  const top = MARGIN + 20 + drawLegend(whole, entries, width, MARGIN + 34);
  for (const shape of svg.querySelectorAll("[tabindex]")) shape.removeAttribute("tabindex");
  for (const [key, value] of Object.entries({ x: 0, y: top, width, height, "font-size": 12 })) svg.setAttribute(key, value);
  whole.append(svg);
  for (const [key, value] of Object.entries({ width, height: top + height, viewBox: `0 0 ${width} ${top + height}`, style: `color:${page.getPropertyValue("--ink")}` })) whole.setAttribute(key, value);
  return new XMLSerializer().serializeToString(whole).replaceAll(/var\((--[\w-]+)\)/g, (_, name) => page.getPropertyValue(name).trim() || "none");
}

function download(blob, name) {
  const link = h("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function savePng(text, name) {
  const picture = new Image();
  picture.onload = () => {
    const canvas = h("canvas", { width: 2 * picture.width, height: 2 * picture.height });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, `${name}.png`));
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

/** The buttons of a chart that is an SVG. */
export function saveButtons(figure) {
  const name = figure.querySelector("figcaption").firstChild.textContent.replaceAll(/[^\w.-]+/g, "-").toLowerCase();
  const button = (kind, save) => h("button", { type: "button", title: `Save this chart as ${kind}`, onclick: () => save(standalone(figure)) }, kind);
  return h("span", { class: "save" }, button("SVG", (text) => download(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`)), button("PNG", (text) => savePng(text, name)));
}

// Small helpers: elements, numbers, the tooltip.

/** h("div", {class: "a", onclick: f}, child, ...): an element. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The width of a column of a .grid of this width: two columns where there is room for them (page.css). */
export function columnOf(width) {
  return width >= 2 * 430 + 16 ? (width - 16) / 2 : width;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A number for people: whole ones with commas, others with four digits. */
export function format(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return whole.format(value);
  const size = Math.abs(value);
  return size >= 1000 ? whole.format(value) : value.toPrecision(size < 1 ? 3 : 4);
}

export function percent(share) {
  return share === null || share === undefined || Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)} %`;
}

export function short(value) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
}

const tooltip = () => document.getElementById("tooltip");

export function showTip(text, x, y) {
  const tip = tooltip();
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
}

export function hideTip() {
  tooltip().hidden = true;
}

/** Shows text(event) at the pointer, and label when the element has the keyboard. */
export function tip(element, text) {
  const show = (event) => {
    const t = text(event);
    if (t) showTip(t, event.clientX, event.clientY);
    else hideTip();
  };
  element.addEventListener("pointermove", show);
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    const t = text(null);
    if (t) showTip(t, box.left + box.width / 2, box.top);
  });
  element.addEventListener("blur", hideTip);
}

/** A table of rows of cells; columns are {name, left, format}. */
export function table(columns, rows, caption) {
  return h("table", {},
    caption ? h("caption", { class: "soft" }, caption) : null,
    h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: c.left ? "left" : null }, c.name)))),
    h("tbody", {}, rows.map((row) =>
      h("tr", {}, row.map((cell, i) => h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: columns[i].left ? "left" : null },
        cell instanceof Node ? cell : (columns[i].format ?? String)(cell)))))));
}

export function legend(entries) {
  return h("ul", { class: "legend" }, entries.map((e) =>
    h("li", {}, h("i", { class: e.paper ? "paper" : null, style: e.color ? `background:${e.color}` : null }), e.name, e.meaning ? h("span", { class: "soft" }, `: ${e.meaning}`) : null)));
}

export function select(name, options, chosen, onchange) {
  const element = h("select", { "data-select": name, onchange: () => onchange(element.value) },
    options.map((o) => h("option", { value: o.value ?? o, title: o.title, selected: (o.value ?? o) === chosen }, o.name ?? o)));
  return h("label", {}, name, element);
}

export function check(name, isOn, onchange) {
  const box = h("input", { type: "checkbox", checked: isOn, "data-focus": `check-${name}`, onchange: () => onchange(box.checked) });
  return h("label", {}, box, name);
}

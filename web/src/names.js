// Names of kernels: short ones to show, full ones for tooltips. C++ names come demangled from heddle.

const full = new Map();
const shorts = new Map();

const LONGEST = 40;

/** The index after the bracket that closes the one at `at`. A < or > inside parentheses may be a comparison. */
function close(text, at) {
  const open = [];
  for (let i = at; i < text.length; i++) {
    const c = text[i];
    if ("<({[".includes(c)) open.push(c);
    else if (")}]".includes(c)) while (open.length && open.pop() === "<");
    else if (c === ">" && text[i - 1] !== "-" && open.at(-1) === "<") open.pop();
    if (!open.length) return i + 1;
  }
  return text.length;
}

/** Splits a list at its outer commas. */
function split(list) {
  const parts = [];
  let from = 0;
  for (let i = 0; i < list.length; i++) {
    if ("<({[".includes(list[i])) i = close(list, i) - 1;
    else if (list[i] === ",") {
      parts.push(list.slice(from, i));
      from = i + 1;
    }
  }
  return list.trim() ? [...parts, list.slice(from)].map((part) => part.trim()) : [];
}

const briefly = [[/\bunsigned (int|long long|long|short|char)\b/g, (_, type) => `u${type.replace("long long", "longlong")}`], [/\bdecltype\(nullptr\)/g, "nullptr"]];

/** Names without their namespaces and enclosing classes: a::b<c::d>::e<f::g> is e<g>. */
function withoutScopes(text) {
  let out = "";
  for (let i = 0; i < text.length; ) {
    const word = /^[\w~$]+/.exec(text.slice(i))?.[0];
    if (!word && !"({".includes(text[i])) {
      out += text[i++];
      continue;
    }
    let end = i + (word?.length ?? 0);
    let piece = word ?? "";
    if (!word) {
      end = close(text, i);
      piece = text[i] + withoutScopes(text.slice(i + 1, end - 1)) + text[end - 1];
    } else if (text[end] === "<" && word !== "operator") {
      const inside = text.slice(end + 1, (end = close(text, end)) - 1);
      piece += `<${split(inside).map(withoutScopes).join(", ")}>`;
    }
    const call = text[end] === "(" ? close(text, end) : end;
    if (text.startsWith("::", call)) i = call + 2;
    else {
      out += piece;
      i = end;
    }
  }
  return out;
}

/** "name<a, b>" as its name and arguments. */
function parts(name) {
  const at = name.indexOf("<");
  return at > 0 && name.endsWith(">") ? { own: name.slice(0, at), list: split(name.slice(at + 1, -1)) } : { own: name, list: [] };
}

const cut = (name) => (name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 13)}…${name.slice(-12)}`);

/** Short names of several functions that can be told apart: arguments in which those of one name differ are kept. */
function shorten(names) {
  const simple = names.map((name) => briefly.reduce((text, [from, to]) => text.replace(from, to), withoutScopes(name)));
  const short = simple.map((name) => {
    if (name.length <= LONGEST) return name;
    const { own, list } = parts(name);
    const others = simple.map(parts).filter((p) => p.own === own);
    const kept = list.map((argument, i) => (others.some((p) => p.list[i] !== argument) && argument.length <= 24 ? argument : "…"));
    return cut(list.length ? `${own}<${kept.join(", ").replace(/…(, …)+/g, "…")}>` : own);
  });
  const seen = new Map();
  return short.map((name) => {
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return seen.get(name) > 1 ? `${name} #${seen.get(name)}` : name;
  });
}

/** demangled: {mangled: demangled}; names: all that the page shows. */
export function learnNames(demangled, names) {
  const all = [...new Set(names)];
  for (const name of all) full.set(name, demangled[name] ?? name);
  shorten(all.map((name) => full.get(name))).forEach((name, i) => shorts.set(all[i], name));
}

export const shortName = (name) => shorts.get(name) ?? name;
export const fullName = (name) => full.get(name) ?? name;

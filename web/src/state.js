// What is selected, kept in the address after #, so that a link opens the same selection.

const listeners = new Set();

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export const state = read();

export function list(key) {
  return state[key] ? state[key].split("|") : null;
}

/** Changes the selection; a value of null removes the key. */
export function set(changes) {
  for (const [key, value] of Object.entries(changes))
    if (value === null || value === "") delete state[key];
    else state[key] = String(value);
  const hash = new URLSearchParams(state).toString();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  for (const listener of listeners) listener(Object.keys(changes));
}

export function watch(listener) {
  listeners.add(listener);
}

addEventListener("hashchange", () => {
  for (const key of Object.keys(state)) delete state[key];
  Object.assign(state, read());
  for (const listener of listeners) listener(null);
});

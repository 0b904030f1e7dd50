// The place on the page as an address: `#/lab/tools/echo?view=json&args={…}`.

// This module removes the token from the address before the address is read below.
import "./api.js";

/** @typedef {{ server: string, tab: string, object: string, query: URLSearchParams }} Place */
/**
 * @typedef {object} Where
 * @property {string} [server]
 * @property {string} [tab]
 * @property {string | null} [object]
 * @property {Record<string, string | number | null | undefined>} [query]
 */
/** @typedef {(now: Place, before: Place) => unknown} Listener */
/** @type {Set<Listener>} */
const listeners = new Set();
let current = read();

/** @returns {Place} */
function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [server = "", tab = "", ...object] = path.split("/").map(decode);
  return { server, tab: tab || "tools", object: object.join("/"), query: new URLSearchParams(query) };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const place = () => current;

/**
 * The address of a place. Parts that are not given keep their current values. The settings of an object are dropped.
 *
 * @param {Where} where
 */
export function address({ server = current.server, tab = current.tab, object = "", query = {} } = {}) {
  const kept = new URLSearchParams();
  for (const name of ["wire", "wf", "ws", "filter"]) {
    const value = current.query.get(name);
    if (value !== null && (name !== "filter" || tab === current.tab)) kept.set(name, value);
  }
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") kept.delete(name);
    else kept.set(name, String(value));
  }
  // The list of all servers has an address without a server, and so without a tab.
  const parts = server ? [server, tab, ...(object ? [object] : [])] : [];
  const path = parts.map(encodeURIComponent).join("/");
  const text = kept.toString();
  return `#/${path}${text && `?${text}`}`;
}

/** @param {Where} where */
export function go(where) {
  move(address(where), "pushState");
}

/**
 * Changes a setting of the place without a new entry in the history.
 *
 * @param {string} name
 * @param {string | null} value
 */
export function set(name, value) {
  const query = new URLSearchParams(current.query);
  if (value === null || value === undefined || value === "") query.delete(name);
  else query.set(name, value);
  move(address({ object: current.object, query: { ...Object.fromEntries(query), [name]: value } }), "replaceState");
}

/**
 * @param {string} hash
 * @param {"pushState" | "replaceState"} how
 */
function move(hash, how) {
  if (hash === location.hash) return;
  history[how](null, "", hash);
  changed();
}

function changed() {
  const before = current;
  current = read();
  for (const react of [...listeners]) react(current, before);
}

/**
 * Calls `react` with each new place and the previous one. Returns a function that stops it.
 *
 * @param {Listener} react
 */
export function onPlace(react) {
  listeners.add(react);
  return () => void listeners.delete(react);
}

addEventListener("popstate", changed);

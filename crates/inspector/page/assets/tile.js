// The tile of a server: its icon or two letters, in its own colour, with a dot for its state.

import { h } from "./element.js";
import { state } from "./store.js";
import { displayName } from "./subject.js";

const HUES = 8;

/**
 * The title that a server reports, or else its name in the config. The server's own name is preferred to a name that
 * was made from its command or URL.
 *
 * @param {Server} server
 */
function titleOf({ info, name, target, launch }) {
  const isMade = !launch?.name && target.includes(name.replace(/ \d+$/, ""));
  return displayName({ title: info?.title, name: (isMade ? info?.name : null) || name });
}

/**
 * The label of a server: its title, followed by its name if another server has the same title.
 *
 * @param {Server} server
 */
export function label(server) {
  const others = [...state.servers.values()].filter((one) => one.id !== server.id);
  const title = titleOf(server);
  return others.some((one) => titleOf(one) === title) && title !== server.name ? `${title} · ${server.name}` : title;
}

/**
 * The condition of a server, as a style and a text.
 *
 * @param {Server} server
 * @returns {[string, string]}
 */
export function condition(server) {
  if (state.connection !== "open") return ["failed", "inspector lost"];
  if (server.status === "open") return server.isDown ? ["failed", "does not answer"] : ["ok", "connected"];
  if (server.status === "connecting") return ["running", "connecting"];
  const { kind } = server.blocked ?? {};
  if (kind === "inputs" || kind === "untrusted" || kind === "unusable") return ["warn", "needs attention"];
  if (server.status === "failed") {
    return server.error?.who === "authorization" ? ["warn", "needs attention"] : ["failed", "failed"];
  }
  if (server.isMissing) return ["warn", "program not found"];
  return ["closed", "not started"];
}

/**
 * @param {Server} server
 * @param {{ tiny?: boolean, dot?: boolean, title?: boolean }} options
 */
export function tile(server, { tiny = false, dot = false, title = false } = {}) {
  const name = titleOf(server);
  return h(
    `span.tile.hue${hueOf(server)}${tiny ? ".tiny" : ""}`,
    { "aria-hidden": "true", title: title ? name : null },
    picture(server) ?? letters(name),
    dot ? h(`i.dot.${condition(server)[0]}`) : null,
  );
}

/**
 * The server's icon, if it is a data URL. An icon from the web would reveal to others that the page was opened.
 *
 * @param {Server} server
 */
function picture(server) {
  const icons = server.info?.icons;
  const found = Array.isArray(icons) ? icons.find((one) => /^data:image\//.test(one?.src ?? "")) : null;
  return found ? h("img", { src: found.src, alt: "" }) : null;
}

/** @param {string} name */
function letters(name) {
  const plain = name.replace(/^https?:\/\//, "");
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => /\p{L}/u.test(word));
  const two = words.length > 1 ? words[0][0] + words[1][0] : (words[0] ?? plain).slice(0, 2);
  return two.toUpperCase();
}

/**
 * A tile for a name only.
 *
 * @param {string} name
 */
export function namedTile(name) {
  let hue = 0;
  for (const letter of name) hue = (hue * 31 + (letter.codePointAt(0) ?? 0)) % HUES;
  return h(`span.tile.tiny.hue${hue}`, { "aria-hidden": "true" }, letters(name));
}

/** Neighbouring servers have different colours. */
function hueOf(/** @type {Server} */ { id }) {
  return (Number(/\d+/.exec(id)?.[0] ?? 1) - 1 + HUES) % HUES;
}

// The rail: a link to every server, and to the views that do not belong to a server.

import { h } from "./element.js";
import { icon, mark } from "./icon.js";
import { address, place } from "./router.js";
import { state } from "./store.js";
import { nextTheme, theme } from "./theme.js";
import { condition, label, tile } from "./tile.js";

/** Names of views in the address, in place of a server's name. */
export const MESSAGES = "~messages";
export const GATEWAY = "~gateway";
export const isView = (/** @type {string} */ name) => name === MESSAGES || name === GATEWAY;

/** @param {Server | null} current */
export function rail(current) {
  const here = place().server;
  const servers = [...state.servers.values()].filter((server) => server.blocked?.kind !== "shadowed");
  return [
    h(
      "a.brand",
      { href: "#/", title: "All servers", "aria-current": here === "" ? "page" : null },
      mark(),
      h("span.label", null, "Turnbuckle"),
    ),
    ...servers.map((server) =>
      h(
        "a",
        {
          href: address({ server: server.name, tab: "tools", query: {} }),
          title: `${label(server)}, ${condition(server)[1]}`,
          "data-server": server.id,
          "aria-current": server === current ? "page" : null,
        },
        tile(server, { dot: true }),
        h("span.label", null, label(server), h("span.outside", null, `, ${condition(server)[1]}`)),
      ),
    ),
    h("a", { href: "#/?add=1", title: "Add server" }, icon("plus"), h("span.label", null, "Add server")),
    // The views stay visible with any number of servers.
    h(
      "div.railviews",
      null,
      view(MESSAGES, "Messages", "messages"),
      state.gateway ? view(GATEWAY, "Gateway", "gateway") : null,
      h(
        "button",
        { type: "button", onclick: nextTheme, title: `Theme: ${theme()}`, "data-theme-word": true },
        icon("theme"),
        h("span.label", null, "Theme"),
      ),
    ),
  ];
}

/**
 * @param {string} name
 * @param {string} words
 * @param {string} picture
 */
const view = (name, words, picture) =>
  h(
    "a",
    { href: `#/${name}`, title: words, "data-view": name, "aria-current": place().server === name ? "page" : null },
    icon(picture),
    h("span.label", null, words),
  );

/**
 * The links at the bottom of a narrow page.
 *
 * @param {Server | null} current
 */
export function dock(current) {
  const here = place().server;
  const isWire = place().query.has("wire");
  const link = (
    /** @type {string} */ href,
    /** @type {string} */ words,
    /** @type {string} */ picture,
    /** @type {boolean} */ isHere,
  ) => h("a", { href, "aria-current": isHere ? "page" : null, "data-dock": picture }, icon(picture), words);
  return [
    link("#/", "Servers", "server", here === ""),
    current
      ? link(
          address({ server: current.name, object: isWire ? place().object : "", query: { wire: "" } }),
          "Tools",
          "tool",
          !isWire,
        )
      : null,
    current
      ? link(address({ object: place().object, query: { wire: "1" } }), "Messages", "messages", isWire)
      : link(`#/${MESSAGES}`, "Messages", "messages", here === MESSAGES),
    state.gateway ? link(`#/${GATEWAY}`, "Gateway", "gateway", here === GATEWAY) : null,
  ];
}

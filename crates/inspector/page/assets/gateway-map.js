// The map of revisions: clients, servers, and what the gateway does between each two.

import { h } from "./element.js";
import { ends } from "./gateway-chart.js";
import { callCount, count, isModern } from "./gateway-parts.js";

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/** The shares of the busiest cell at which a cell gets darker. */
const SHADES = [0, 0.05, 0.25, 0.6];
const short = (/** @type {number} */ value) => (value < 10_000 ? count(value) : `${(value / 1000).toFixed(1)}k`);

/** @param {GatewayCell[]} cells */
export function revisionMap(cells) {
  const most = Math.max(1, ...cells.map((cell) => cell.calls));
  const find = (/** @type {string} */ from, /** @type {string} */ to) =>
    cells.find((cell) => cell.from === from && cell.to === to);
  const date = (/** @type {string} */ revision) => [
    h("span.whole", null, revision.slice(0, 5)),
    h("wbr"),
    h("span.whole", null, revision.slice(5)),
  ];
  const gap = () => h("td.gap");
  const cell = (/** @type {string} */ from, /** @type {string} */ to) => {
    const found = find(from, to);
    if (!found) return h("td", null, "–");
    const shade = SHADES.filter((share) => found.calls / most > share).length;
    return h(
      `td.shade${shade}`,
      null,
      short(found.calls),
      found.asked ? h("small", null, `${short(found.asked)} asked`) : null,
    );
  };
  const row = (/** @type {string} */ from) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, date(from)),
      REVISIONS.map((to) => [isModern(to) ? gap() : null, cell(from, to)]),
    );
  return h(
    "table.map",
    null,
    h("caption.outside", null, "Calls from each client revision (rows) to each server revision (columns)"),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("td.corner"),
        REVISIONS.map((to) => [isModern(to) ? gap() : null, h("th", { scope: "col" }, date(to))]),
      ),
    ),
    h(
      "tbody",
      null,
      REVISIONS.map((from) => [isModern(from) ? h("tr", null, h("td.gap", { colspan: "7" })) : null, row(from)]),
    ),
  );
}

/** What the gateway does, by the eras of the client and the server. @type {[boolean, boolean, string, string][]} */
const ERAS = [
  [false, false, "Legacy to legacy", "Requests pass through with new ids."],
  [false, true, "Legacy to modern", "Input requests become requests to the client."],
  [true, false, "Modern to legacy", "The call is parked until the client retries."],
  [true, true, "Modern to modern", "Passed through; server state is sealed again."],
];

/** @param {GatewayCell[]} cells */
export const eras = (cells) =>
  ERAS.map(([from, to, words, how]) => {
    const own = cells.filter((cell) => isModern(cell.from) === from && isModern(cell.to) === to);
    const asked = own.reduce((total, cell) => total + cell.asked, 0);
    return h(
      "div",
      null,
      h("p.line", null, h("b", null, words), h("span.spring"), /** @type {Node} */ (ends(from !== to))),
      h(
        "p.small.nums",
        null,
        h("b", null, count(callCount(own))),
        " calls, ",
        h(`b${asked ? ".asked" : ""}`, null, count(asked)),
        " asked",
      ),
      h("p.small.dim", null, how),
    );
  });

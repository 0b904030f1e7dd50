// Definitions that servers changed after their approval.

import { button, h } from "./element.js";
import { changedLines } from "./gateway-sides.js";
import { namedTile } from "./tile.js";

/** @type {Record<string, string>} */
const LOOKS = { breaking: "failed", compatible: "ok", wording: "warn" };
/** @type {Record<string, string>} */
const WHAT = { new: "new", gone: "gone", renamed: "renamed" };

/**
 * @param {GatewayLock} lock
 * @param {(change: { server?: string, kind?: string, name?: string }) => unknown} approve
 */
export function changes(lock, approve) {
  const all = lock.differences;
  const withheld = all.filter((one) => one.isWithheld).length;
  return [
    h(
      "div.bar",
      null,
      h("h2", { id: "lockhead" }, "Changed tools"),
      all.length
        ? h("span.pill.warn", null, withheld ? `${withheld} withheld` : `${all.length} changed`)
        : h("span.pill.ok", null, "as approved"),
      h("span.spring"),
      all.length > 1 ? button("Approve all", () => approve({}), { look: "bare", "data-key": "approve all" }) : null,
      h("code.small.dim", { title: lock.path }, "turnbuckle.lock"),
    ),
    all.length
      ? all.map((one, index) => change(one, index, approve))
      : h("p.nothing", null, "Every server offers what was approved."),
  ];
}

/**
 * The changed lines of a definition, or a sentence if it is too long to compare.
 *
 * @param {GatewayChange} one
 */
function lines(one) {
  const found = one.before || one.after ? changedLines(one.before, one.after) : [];
  if (found.length) {
    return found.map(([sign, line]) =>
      h(sign === "-" ? "del.failed" : "ins.ok", null, `${sign} ${line.replace(/,$/, "")}`),
    );
  }
  return one.changes.map((part) =>
    h(`p.${LOOKS[part.effect] ?? "warn"}`, null, part.path ? h("b", null, part.path, " ") : null, part.what),
  );
}

/**
 * @param {GatewayChange} one
 * @param {number} index
 * @param {(change: { server?: string, kind?: string, name?: string }) => unknown} approve
 */
function change(one, index, approve) {
  const name = one.name || "instructions";
  const word = WHAT[one.what] ?? one.effect;
  const key = `${one.server} ${one.kind} ${one.name}`;
  const from = one.renamedFrom ? h("span.small.dim", null, `was ${one.renamedFrom}`) : null;
  return h(
    "details.item",
    { open: index === 0, "data-key": key },
    h(
      "summary.line",
      { "data-key": `summary ${key}` },
      namedTile(one.server),
      h("code.cut", null, h("b", null, name)),
      from,
      h("span.spring"),
      h(`span.pill.${LOOKS[one.effect] ?? "warn"}`, null, word),
    ),
    h("div.diff.code", { role: "group", "aria-label": `Changes of ${name}` }, lines(one)),
    h(
      "div.actions",
      null,
      button("Approve", () => approve({ server: one.server, kind: one.kind, name: one.name }), {
        look: index === 0 ? "main" : "plain",
        "aria-label": `Approve ${name} of ${one.server}`,
        "data-key": `approve ${key}`,
      }),
      h(
        "span.small.dim",
        null,
        one.isWithheld ? "Withheld from clients until it is approved." : "Offered to clients; only reported.",
      ),
    ),
  );
}

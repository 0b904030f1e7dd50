// The servers behind the gateway: their revisions, states and logs.

import { button, h, span } from "./element.js";
import { count, dataTable, inOneUnit, isModern } from "./gateway-parts.js";
import { spark } from "./server-row.js";
import { namedTile } from "./tile.js";

/** The most characters of a reason in a row. */
const LONGEST_REASON = 90;
/** Columns of the table: text and style. @type {() => [Child, string?][]} */
const columns = () => [
  ["Server"],
  ["Target"],
  ["Revision"],
  ["Health"],
  ["Restarts", ".right"],
  ["Calls", ".right"],
  ["Errors", ".right"],
  ["p50", ".right"],
  [h("span.outside", null, "Latency and actions")],
];
/** The style and the text of each state. @type {Record<string, [string, string]>} */
const STATES = {
  idle: ["closed", "Starts when it is needed"],
  disabled: ["closed", "Switched off"],
  starting: ["running", "Starting"],
  ready: ["ok", "Healthy"],
  restarting: ["warn", "Restarting"],
  failed: ["failed", "Stopped"],
  removed: ["closed", "Removed"],
};

/**
 * @param {GatewayServer[]} servers
 * @param {string} open the server whose log is shown
 * @param {{ restart: (id: string) => unknown, log: (id: string) => unknown }} act
 */
export function serversTable(servers, open, act) {
  if (!servers.length) return h("p.nothing", null, "No server yet. Name one in a config file, or on the command line.");
  return dataTable(
    columns(),
    servers.flatMap((server) => [row(server, open, act), server.id === open ? log(server) : null]),
  );
}

/**
 * @param {GatewayServer} server
 * @param {string} open
 * @param {{ restart: (id: string) => unknown, log: (id: string) => unknown }} act
 */
function row(server, open, act) {
  const { id, title, revision } = server;
  const share = server.calls ? `${Number(((server.errors / server.calls) * 100).toFixed(1))} %` : "–";
  const isOpen = id === open;
  return h(
    "tr",
    null,
    h("td.first", null, h("span.line", null, namedTile(id), h("span.cut", { title: title ?? id }, h("b", null, id)))),
    h(
      "td.whole",
      null,
      h("code.dim", null, server.target),
      server.processes > 1 ? h("span.small.dim", null, `, ${server.processes} processes`) : null,
    ),
    h(
      "td.date",
      { "data-head": revision ? null : "Revision" },
      revision ?? "unknown",
      " ",
      revision ? h("span.dim", null, isModern(revision) ? "modern" : "legacy") : null,
    ),
    h("td.whole", null, health(server)),
    h("td.right", { "data-head": "Restarts" }, count(server.restarts)),
    h("td.right", { "data-head": "Calls" }, count(server.calls)),
    h("td.right", { "data-head": "Errors" }, share),
    h("td.right", { "data-head": "p50" }, server.p50 === undefined ? "–" : span(server.p50)),
    h(
      "td.last",
      null,
      h(
        "span.line.tight",
        null,
        server.recent.length ? /** @type {Node} */ (spark(server.recent)) : h("span.nospark"),
        button(`Log of ${id}`, () => act.log(isOpen ? "" : id), {
          picture: "log",
          quiet: true,
          look: "bare",
          "aria-expanded": String(isOpen),
          "data-key": `log ${id}`,
        }),
        button(`Restart ${id}`, () => act.restart(id), {
          picture: "again",
          quiet: true,
          look: "bare",
          "data-key": `again ${id}`,
        }),
      ),
    ),
  );
}

/**
 * The reason without the server's name, which the row shows, and without the action that failed.
 *
 * @param {string} reason
 */
const brief = (reason) =>
  reason
    .replace(/^server `[^`]*` /, "")
    .replace(/its process ended with exit status: (\d+).*$/s, "exit code $1")
    .replaceAll("`", "");

/** @param {GatewayServer} server */
function health(server) {
  const [look, word] = STATES[server.state] ?? ["closed", server.state];
  // The log and the title have the full text.
  const said = brief(server.reason ?? "");
  const reason = said ? `: ${said.slice(0, LONGEST_REASON)}${said.length > LONGEST_REASON ? "…" : ""}` : "";
  const soon =
    server.retryIn === undefined || server.state === "ready" ? "" : `, next try in ${inOneUnit(server.retryIn / 1000)}`;
  return h(
    "span.line",
    null,
    h(`i.dot.${look}`, { "aria-hidden": "true" }),
    h("span", { title: server.reason }, word, reason, soon),
  );
}

/** @param {GatewayServer} server */
const log = (server) =>
  h(
    "tr.more",
    null,
    h(
      "td",
      { colspan: String(columns().length) },
      h(
        "pre.text.stderr",
        {
          tabindex: "0",
          role: "log",
          "aria-label": `Standard error of ${server.id}`,
          "data-key": `stderr ${server.id}`,
        },
        server.stderr.length ? server.stderr.join("\n") : "Nothing printed to standard error yet.",
      ),
    ),
  );

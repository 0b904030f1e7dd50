// The read-only parts of the gateway's view: figures, the map of revisions, questions, callers and denials.

import { h, span, time } from "./element.js";
import { chart } from "./gateway-chart.js";

const MODERN = "2026-07-28";
/** @type {Record<string, string>} */
export const PERIODS = { "15m": "15 min", "1h": "1 h", "24h": "24 h" };

export const isModern = (/** @type {string} */ revision) => revision >= MODERN;
export const count = (/** @type {number} */ value) => value.toLocaleString("en");
/**
 * A duration in one unit.
 *
 * @param {number} seconds
 */
export const inOneUnit = (seconds) =>
  seconds < 60
    ? `${Math.floor(seconds)} s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)} min`
      : seconds < 86_400
        ? `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
        : `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;

const requestCount = (/** @type {number} */ value) => `${count(value)} request${value === 1 ? "" : "s"}`;
/** @param {(GatewayCell | GatewayCaller)[]} all */
export const callCount = (all) => all.reduce((total, one) => total + one.calls, 0);

/**
 * The figures at the top.
 *
 * @param {GatewayOverview} seen
 * @param {string} period
 */
export function figures(seen, period) {
  const { series, callers, waiting, denials } = seen;
  const word = PERIODS[period];
  const each = series.requests.map((requests) => requests / series.step);
  const whole = series.requests.reduce((total, requests) => total + requests, 0);
  // The last interval is incomplete and would look like a drop.
  const now = each.length > 1 ? each[each.length - 2] : (each[0] ?? 0);
  const rate = (/** @type {number} */ value) =>
    value >= 10 ? count(Math.round(value)) : String(Number(Number(value).toFixed(2)));
  const [modern, legacy] = [true, false].map((is) => callers.filter((one) => isModern(one.revision) === is).length);
  const time50 = series.allP50;
  const most = denials.reduce((highest, one) => Math.max(highest, one.count), 0);
  return [
    figure(
      "Requests per second",
      [rate(now), note(`peak ${rate(Math.max(0, ...each))}, ${requestCount(whole)}`)],
      [chart(`Requests per second over ${word}`, [each], true)],
    ),
    figure(
      ["Latency", h("span.spring"), h("span.key", null, "p50"), h("span.key.second", null, "p99")],
      time50 === null
        ? ["–"]
        : [figureOf(time50), " ", h("span.slash", null, "/"), " ", figureOf(series.allP99 ?? time50)],
      [chart(`Latency over ${word}, median and 99th percentile`, [series.p50, series.p99])],
    ),
    figure(
      "Callers",
      [count(callers.length), note(callers.length ? `${legacy} legacy, ${modern} modern` : "")],
      [h("p.small.dim", null, `${requestCount(callCount(callers))} since the start`)],
    ),
    figure(
      "Waiting questions",
      [h(waiting.length ? "span.asked" : "span", null, count(waiting.length)), note(`of ${count(seen.maxWaiting)}`)],
      [h("p.small.dim", null, waitingWords(waiting))],
    ),
    figure(
      "Denied by policy",
      [count(series.denied), note(`in ${word}`)],
      [h("p.small.dim", null, denials.length ? `most often ${count(most)} times for one reason` : "nothing yet")],
    ),
  ];
}

/** @param {GatewayWaiting[]} waiting */
function waitingWords(waiting) {
  const [oldest] = waiting;
  if (!oldest) return "nothing waits for an answer";
  const until = oldest.expires === undefined ? "" : `, expires in ${inOneUnit(oldest.expires)}`;
  return `oldest ${inOneUnit(oldest.age)}${until}`;
}

/** @param {number} ms */
function figureOf(ms) {
  const [value, unit] = span(ms).split(" ");
  return h("span", null, value, " ", h("span.small.dim", null, unit));
}

const note = (/** @type {string} */ words) => h("span.small.dim.beside", null, " ", words);

/**
 * @param {Child} words
 * @param {Child[]} value
 * @param {Child[]} below
 */
const figure = (words, value, below) => h("div", null, h("h2.kind.line", null, words), h("p.big", null, value), below);

/**
 * A table with a head. On a narrow page each row is a block, and a cell with `data-head` shows that text as its label.
 *
 * @param {[Child, string?][]} columns text and style
 * @param {Child} rows
 */
export const dataTable = (columns, rows) =>
  h(
    "table.data",
    null,
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        columns.map(([words, look]) => h(`th${look ?? ""}`, { scope: "col" }, words)),
      ),
    ),
    h("tbody", null, rows),
  );

/** @type {Record<string, string>} */
const KINDS = { elicitation: "", url: "URL", sampling: "sampling", roots: "roots" };

/** @param {GatewayWaiting[]} waiting */
export const questions = (waiting) =>
  waiting.length
    ? waiting.map((one) =>
        h(
          "div.item",
          null,
          h(
            "p.line",
            null,
            h("b.cut", null, one.message),
            h("span.spring"),
            h("span.small.dim.nums", null, inOneUnit(one.age)),
          ),
          h(
            "p.line.small.dim",
            null,
            h(
              "span.cut",
              null,
              [
                one.name ?? one.server,
                `server ${one.server}`,
                one.caller ? `caller ${one.caller}` : null,
                `step ${one.step}`,
                KINDS[one.kind],
              ]
                .filter(Boolean)
                .join(", "),
            ),
            h("span.spring"),
            one.exchange
              ? h("a", { href: `#/~gateway/messages/${one.exchange}`, "data-key": `q${one.exchange}` }, "Show")
              : null,
          ),
        ),
      )
    : h("p.nothing", null, "No server waits for an answer.");

/** @param {GatewayCaller[]} callers */
export function callersTable(callers) {
  if (!callers.length) return h("p.nothing", null, "No client has called yet.");
  return dataTable(
    [["Caller"], ["Client"], ["Revision"], ["Calls", ".right"], ["Asked", ".right"], ["Last", ".right"]],
    callers.map((one) =>
      h(
        "tr",
        null,
        h("td.first", null, one.caller ? h("b", null, one.caller) : h("span.dim", null, "no key")),
        h("td.whole", null, one.client ?? "–"),
        h("td.date", null, one.revision),
        h("td.right", { "data-head": "Calls" }, count(one.calls)),
        h("td.right", { "data-head": "Asked" }, count(one.asked)),
        h("td.right.last.dim", null, one.ago < 2000 ? "now" : inOneUnit(one.ago / 1000)),
      ),
    ),
  );
}

/** @param {GatewayDenial[]} denials */
export const denialItems = (denials) =>
  denials.length
    ? denials.map((one) =>
        h(
          "div.item",
          null,
          h(
            "p.line",
            null,
            h("code.cut", null, h("b", null, one.name)),
            one.count > 1 ? h("span.pill", null, `${count(one.count)} times`) : null,
            h("span.spring"),
            h("span.small.dim.nums", null, [one.caller, time(one.time)].filter(Boolean).join(", ")),
          ),
          h("p.small.dim", null, "Reason: ", one.reason),
        ),
      )
    : h("p.nothing", null, "Nothing was denied.");

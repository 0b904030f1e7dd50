// The timeline of a call: messages, log lines, questions and answers, in order of time.

import { button, h, plural, span } from "./element.js";
import { svg } from "./icon.js";
import { asList, isObject, print } from "./json.js";
import { set } from "./router.js";
import { state } from "./store.js";
import { label } from "./tile.js";

/** The most lines drawn. */
const MOST_LINES = 200;
/** The most members of an answer that are shown. */
const MOST_MEMBERS = 12;
/** The gap between the parts of the bar, in percent of its width. */
const GAP = 0.6;
const ASKS = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

/** @typedef {{ time: number, look?: string, what: Child }} Line */

/**
 * The heading, the lines, and for calls with questions a bar of times.
 *
 * @param {Exchange} exchange
 * @returns {HTMLElement[]}
 */
export function timeline(exchange) {
  const all = [...messages(exchange), ...logs(exchange), ...answers(exchange), ...unanswered(exchange)].sort(
    (one, other) => one.time - other.time,
  );
  const shown = all.slice(-MOST_LINES);
  const lines = shown.map(({ time, look, what }) =>
    h(
      "li",
      null,
      h("span.when", null, span(Math.max(0, time - exchange.started))),
      h(`i${look ? `.${look}` : ""}`, { "aria-hidden": "true" }),
      h("div.what", null, what),
    ),
  );
  if (all.length > MOST_LINES) {
    lines.unshift(
      h(
        "li",
        null,
        h("span.when"),
        h("i"),
        h("div.what.dim", null, `${all.length - MOST_LINES} earlier lines are among the messages and logs`),
      ),
    );
  }
  if (exchange.taskId) {
    lines.push(
      h("li", null, h("span.when", null, "task"), h("i"), h("div.what", null, h("code", null, exchange.taskId))),
    );
  }
  const list = h("ol.timeline", null, lines);
  if (!exchange.ended) return [list];
  const count = (state.wireOf.get(exchange.n) ?? []).filter((row) => row.kind !== "http").length;
  const open = () => {
    set("wf", `call:${exchange.n}`);
    set("wire", "1");
  };
  return [
    h(
      "div.line",
      null,
      h("h2", null, "Timeline"),
      h("span.spring"),
      count ? button(plural(count, "message"), open, { look: "link.small" }) : null,
    ),
    ...timeBar(exchange),
    list,
  ];
}

/**
 * A bar with the times of the server and of the user in turn.
 *
 * @param {Exchange} exchange
 * @returns {HTMLElement[]}
 */
function timeBar({ started, ended, answers: given = [] }) {
  if (!given.length || !ended) return [];
  /** @type {[number, number][]} */
  const yours = [];
  for (const { asked, time } of given.toSorted((one, other) => one.asked - other.asked)) {
    const last = yours.at(-1);
    if (last && asked <= last[1]) last[1] = Math.max(last[1], time);
    else yours.push([asked, time]);
  }
  /** @type {{ look: string, ms: number }[]} */
  const parts = [];
  let at = started;
  for (const [from, to] of yours) {
    parts.push({ look: "server", ms: Math.max(0, from - at) }, { look: "asked", ms: Math.max(0, to - from) });
    at = to;
  }
  parts.push({ look: "server", ms: Math.max(0, ended - at) });
  const whole = parts.reduce((sum, part) => sum + part.ms, 0) || 1;
  // Even a very short part stays visible.
  const shares = parts.map(({ ms }) => Math.max(ms / whole, 0.04));
  const sum = shares.reduce((one, other) => one + other, 0);
  let left = 0;
  const bar = svg("svg", { class: "timebar", "aria-hidden": "true" });
  parts.forEach(({ look }, index) => {
    const width = (shares[index] / sum) * 100;
    bar.append(svg("rect", { class: look, x: `${left}%`, width: `${Math.max(0.2, width - GAP)}%`, height: 8, rx: 1 }));
    left += width;
  });
  const waited = yours.reduce((total, [from, to]) => total + to - from, 0);
  return [
    /** @type {HTMLElement} */ (/** @type {unknown} */ (bar)),
    h(
      "div.timelabels",
      null,
      h("span", null, span(parts[0].ms)),
      h("span", null, `${span(waited)} for your ${given.length > 1 ? "answers" : "answer"}`),
      h("span", null, span(parts.at(-1)?.ms ?? 0)),
    ),
  ];
}

/**
 * @param {Exchange} exchange
 * @returns {Line[]}
 */
function messages(exchange) {
  const own = (state.wireOf.get(exchange.n) ?? []).filter((row) => row.kind !== "http");
  const progress = own.filter((row) => row.method === "notifications/progress");
  /** @type {Line[]} */
  const lines = [];
  for (const row of own) {
    const line = lineOf(row, exchange, progress);
    if (line) lines.push({ time: row.time, ...line });
  }
  return lines;
}

/**
 * The last line of a call that failed without a response, for example because the server ended.
 *
 * @param {Exchange} exchange
 * @returns {Line[]}
 */
function unanswered({ n, ended, status, error }) {
  const answer = (state.wireOf.get(n) ?? []).findLast((row) => row.kind === "response" && row.direction === "in");
  if (status !== "failed" || !ended || (answer && !/input_required/.test(answer.status ?? ""))) return [];
  const words = error?.who === "transport" ? "The connection failed" : "Failed";
  return [{ time: Number(ended), look: "error", what: [words, h("span.dim", null, ", without an answer")] }];
}

/**
 * @param {WireRow} row
 * @param {Exchange} exchange
 * @param {WireRow[]} progress
 * @returns {{ look?: string, what: Child } | null}
 */
function lineOf(row, exchange, progress) {
  if (row.method === "notifications/message") return null;
  if (row.method === "notifications/progress") {
    return row === progress.at(-1) ? { look: "running", what: progressWords(exchange, progress.length) } : null;
  }
  const isOwn = row.method === exchange.method;
  if (row.kind === "request" && row.direction === "out" && isOwn) {
    return (row.round ?? 1) > 1
      ? { what: `Sent the answers, step ${row.round}` }
      : { what: [exchange.method === "tools/call" ? "Called " : "Sent ", named(exchange)] };
  }
  if (row.kind === "response" && row.direction === "in" && (isOwn || row.method === null)) {
    // The questions are shown with their answers.
    const isTold =
      /input_required/.test(row.status ?? "") && exchange.answers?.some((one) => one.ask.round === row.round);
    return isTold ? null : outcome(row, exchange);
  }
  // A session's question is shown with its answer, or below while it is open.
  if (ASKS.has(row.method ?? "")) return null;
  return {
    what: [
      row.direction === "out" ? "Sent " : "Received ",
      h("code", null, [row.method ?? row.kind, row.object].filter(Boolean).join(" ")),
      row.status ? h("span.dim", null, ` ${row.status}`) : null,
    ],
  };
}

/** @param {Exchange} exchange */
const named = (exchange) => h("code", null, exchange.object ?? exchange.method);

/**
 * @param {Exchange} exchange
 * @param {number} count
 */
function progressWords({ progress }, count) {
  // A number such as 8.0 is a `Digits`; it is shown as in the bar.
  const of = progress?.total ? ` of ${Number(progress.total)}` : "";
  const about = [progress ? `${Number(progress.progress)}${of}` : null, progress?.message].filter(Boolean).join(", ");
  return [`Progress: ${about}`, count > 1 ? h("span.dim.small", null, ` ${plural(count, "report")}`) : null];
}

/**
 * @param {WireRow} row
 * @param {Exchange} exchange
 * @returns {{ look?: string, what: Child }}
 */
function outcome(row, { outputCheck }) {
  const status = row.status ?? "";
  if (/input_required/.test(status)) return { look: "asked", what: "The server asked for input" };
  const isError = /error|-\d{4}|fail/i.test(status);
  const rest = status.replace(/^\d+ · /, "");
  return {
    // A result that breaks its schema is a warning here too.
    look: isError ? "error" : outputCheck?.ok === false ? "warn" : "done",
    what: [isError ? "Error" : "Result", /^(complete|result|ok|)$/.test(rest) ? null : h("span.dim", null, ` ${rest}`)],
  };
}

/**
 * @param {Exchange} exchange
 * @returns {Line[]}
 */
function logs({ n }) {
  return state.logs
    .filter((log) => log.exchange === n)
    .map((log) => {
      const text = typeof log.data === "string" ? log.data : print(log.data, 0, 300);
      const words = log.logger ? `${log.logger}: ${text}` : text;
      return { time: log.time, what: [h(`span.level.${log.level}`, null, `${log.level} `), words] };
    });
}

/** @type {Record<string, string>} */
const SAID = { result: "You answered", decline: "You declined", cancel: "Not answered", error: "You refused" };

/**
 * @param {Exchange} exchange
 * @returns {Line[]}
 */
function answers({ answers: given = [], server }) {
  const from = state.servers.get(server);
  const who = from ? label(from) : "The server";
  return given.flatMap(({ ask, how, result, asked, time }) => [
    { time: asked, look: "asked", what: [`${who} asked: `, h("strong", null, messageOf(ask))] },
    { time, look: "asked", what: [saidIn(how, result), contentOf(result)] },
  ]);
}

/** @param {Question} ask */
function messageOf({ method, params }) {
  if (typeof params?.message === "string") return params.message;
  if (method === "sampling/createMessage") return "a model's reply";
  return method === "roots/list" ? "which folders it may work in" : method;
}

/**
 * @param {string} how
 * @param {unknown} result
 */
function saidIn(how, result) {
  if (how !== "result" || !isObject(result)) return SAID[how] ?? how;
  if (result.action === "accept") return "You accepted";
  if (Array.isArray(result.roots)) return `You shared ${plural(result.roots.length, "folder")}`;
  return typeof result.action === "string" ? `You chose ${result.action}` : SAID.result;
}

/** @param {unknown} result */
function contentOf(result) {
  if (!isObject(result) || !isObject(result.content)) return null;
  const members = Object.entries(result.content);
  const text = result.content.type === "text" ? asList(result.content.text) : null;
  if (text) return h("p.dim", null, String(text[0] ?? ""));
  return h(
    "dl.given",
    null,
    members
      .slice(0, MOST_MEMBERS)
      .flatMap(([name, value]) => [
        h("dt", null, h("code", null, name)),
        h("dd", null, h(`code.value.${typeof value}`, null, print(value, 0, 200))),
      ]),
  );
}

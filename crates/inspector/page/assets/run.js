// One run of a call: where it stands, what happened on the way, its questions, and its result.

import { get, post } from "./api.js";
import { askElement } from "./ask.js";
import { View, button, bytes, copyButton, h, messageOf, plural, span } from "./element.js";
import { failure } from "./failure.js";
import { icon } from "./icon.js";
import { print } from "./json.js";
import { longText } from "./long-text.js";
import { result } from "./result.js";
import { set } from "./router.js";
import { state } from "./store.js";
import { keptFor } from "./task-time.js";
import { tree } from "./tree.js";

/** @type {Record<string, string>} */
const WORDS = { running: "running", asked: "waiting for you", done: "done", failed: "failed", cancelled: "cancelled" };
/** Lines of a timeline that are drawn. */
const MOST_LINES = 200;
/** How often the elapsed time is drawn, in ms. */
const TICK = 200;
const QUIET = new Set(["notifications/progress", "notifications/message"]);

export class Run extends View {
  /** @type {number} */
  n;
  /** @type {string} the tab of the result */
  look;
  /** @type {string | undefined} the app of the tool */
  app;
  /** @type {number | undefined} the run that was shown before */
  previous;
  /** @type {HTMLElement} */
  head;
  /** @type {HTMLElement} */
  line;
  /** @type {HTMLElement} */
  asks;
  /** @type {HTMLElement} */
  end;
  /** @type {string | undefined} */
  shownStatus;
  /** @type {string | undefined} */
  drawn;
  /** @param {{ n: number, look: string, app?: string, previous?: number }} options */
  setup({ n, look, app, previous }) {
    this.n = n;
    this.look = look;
    this.app = app;
    this.previous = previous;
    return this;
  }
  start() {
    this.head = h("div.runhead");
    this.line = h("ol.timeline");
    this.asks = h("div.asks");
    this.end = h("div.end");
    this.append(this.head, this.line, this.asks, this.end);
    this.watch("exchanges", (keys) => keys.has(this.n) && this.draw());
    this.watch("asks", () => this.drawAsks());
    this.watch("logs", () => this.exchange && !this.exchange.ended && this.drawLine(this.exchange));
    const timer = setInterval(() => this.exchange && !this.exchange.ended && this.drawHead(this.exchange), TICK);
    this.stopped = () => clearInterval(timer);
    this.draw();
  }
  get exchange() {
    return state.exchanges.get(this.n);
  }
  get isOpen() {
    return Boolean(this.exchange && !this.exchange.ended);
  }
  draw() {
    const { exchange } = this;
    if (!exchange) {
      this.head.replaceChildren(h("span.dim", null, `Run ${this.n} is not known any more.`));
      return;
    }
    this.drawHead(exchange);
    this.drawLine(exchange);
    this.drawAsks();
    this.drawEnd(exchange);
  }
  /** @param {Exchange} exchange */
  drawHead(exchange) {
    const { status, started, ended, rounds, bytes: size, progress, error, result: value, taskId, task } = exchange;
    const isToolError = status === "done" && value?.isError === true;
    const isBroken = status === "done" && !isToolError && exchange.outputCheck?.ok === false;
    const word = isToolError
      ? "the tool failed"
      : isBroken
        ? "done, but the result breaks its schema"
        : (WORDS[status] ?? status);
    const elapsed = Math.max(0, (ended ?? Date.now()) - started);
    const facts = [
      span(elapsed),
      ended && size ? bytes(size) : null,
      rounds > 1 || status === "asked" ? plural(rounds, "round") : null,
      taskId ? taskWords(task) : null,
    ].filter(Boolean);
    const parts = [
      h(
        `span.pill.${isToolError || isBroken ? "failed" : status}`,
        null,
        status === "done" && !isToolError && !isBroken ? icon("check") : null,
        word,
      ),
      h("span.facts", null, facts.join(" · ")),
    ];
    if (!ended) parts.push(button("Cancel", () => this.cancel(), { title: "Cancel this call (Esc)" }));
    else parts.push(copyButton("Copy command line", () => exchange.command ?? "", { quiet: true, look: "bare" }));
    const bar = ended ? null : status === "asked" && !progress ? h("div.waiting") : progressBar(progress, elapsed);
    if (!ended) {
      // The button stays the same element, so that it can be clicked between two ticks.
      if (this.head.querySelector("button") && this.shownStatus === status) {
        this.head.querySelector(".facts")?.replaceChildren(facts.join(" · "));
        if (bar) this.head.querySelector(".progress, .waiting")?.replaceWith(bar);
        return;
      }
    }
    this.shownStatus = status;
    this.head.replaceChildren(
      h("div.facing", null, parts),
      bar ?? "",
      error && status === "cancelled" ? h("p.dim", null, error.message) : "",
    );
  }
  /** @param {Exchange} exchange */
  drawLine({ started, ended, server, taskId }) {
    const wire = (state.wireOf.get(this.n) ?? [])
      .filter((row) => !QUIET.has(row.method ?? "") && row.kind !== "http")
      .map((row) => ({ time: row.time, draw: () => message(row) }));
    const logs = state.logs
      .filter((log) => log.server === server && log.time >= started && log.time <= (ended ?? Infinity))
      .map((log) => ({ time: log.time, draw: () => logLine(log) }));
    const all = [...wire, ...logs].sort((one, other) => one.time - other.time);
    const shown = all
      .slice(-MOST_LINES)
      .map((entry) => h("li", null, h("span.when", null, span(Math.max(0, entry.time - started))), entry.draw()));
    if (all.length > MOST_LINES) {
      shown.unshift(h("li.dim", null, `${all.length - MOST_LINES} earlier lines are in the wire and in the logs`));
    }
    if (taskId) shown.push(h("li", null, h("span.when", null, "task"), h("span.what", null, h("code", null, taskId))));
    this.line.replaceChildren(...shown);
  }
  drawAsks() {
    const open = [...state.asks.values()].filter((ask) => ask.exchange === this.n);
    const wanted = open.map(askElement);
    for (const shown of [...this.asks.children]) if (!wanted.some((one) => one === shown)) shown.remove();
    for (const one of wanted) if (one.parentNode !== this.asks) this.asks.append(one);
  }
  /** @param {Exchange} exchange */
  drawEnd(exchange) {
    if (!exchange.ended) {
      const last = state.exchanges.get(this.previous ?? -1);
      if (last?.ended && !this.end.firstChild) this.end.append(h("div.lastrun", null, "last run"), this.outcome(last));
      return;
    }
    // What the server heard of a cancelled call is known a moment later.
    if (this.drawn === this.look && exchange.status !== "cancelled") return;
    this.drawn = this.look;
    this.end.replaceChildren(this.outcome(exchange));
  }
  /**
   * @param {Exchange} exchange
   * @returns {HTMLElement}
   */
  outcome(exchange) {
    if (exchange.error && !exchange.result) {
      return h(
        "div",
        null,
        exchange.status === "cancelled" ? cancelled(exchange) : [failure(exchange.error), rawAnswer(exchange)],
      );
    }
    if (!exchange.result) {
      return h("p.dim", null, exchange.status === "cancelled" ? cancelled(exchange) : "There is no result.");
    }
    const shown = this.app ? { ...exchange, app: this.app } : exchange;
    return result(shown, this.look, (look) => {
      this.look = look;
      set("look", look === "content" ? "" : look);
      this.drawEnd(this.exchange ?? exchange);
    });
  }
  async cancel() {
    await post(`exchanges/${this.n}/cancel`).catch(() => {});
  }
}
customElements.define("tb-run", Run);

/**
 * What the server answered, as it came, on demand.
 *
 * @param {Exchange} exchange
 */
function rawAnswer({ n }) {
  const row = (state.wireOf.get(n) ?? []).findLast((one) => one.direction === "in" && one.kind !== "notification");
  if (!row) return null;
  const box = h("div.rawanswer");
  const show = async () => {
    const whole = await get(`wire/${row.seq}`).catch((error) => ({ message: messageOf(error) }));
    box.replaceChildren(
      h("div.kind", null, "raw answer"),
      whole.message === null && whole.http
        ? tree(whole.http, { search: false })
        : longText((most) => print(whole.message, 2, most)),
    );
  };
  box.append(button("Raw answer", show, { look: "link" }));
  return box;
}

/**
 * The task, how long it is kept, and how it is looked after.
 *
 * @param {Task | null | undefined} task
 */
function taskWords(task) {
  const left = keptFor(task);
  const every = Number(task?.pollIntervalMs ?? task?.pollInterval);
  const isOpen = task?.status === "working" || task?.status === "input_required";
  return [
    "task",
    task?.status,
    isOpen && every > 0 ? `asked every ${span(every)}` : null,
    left === null ? null : left > 0 ? `kept for ${span(left)}` : "no longer kept",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {Exchange} exchange */
function cancelled(exchange) {
  const wire = state.wireOf.get(exchange.n) ?? [];
  const sent = wire.find((row) => row.direction === "out" && /cancel/.test(row.method ?? ""));
  const answered = sent && wire.some((row) => row.direction === "in" && row.time >= sent.time && row.seq > sent.seq);
  const last = wire.findLast((row) => row.kind === "request" || row.kind === "response");
  const told = sent
    ? [
        h("code", null, sent.method),
        ` was sent; the server ${answered ? "answered after it" : "has not answered since"}.`,
      ]
    : [
        last?.direction === "in" && last.kind === "response"
          ? "The server was waiting for an answer and had no request under way, so nothing was sent."
          : "The request was ended; the server hears that the stream closed.",
      ];
  return h("p.dim", null, told, exchange.error?.message ? ` ${exchange.error.message}` : "");
}

/**
 * @param {Progress | null | undefined} progress
 * @param {number} elapsed
 */
function progressBar(progress, elapsed) {
  if (!progress) return h("div.waiting", null, elapsed > 300 ? "no progress reported yet" : "");
  const total = Number(progress.total);
  const done = Number(progress.progress);
  const rate = elapsed > 500 && done > 0 ? `${(done / (elapsed / 1000)).toFixed(1)}/s` : null;
  const isOpen = progress.total === undefined || progress.total === null;
  const words = [isOpen ? (done > 0 ? String(done) : null) : `${done}/${total}`, progress.message, rate]
    .filter(Boolean)
    .join(" · ");
  const bar = h("progress", {
    "aria-label": "Progress",
    ...(total > 0 ? { max: total, value: Math.min(done, total) } : {}),
  });
  return h("div.progress", null, bar, h("span", null, words));
}

/** @param {WireRow} row */
function message(row) {
  const words = [row.method ?? row.kind, row.object].filter(Boolean).join(" ");
  return h(
    "span.what",
    null,
    icon(row.direction),
    h("span", null, words),
    h(
      "span.dim",
      null,
      [row.status, row.ms !== null && row.ms !== undefined && row.kind === "response" ? span(row.ms) : null]
        .filter(Boolean)
        .join(" · "),
    ),
  );
}

/** @param {LogLine} log */
function logLine(log) {
  const text = typeof log.data === "string" ? log.data : print(log.data, 0, 300);
  return h(
    `span.what.log.${log.level}`,
    null,
    h("span.level", null, log.level),
    h("span", null, log.logger ? `${log.logger}: ${text}` : text),
  );
}

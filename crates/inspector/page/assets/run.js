// One run of a call: its status and result first, then its timeline with the questions.

import { get, post } from "./api.js";
import { askElement } from "./ask.js";
import { View, button, bytes, copyButton, h, messageOf, plural, save, span, time } from "./element.js";
import { failure } from "./failure.js";
import { fine } from "./icon.js";
import { print } from "./json.js";
import { longText } from "./long-text.js";
import { misshape, result } from "./result.js";
import { set } from "./router.js";
import { saveAsTest } from "./saved-test.js";
import { state } from "./store.js";
import { keptFor } from "./task-time.js";
import { timeline } from "./timeline.js";
import { tree } from "./tree.js";

/** @type {Record<string, string>} */
const WORDS = { running: "Running", asked: "Waiting for you", done: "Done", failed: "Failed", cancelled: "Cancelled" };
/** The interval between two updates of the elapsed time, in ms. */
const TICK = 200;

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
  /** @type {HTMLElement} */
  foot;
  /** @type {string | undefined} */
  drawn;
  /** @type {string | undefined} */
  drawnHead;
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
    this.line = h("section.timebox", { "aria-label": "Timeline" });
    this.asks = h("div.asks");
    this.end = h("div.end");
    this.foot = h("footer.foot", { hidden: true });
    this.append(
      this.head,
      h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Answer and timeline" }),
      this.foot,
    );
    this.watch("exchanges", (keys) => keys.has(this.n) && this.draw());
    this.watch("asks", () => this.drawAsks());
    this.watch("logs", (keys) => {
      if (this.exchange && keys.has(this.exchange.server)) this.drawLine(this.exchange);
    });
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
      this.head.replaceChildren(h("span.dim", null, `Run ${this.n} is no longer known.`));
      return;
    }
    this.drawHead(exchange);
    this.drawLine(exchange);
    this.drawAsks();
    this.drawEnd(exchange);
    // The result is at the top. Until it arrives, the timeline is.
    const place = this.querySelector(":scope > .scroll");
    const order = exchange.ended ? [this.end, this.line, this.asks] : [this.line, this.asks, this.end];
    if (place && order.some((part, at) => place.children[at] !== part)) place.replaceChildren(...order);
  }
  /** @param {Exchange} exchange */
  drawHead(exchange) {
    const { status, started, ended, rounds, bytes: size, taskId, task } = exchange;
    const [look, word] = verdict(exchange);
    const whole = Math.max(0, (ended ?? Date.now()) - started);
    const yours = waited(exchange);
    const facts = [
      status === "asked" ? `step ${rounds}` : rounds > 1 ? plural(rounds, "step") : null,
      status === "asked" ? `${span(Math.max(0, whole - yours))} on the server` : null,
      ended && size ? bytes(size) : null,
      ended ? time(started) : null,
      taskId ? taskWords(task, ended) : null,
    ].filter(Boolean);
    const took = span(!ended && whole >= 1000 ? Math.floor(whole / 1000) * 1000 : ended ? whole - yours : whole);
    const key = `${look} ${word} ${Boolean(ended)}`;
    if (key === this.drawnHead) {
      this.head.querySelector(".took")?.replaceChildren(took);
      this.head.querySelector(".facts")?.replaceChildren(facts.join(", "));
      return;
    }
    this.drawnHead = key;
    this.head.replaceChildren(
      h(`span.pill.${look}`, null, look === "done" ? fine("check") : look === "warn" ? fine("alert") : null, word),
      h("span.took", null, took),
      h("span.facts", null, facts.join(", ")),
      h("span.spring"),
      ended ? this.tools(exchange) : "",
    );
  }
  /** @param {Exchange} exchange */
  tools(exchange) {
    const whole = () => print(exchange.result ?? exchange.error, 2);
    return h(
      "div.line.tight",
      null,
      exchange.method === "tools/call"
        ? button("Save as a test", () => saveAsTest(exchange), {
            picture: "test",
            quiet: true,
            look: "bare.savetest",
            title: "Save this call, with what is expected of it, as a file for turnbuckle test",
          })
        : null,
      copyButton("Copy the result", whole, { quiet: true, look: "bare" }),
      button("Save the result", () => save(`${exchange.object ?? "result"}-${exchange.n}.json`, whole()), {
        picture: "save",
        quiet: true,
        look: "bare",
      }),
      button("Call again", () => document.querySelector("tb-panel")?.run(), {
        picture: "again",
        quiet: true,
        look: "bare",
      }),
    );
  }
  /** @param {Exchange} exchange */
  drawLine(exchange) {
    this.line.replaceChildren(...timeline(exchange));
  }
  drawAsks() {
    const open = [...state.asks.values()].filter((ask) => ask.exchange === this.n);
    const answered = (this.exchange?.answers ?? []).filter((one) => one.ask.round === open[0]?.round).length;
    const count = answered + open.length;
    const wanted = open.map((ask, at) => askElement(ask, [answered + at + 1, count]));
    for (const shown of [...this.asks.children]) if (!wanted.some((one) => one === shown)) shown.remove();
    for (const one of wanted) if (one.parentNode !== this.asks) this.asks.append(one);
    this.foot.hidden = count < 2 || !open.length;
    this.foot.replaceChildren(
      h(
        "p.small",
        null,
        h("strong", null, `${answered} of ${count} answered. `),
        h("span.dim", null, `The answers go back together, as step ${(open[0]?.round ?? 1) + 1}.`),
      ),
    );
  }
  /** @param {Exchange} exchange */
  drawEnd(exchange) {
    if (!exchange.ended) {
      const last = state.exchanges.get(this.previous ?? -1);
      if (last?.ended && !this.end.firstChild) this.end.append(h("div.lastrun", null, "last run"), this.outcome(last));
      return;
    }
    // The details of a cancelled call arrive a moment later.
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
 * The outcome of a call, as a style and a text.
 *
 * @param {Exchange} exchange
 * @returns {[string, string]}
 */
export function verdict(exchange) {
  const { status, result: value, outputCheck } = exchange;
  if (status === "done" && value?.isError === true) return ["failed", "The tool failed"];
  if (misshape(exchange)) return ["warn", "Done, but the result is not valid"];
  if (status === "done" && outputCheck?.ok === false) return ["warn", "Done, but the result breaks its schema"];
  return [status, WORDS[status] ?? status];
}

/**
 * How long the server waited for the user's answers, in ms. Several questions may be open at the same time.
 *
 * @param {Exchange} exchange
 */
export function waited({ n, answers = [] }) {
  const spans = answers.map(({ asked, time: end }) => [asked, end]);
  const open = [...state.asks.values()].filter((ask) => ask.exchange === n);
  const since = open.length ? (state.askedAt.get(open[0].id) ?? Date.now()) : null;
  if (since !== null) spans.push([since, Date.now()]);
  spans.sort((one, other) => one[0] - other[0]);
  let sum = 0;
  let until = -Infinity;
  for (const [from, to] of spans) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

/**
 * The server's raw answer, loaded on demand.
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
 * The task of a call: how long it is kept, and how it is polled.
 *
 * @param {Task | null | undefined} task
 * @param {number | null | undefined} ended when the call ended; older states of its task are out of date
 */
function taskWords(task, ended) {
  const left = keptFor(task);
  const every = Number(task?.pollIntervalMs ?? task?.pollInterval);
  const isOpen = task?.status === "working" || task?.status === "input_required";
  return [
    "task",
    isOpen && ended ? null : task?.status,
    isOpen && !ended && every > 0 ? `asked every ${span(every)}` : null,
    left === null ? null : left > 0 ? `kept for ${span(left)}` : "no longer kept",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {Exchange} exchange */
function cancelled(exchange) {
  const wire = state.wireOf.get(exchange.n) ?? [];
  const sent = wire.find((row) => row.direction === "out" && /cancel/.test(row.method ?? ""));
  const answered =
    sent &&
    wire.some(
      (row) => row.direction === "in" && row.kind === "response" && row.time >= sent.time && row.seq > sent.seq,
    );
  const last = wire.findLast((row) => row.kind === "request" || row.kind === "response");
  const told = sent
    ? [
        h("code", null, sent.method),
        ` was sent; the server ${answered ? "answered after it" : "has not answered since"}.`,
      ]
    : [
        last?.direction === "in" && last.kind === "response"
          ? "The server was waiting for an answer and had no request under way, so nothing was sent."
          : "The request was ended; the server sees that the stream closed.",
      ];
  return h("p.dim", null, told, exchange.error?.message ? ` ${exchange.error.message}` : "");
}

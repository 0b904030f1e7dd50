// The requests through the gateway, with the messages of both hops side by side.

import { get } from "./api.js";
import { View, bytes, clock, h, messageOf, repeat, searchBox, span } from "./element.js";
import { isModern } from "./gateway-parts.js";
import { joined, sides } from "./gateway-sides.js";
import { icon } from "./icon.js";
import { go, onPlace, place } from "./router.js";
import "./virtual-list.js";

/** The interval between two updates, in ms. */
const TICK = 1000;
/** The most requests kept on the page. */
const KEPT = 1000;
/** @type {Record<string, [string, string]>} */
const OUTCOMES = {
  running: ["running", "running"],
  ok: ["", "ok"],
  tool_error: ["failed", "tool error"],
  error: ["failed", "error"],
  asked: ["asked", "asked"],
  cancelled: ["warn", "cancelled"],
};
/** @type {Record<string, string>} */
const PARTS = {
  request: "Request",
  question: "Question",
  answer: "Answer",
  notification: "Notification",
  result: "Result",
  error: "Error",
};

/** @type {Record<string, string>} */
const PART_LOOKS = { error: ".failed", question: ".asked", answer: ".asked" };

export class GatewayMessages extends View {
  /** @type {Map<number, GatewayExchange>} */
  exchanges = new Map();
  /** @type {import("./virtual-list.js").VirtualList} */
  list;
  /** @type {HTMLInputElement} */
  filter;
  /** @type {HTMLElement} */
  detail;
  /** @type {HTMLElement} */
  problem;
  /** @type {string} the key of the shown detail */
  shown = "";
  start() {
    this.filter = h("input.filter", {
      type: "search",
      placeholder: "Filter requests",
      "aria-label": "Filter requests",
      "aria-keyshortcuts": "/",
      oninput: () => this.draw(),
    });
    this.problem = h("p.problem", { role: "alert" });
    this.list = document.createElement("tb-list").setup({
      label: "Requests",
      height: 44,
      draw: (/** @type {GatewayExchange} */ one) => row(one),
      choose: (/** @type {GatewayExchange} */ one) => go({ object: String(one.number) }),
      mark: (/** @type {GatewayExchange} */ one) => String(one.number) === place().object,
    });
    this.detail = h("section.hops", { tabindex: "0", "aria-label": "Messages of both hops" });
    this.replaceChildren(
      h(
        "header.top",
        null,
        h("a.plain", { href: "#/~gateway" }, icon("left"), h("span", null, "Gateway")),
        h(
          "div.who",
          null,
          h("h1", null, "Both hops"),
          h("p.small.dim.cut", null, "what a client sent, and what the server was sent"),
        ),
        h("span.spring"),
        searchBox(this.filter, "search", "/"),
      ),
      h("div.hopbody", null, h("section.column", { "aria-label": "Requests" }, this.problem, this.list), this.detail),
    );
    const rest = repeat(() => this.read(), TICK);
    const leave = onPlace(() => this.show());
    this.stopped = () => {
      rest();
      leave();
    };
    void this.show();
  }
  async read() {
    // Requests that were running at the last update are read again.
    const running = [...this.exchanges.values()].find((one) => one.outcome === "running");
    const newest = Math.max(0, ...this.exchanges.keys());
    const after = running ? running.number - 1 : newest;
    try {
      const rows = await get(`gateway/messages?after=${after}&limit=${KEPT}`);
      if (!this.isConnected) return;
      this.problem.textContent = "";
      for (const one of rows) this.exchanges.set(one.number, one);
      for (const number of [...this.exchanges.keys()].slice(0, -KEPT)) this.exchanges.delete(number);
      if (rows.length || !this.exchanges.size) this.draw();
      if (rows.some((/** @type {GatewayExchange} */ one) => String(one.number) === place().object)) void this.show();
    } catch (error) {
      this.problem.textContent = messageOf(error);
    }
  }
  draw() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (/** @type {GatewayExchange} */ one) => {
      const text = [one.method, one.name, one.server, one.caller, one.client, one.from, one.to, one.outcome]
        .join(" ")
        .toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const shown = [...this.exchanges.values()].filter(fits).toSorted((one, other) => other.number - one.number);
    this.list.show(shown);
    if (!place().object) this.welcome();
  }
  welcome() {
    this.shown = "";
    this.detail.replaceChildren(
      h(
        "p.empty",
        null,
        this.exchanges.size
          ? "Choose a request to see the messages of both hops."
          : "No request has passed through the gateway yet.",
      ),
    );
  }
  async show() {
    const { object, tab } = place();
    this.classList.toggle("chosen", Boolean(object));
    this.list.paint();
    if (!object || tab !== "messages") return this.welcome();
    try {
      const whole = await get(`gateway/messages/${encodeURIComponent(object)}`);
      if (place().object !== object || !this.isConnected) return undefined;
      const key = JSON.stringify(whole);
      if (key === this.shown) return undefined;
      this.shown = key;
      return this.detail.replaceChildren(...detail(whole));
    } catch (error) {
      return this.detail.replaceChildren(h("p.empty", null, messageOf(error)));
    }
  }
}
customElements.define("tb-gateway-messages", GatewayMessages);

/** @param {GatewayExchange} one */
function row(one) {
  const [look, word] = OUTCOMES[one.outcome] ?? ["", one.outcome];
  return h(
    "div.hoprow",
    null,
    h(
      "span.line",
      null,
      h("span.method.cut", null, one.method, one.name ? h("b", null, ` ${one.name}`) : null),
      h("span.spring"),
      h(`span.small${look ? `.pill.${look}` : ".dim"}`, null, word),
    ),
    h(
      "span.line.small.dim.nums",
      null,
      h("span", null, clock(one.time).slice(0, 8)),
      h(
        "span.cut",
        null,
        one.server ? `${era(one.from)} → ${one.server}, ${era(one.to ?? "")}` : "answered by the gateway",
      ),
      h("span.spring"),
      h("span", null, span(one.milliseconds)),
    ),
  );
}

const era = (/** @type {string} */ revision) => (isModern(revision) ? "modern" : "legacy");

/** @param {GatewayWhole} whole */
function detail(whole) {
  const [look, word] = OUTCOMES[whole.outcome] ?? ["", whole.outcome];
  const inside = serverTime(whole);
  return [
    h(
      "div.hophead",
      null,
      h("a.back.onlynarrow", { href: "#/~gateway/messages", "aria-label": "Back to the requests" }, icon("left")),
      h("h2.cut", null, whole.method, whole.name ? ` ${whole.name}` : ""),
      h(`span.pill.${look || "ok"}`, null, word),
      h("span.spring"),
      h(
        "span.small.dim.nums",
        null,
        span(whole.milliseconds),
        inside === null ? "" : `, of which the server ${span(inside)}`,
      ),
    ),
    whole.continues
      ? h(
          "p.small.dim",
          null,
          "Continues ",
          h("a", { href: `#/~gateway/messages/${whole.continues}` }, `request ${whole.continues}`),
          " with answers.",
        )
      : null,
    h(
      "div.hopgrid",
      { role: "table", "aria-label": "Messages of both hops" },
      h(
        "div.hopends",
        { role: "row" },
        h(
          "div",
          { role: "columnheader" },
          h("b", null, whole.client ?? "client"),
          h("span.small.dim", null, [whole.from, whole.caller].filter(Boolean).join(", ")),
        ),
        h(
          "div",
          { role: "columnheader" },
          h("b", null, whole.server ?? "gateway"),
          h("span.small.dim", null, whole.to ?? "no server was asked"),
        ),
      ),
      joined(whole.messages).map(([client, server]) => {
        const [left, right] = sides(client?.text, server?.text);
        return h("div.hop", { role: "row" }, message(client, left, "ofclient"), message(server, right, "ofserver"));
      }),
    ),
    whole.dropped ? h("p.small.dim", null, `${whole.dropped} notifications were not kept.`) : null,
  ].filter((part) => part !== null);
}

/** The server's share of the time. @param {GatewayWhole} whole */
function serverTime(whole) {
  const own = whole.messages.filter((one) => one.hop === "server");
  const [first] = own.filter((one) => one.part === "request");
  const last = own.findLast((one) => one.part === "result" || one.part === "error");
  return first && last ? last.at - first.at : null;
}

/**
 * @param {GatewayMessage | undefined} one
 * @param {HTMLElement | null} text
 * @param {string} side
 */
function message(one, text, side) {
  if (!one) return h(`div.message.none.${side}`, { role: "cell" });
  const isToServer = one.part === "request" || one.part === "answer";
  return h(
    `div.message.${side}${PART_LOOKS[one.part] ?? ""}`,
    { role: "cell" },
    h(
      "p.line.small",
      null,
      icon(isToServer ? "out" : "in"),
      h("b", null, PARTS[one.part] ?? one.part),
      one.method ? h("span.cut", null, one.method) : null,
      h("span.spring"),
      h("span.dim.nums", null, `${span(one.at)}, ${bytes(one.bytes)}`),
    ),
    text,
  );
}

// One line for all open questions, and one for a server that failed.

import { View, button, h, plural, span } from "./element.js";
import { icon } from "./icon.js";
import { renew } from "./renew.js";
import { address, go, onPlace, place } from "./router.js";
import { state } from "./store.js";
import { label } from "./tile.js";

/** The most calls named in the line. */
const NAMED = 4;
/** The interval between two updates of the waiting time, in ms. */
const TICK = 5000;

/** @typedef {{ key: string, asks: Question[], call: Exchange | undefined, server: Server | undefined }} Group */

/** The open questions, by call. */
function groups() {
  /** @type {Map<string, Group>} */
  const found = new Map();
  for (const ask of state.asks.values()) {
    const key = `${ask.server} ${ask.exchange ?? "none"}`;
    const group = found.get(key) ?? {
      key,
      asks: [],
      call: state.exchanges.get(ask.exchange ?? -1),
      server: state.servers.get(ask.server),
    };
    group.asks.push(ask);
    found.set(key, group);
  }
  return [...found.values()];
}

/** @param {Group} group */
const hrefOf = ({ call, server }) =>
  call
    ? address({
        server: server?.name,
        tab: TABS[call.method] ?? "tools",
        object: call.object,
        query: { run: call.n, wire: "" },
      })
    : address({ server: server?.name, tab: "questions", query: {} });
/** @type {Record<string, string>} */
const TABS = { "prompts/get": "prompts", "resources/read": "resources" };

/** Goes to the next call with an open question, after the call that is shown. */
export function answerNext() {
  const all = groups();
  if (!all.length) return;
  const shown = document.querySelector("tb-run")?.n;
  const at = all.findIndex((group) => group.call?.n === shown);
  const next = all[(at + 1) % all.length];
  const { call, server } = next;
  if (call) {
    go({
      server: server?.name,
      tab: TABS[call.method] ?? "tools",
      object: call.object,
      query: { run: call.n, wire: "" },
    });
  } else {
    go({ server: server?.name, tab: "questions" });
  }
  requestAnimationFrame(() => document.querySelector("tb-ask")?.scrollIntoView({ block: "nearest" }));
}

export class WaitingLine extends View {
  /** @type {(server: Server) => unknown} */
  connect;
  /** @param {(server: Server) => unknown} connect */
  setup(connect) {
    this.connect = connect;
    return this;
  }
  start() {
    this.className = "waitingbar";
    for (const topic of ["asks", "exchanges", "servers", "offers"]) this.watch(topic, () => this.draw());
    const timer = setInterval(() => this.draw(), TICK);
    // The line about a failed server depends on the server that is shown.
    const leave = onPlace(() => this.draw());
    this.stopped = () => {
      clearInterval(timer);
      leave();
    };
    this.draw();
  }
  draw() {
    this.drawTrouble();
    const all = groups();
    const count = state.asks.size;
    const shown = this.querySelector(".questionline");
    if (!count) return shown?.remove();
    const line = h(
      "section.questionline",
      { "aria-label": "Waiting for you" },
      icon("ask"),
      h("strong", null, `${plural(count, "question")} waiting`),
      h(
        "span.which",
        null,
        all
          .slice(0, NAMED)
          .flatMap((group) => [
            h("a", { href: hrefOf(group) }, group.call?.object ?? group.call?.method ?? "a session"),
            h("span", null, this.about(group)),
          ]),
        all.length > NAMED ? h("span", null, `and ${all.length - NAMED} more`) : null,
      ),
      h("span.spring"),
      button("Answer next", answerNext, { "aria-keyshortcuts": "n" }),
    );
    line.lastElementChild?.append(h("kbd", null, "N"));
    if (shown) renew(shown, [...line.childNodes]);
    else this.append(line);
    return undefined;
  }
  /** @param {Group} group */
  about({ asks, call, server }) {
    const seconds = call ? Math.floor((Date.now() - call.started) / 1000) : 0;
    const since = seconds > 0 ? span(seconds * 1000) : null;
    return [String(asks.length), server ? label(server) : null, since].filter(Boolean).join(", ");
  }
  /** Reports above the lists that the server failed or was stopped. */
  drawTrouble() {
    const server = [...state.servers.values()].find((one) => one.name === place().server);
    const isOver = (server?.status === "failed" || server?.status === "closed") && state.offers.has(server.id);
    const shown = this.querySelector(".trouble");
    if (!server || !isOver) return shown?.remove();
    const isStopped = server.status === "closed";
    const words = isStopped ? "not started" : (server.error?.message ?? "the server is gone");
    const key = `${server.id} ${label(server)} ${words}`;
    if (shown?.getAttribute("data-key") === key) return undefined;
    shown?.remove();
    return this.prepend(
      h(
        "div.trouble",
        { role: "alert", "data-key": key },
        icon("alert"),
        h("strong", null, label(server)),
        h("span.cut", null, words),
        h("span.spring"),
        button(isStopped ? "Connect" : "Retry", () => this.connect(server)),
      ),
    );
  }
}
customElements.define("tb-waiting", WaitingLine);

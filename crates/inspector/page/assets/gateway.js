// The gateway's view: callers, servers, translations, open questions and denied calls.

import { get, post } from "./api.js";
import { View, announce, button, focusOn, h, messageOf, repeat } from "./element.js";
import { changes } from "./gateway-changes.js";
import { eras, revisionMap } from "./gateway-map.js";
import { PERIODS, callersTable, count, denialItems, figures, inOneUnit, questions } from "./gateway-parts.js";
import { serversTable } from "./gateway-servers.js";
import { icon } from "./icon.js";
import { place, set } from "./router.js";
import "./gateway-messages.js";

/** The interval between two updates, in ms. */
const TICK = 1000;

export class GatewayView extends View {
  /** @type {GatewayOverview | null} */
  seen = null;
  /** @type {Map<string, string>} the shown data of each part, as text */
  shown = new Map();
  /** @type {Record<string, HTMLElement>} */
  parts = {};
  /** @type {HTMLElement} */
  words;
  /** @type {HTMLElement} */
  problem;
  start() {
    this.words = h("span.cut");
    this.problem = h("p.problem", { role: "alert" });
    const box = (/** @type {string} */ look, /** @type {Attributes} */ attributes) =>
      h(`section.box${look}`, attributes);
    this.parts = {
      figures: box(".figures.c12", { "aria-label": "Summary" }),
      map: box(".c7", { "aria-labelledby": "maphead" }),
      lock: box("", { "aria-labelledby": "lockhead", hidden: true }),
      waiting: box("", { "aria-labelledby": "waithead" }),
      servers: box(".c12", { "aria-labelledby": "serverhead" }),
      callers: box(".c6", { "aria-labelledby": "callerhead" }),
      denials: box(".c6", { "aria-labelledby": "denialhead" }),
    };
    const { figures: top, map: table, lock, waiting, servers, callers, denials } = this.parts;
    this.replaceChildren(
      this.head(),
      h(
        "div.board",
        { tabindex: "0", role: "region", "aria-label": "Gateway" },
        this.problem,
        top,
        table,
        h("div.c5.stack", null, lock, waiting),
        servers,
        callers,
        denials,
      ),
    );
    this.stopped = repeat(() => this.read(), TICK);
  }
  get period() {
    const asked = place().query.get("period") ?? "";
    return Object.hasOwn(PERIODS, asked) ? asked : "15m";
  }
  head() {
    const periods = h(
      "span.segments.keep.periods",
      { role: "group", "aria-label": "Period" },
      Object.entries(PERIODS).map(([id, words]) =>
        h(
          "button",
          {
            type: "button",
            "data-period": id,
            "aria-pressed": String(id === this.period),
            onclick: () => this.choose(id),
          },
          words,
        ),
      ),
    );
    return h(
      "header.top",
      null,
      h(
        "div.who",
        null,
        h("h1", null, "Gateway"),
        h("p.state.open", { role: "status" }, h("i.dot.ok", { "aria-hidden": "true" }), this.words),
      ),
      h("span.spring"),
      periods,
      h("a.plain", { href: "#/~gateway/messages" }, icon("messages"), h("span", null, "Messages")),
      button("Reload config", () => this.act("gateway/reload", {}, "config read again"), {
        picture: "again",
        look: "plain.reload",
      }),
    );
  }
  /** @param {string} period */
  choose(period) {
    set("period", period === "15m" ? "" : period);
    for (const one of this.querySelectorAll("[data-period]")) {
      one.setAttribute("aria-pressed", String(one.getAttribute("data-period") === period));
    }
    void this.read();
  }
  async read() {
    try {
      const seen = await get(`gateway?period=${this.period}`);
      if (!this.isConnected) return;
      this.seen = seen;
      this.problem.textContent = "";
      this.draw();
    } catch (error) {
      this.problem.textContent = messageOf(error);
    }
  }
  /**
   * @param {string} path
   * @param {object} body
   * @param {string} words
   */
  async act(path, body, words) {
    try {
      await post(path, body);
      announce(words);
      await this.read();
    } catch (error) {
      this.problem.textContent = messageOf(error);
    }
  }
  draw() {
    const { seen } = this;
    if (!seen) return;
    this.words.textContent = `turnbuckle up on ${seen.address}, ${inOneUnit(seen.uptime)}`;
    const { series, cells, callers, waiting, denials, servers } = seen;
    const total = cells.reduce((sum, cell) => sum + cell.calls, 0);
    this.redraw("figures", [series, callers.length, waiting, denials, this.period], () => figures(seen, this.period));
    this.redraw("map", cells, () => [
      h(
        "div.bar",
        null,
        h("h2", { id: "maphead" }, "Translation"),
        h("span.small.dim.notnarrow", null, "client revision ↓   server revision →"),
        h("span.spring"),
        h("span.small.dim.nums", null, `${count(total)} calls`),
      ),
      h("div.within", null, revisionMap(cells)),
      h("div.eras", null, eras(cells)),
    ]);
    this.parts.lock.hidden = !seen.lock;
    const { lock } = seen;
    if (lock) {
      this.redraw("lock", lock, () =>
        changes(lock, (change) => this.act("gateway/approve", change, `approved ${change.name ?? "all changes"}`)),
      );
    }
    this.redraw("waiting", waiting, () => [
      bar("waithead", "Waiting questions", waiting.length ? h("span.pill.asked", null, String(waiting.length)) : null),
      questions(waiting),
    ]);
    const open = place().query.get("log") ?? "";
    this.redraw("servers", [servers, open], () => [
      bar("serverhead", "Servers behind the gateway", h("span.small.dim", null, String(servers.length))),
      scrolled(
        "Servers behind the gateway, table",
        serversTable(servers, open, {
          restart: (id) => this.act(`gateway/servers/${encodeURIComponent(id)}/restart`, {}, `${id} is started again`),
          log: (id) => {
            set("log", id);
            this.draw();
          },
        }),
      ),
    ]);
    this.redraw("callers", callers, () => [
      bar("callerhead", "Callers", h("span.small.dim", null, String(callers.length))),
      scrolled("Callers, table", callersTable(callers)),
    ]);
    this.redraw("denials", denials, () => [
      bar(
        "denialhead",
        "Denied by policy",
        h("span.small.dim.nums", null, `${count(series.denied)} in ${PERIODS[this.period]}`),
      ),
      denialItems(denials),
    ]);
  }
  /**
   * Draws a part again if its data changed. Keeps the focus, open details and scroll positions.
   *
   * @param {string} name
   * @param {unknown} data
   * @param {() => Child} make
   */
  redraw(name, data, make) {
    const key = JSON.stringify(data);
    if (this.shown.get(name) === key) return;
    this.shown.set(name, key);
    const box = this.parts[name];
    const keyed = () => [.../** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("[data-key]"))];
    const before = new Map(keyed().map((one) => [one.dataset.key, one]));
    const { activeElement: active } = document;
    const focused = active instanceof HTMLElement && box.contains(active) ? active.dataset.key : undefined;
    const tops = new Map(
      [...before].map(([id, one]) => [id, [one.scrollTop, one.scrollTop + one.clientHeight >= one.scrollHeight - 4]]),
    );
    box.replaceChildren(...h("div", null, make()).childNodes);
    for (const one of keyed()) {
      const old = before.get(one.dataset.key);
      if (one instanceof HTMLDetailsElement && old instanceof HTMLDetailsElement) one.open = old.open;
      const [top, isAtEnd] = tops.get(one.dataset.key) ?? [0, true];
      one.scrollTop = isAtEnd ? one.scrollHeight : Number(top);
      if (focused && one.dataset.key === focused) focusOn(one);
    }
  }
}
customElements.define("tb-gateway", GatewayView);

/**
 * @param {string} id
 * @param {string} words
 * @param {Child} more
 */
const bar = (id, words, more) => h("div.bar", null, h("h2", { id }, words), more);

/**
 * @param {string} label
 * @param {Child} inner
 */
const scrolled = (label, inner) => h("div.across", { tabindex: "0", role: "region", "aria-label": label }, inner);

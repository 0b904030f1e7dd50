// The list of messages: one row per exchange, with a filter, sorting and a waterfall.

import { file } from "./api.js";
import { View, button, bytes, focusOn, h, messageOf, plural, save, searchBox, span } from "./element.js";
import { place, set } from "./router.js";
import { state } from "./store.js";
import { narrows, wireFilter } from "./wire-filter.js";
import { heads, isAsItWas, ordered, orderOf } from "./wire-order.js";
import { overview } from "./wire-overview.js";
import { seek } from "./wire-pairs.js";
import { drawRow, fillRow, isError, settleRow, waterfall } from "./wire-row.js";
import "./virtual-list.js";
import "./wire-detail.js";

const ROW = 28;

/**
 * @typedef {object} Found the matches of a filter
 * @property {string} text of the filter
 * @property {(row: WireRow) => boolean} test
 * @property {WireRow[]} own all rows of the server
 * @property {WireRow[]} rows the rows that match
 * @property {number} [oldest]
 * @property {number} [newest]
 */

export class Wire extends View {
  /** @type {string | null} the server's id, or null for all servers */
  server;
  /** @type {HTMLInputElement} */
  filter;
  /** @type {HTMLElement} */
  count;
  isLive = true;
  /** @type {HTMLElement} the numbers of messages and of servers */
  summary;
  /** @type {HTMLElement} */
  chart;
  /** @type {HTMLElement} */
  kinds;
  /** @type {string} all, requests, notifications or errors */
  kind = "all";
  /** Rows up to this number were cleared by the user. */
  cleared = 0;
  /** @type {import("./virtual-list.js").VirtualList} */
  list;
  /** @type {HTMLElement} */
  detail;
  /** @type {HTMLElement} */
  head;
  /** @type {import("./wire-order.js").Order} */
  order;
  /** @type {Found | null} the filter's matches; null when they have to be read again */
  found = null;
  /** @type {{ rows: WireRow[], from: number, to: number, fall: import("./wire-row.js").Fall } | null} */
  fallOf = null;
  /** @type {number | null} the message that is open */
  shown = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @param {{ server: string | null }} options */
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    const filter = place().query.get("wf") ?? "";
    this.filter = h("input.filter", {
      type: "search",
      placeholder: "method:tools -ping >100ms",
      "aria-label": "Filter messages",
      value: filter,
      spellcheck: "false",
      autocomplete: "off",
    });
    this.count = h("span.count.found", { role: "status" });
    this.summary = h("p.small.dim.cut");
    this.chart = h("div.overview");
    this.kinds = h("div.segments.keep.kinds", { role: "group", "aria-label": "Kind of message" });
    this.classList.toggle("whole", this.server === null);
    this.list = document.createElement("tb-list").setup({
      label: "Messages",
      height: ROW,
      draw: (row) => drawRow(row, this.server === null),
      fill: fillRow,
      settle: (made, row, index, rows) => settleRow(made, row, index, rows, this.fall(rows)),
      mark: (row) => row.seq === this.shown,
      choose: (row) => this.open(row.seq),
    });
    this.detail = h("div.wiredetail", { hidden: true });
    const tiles = this.server === null ? ".withtile" : "";
    this.head = h(`div.wirehead.wirerow${tiles}`, { role: "group", "aria-label": "Order of the messages" });
    const bar = this.bar();
    const parts = this.server === null ? [this.filterBar(), this.chart] : [];
    this.replaceChildren(
      bar,
      h("div.wirebody", null, h("div.wirelist", null, parts, this.head, this.list), this.detail),
    );
    this.drawKinds();
    this.filter.addEventListener("input", () => {
      this.read();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => set("wf", this.filter.value), 250);
    });
    this.watch("wire", (keys) => this.isLive && this.take(/** @type {Set<number>} */ (keys)));
    this.sort(place().query.get("ws"));
    this.list.scrollTop = this.list.scrollHeight;
    const wanted = Number(place().query.get("seq"));
    if (wanted) this.open(wanted);
  }
  bar() {
    const isHttp =
      this.server === null
        ? [...state.servers.values()].some((one) => /http|sse/i.test(one.transport ?? ""))
        : /http|sse/i.test(state.servers.get(this.server)?.transport ?? "");
    const live = button("Live", () => this.pause(), {
      picture: "pause",
      look: "plain.live",
      "aria-pressed": "true",
      "aria-label": "Live",
    });
    const tools = [
      live,
      isHttp
        ? button("HAR", () => this.export("har", "session.har"), {
            picture: "save",
            look: "plain.export.har",
            title: "Save the requests of HTTP as an archive for other tools, secrets redacted",
            "aria-label": "HAR: save the requests of HTTP",
          })
        : null,
      button("Record", () => this.export("export", "session.turnbuckle.jsonl"), {
        picture: "save",
        look: "plain.export.recording",
        title: "Save the session as a recording, secrets redacted",
      }),
      button("Clear", () => this.clear(), { look: "bare.clearwire", title: "Hide the messages up to now" }),
    ];
    if (this.server === null) {
      return h(
        "header.top",
        null,
        h("div.who", null, h("h1", null, "Messages"), this.summary),
        h("span.spring"),
        h("div.line", null, tools),
      );
    }
    return h(
      "div.bar",
      null,
      h("h2", null, "Messages"),
      searchBox(this.filter, "filter"),
      this.count,
      h("span.spring"),
      tools,
      button("Close the messages", () => set("wire", ""), { picture: "close", quiet: true, look: "bare" }),
    );
  }
  filterBar() {
    return h("div.bar", null, searchBox(this.filter, "filter"), this.count, this.kinds);
  }
  drawKinds() {
    const errors = this.found?.own.filter(isError).length ?? 0;
    /** @type {[string, string][]} */
    const choices = [
      ["all", "All"],
      ["requests", "Requests"],
      ["notifications", "Notifications"],
      ["errors", "Errors"],
    ];
    this.kinds.replaceChildren(
      ...choices.map(([id, words]) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(id === this.kind),
            onclick: () => {
              this.kind = id;
              this.found = null;
              this.read();
              this.drawKinds();
            },
          },
          words,
          id === "errors" && errors ? h("span.count", null, String(errors)) : null,
        ),
      ),
    );
  }
  pause() {
    this.isLive = !this.isLive;
    this.querySelector(".live")?.setAttribute("aria-pressed", String(this.isLive));
    this.found = null;
    this.read();
  }
  clear() {
    this.cleared = state.pairs.at(-1)?.seq ?? 0;
    this.found = null;
    this.read();
  }
  /** @param {WireRow} row */
  isOwn(row) {
    return (this.server === null || row.server === this.server) && row.seq > this.cleared;
  }
  /**
   * Sorts the rows by an order's word in the address.
   *
   * @param {string | null} word
   */
  sort(word) {
    this.order = orderOf(word);
    const { activeElement: active } = document;
    const focused = active instanceof HTMLElement && this.head.contains(active) ? active.dataset.column : null;
    this.head.replaceChildren(
      ...heads(this.order, this.server === null, (next) => {
        set("ws", next);
        this.sort(next);
      }),
    );
    if (focused) focusOn(this.head.querySelector(`[data-column="${focused}"]`));
    this.list.toTop();
    this.found = null;
    this.read();
  }
  /** Filters all rows, or only the previous matches if the filter got narrower. */
  read() {
    const text = this.filter.value;
    const oldest = state.pairs[0]?.seq;
    const before = this.found?.newest === state.pairs.at(-1)?.seq && this.found?.oldest === oldest ? this.found : null;
    const own = before?.own ?? state.pairs.filter((row) => this.isOwn(row));
    const test = this.test(text);
    const rows = (before && narrows(before.text, text) ? before.rows : own).filter(test);
    this.show((this.found = { text, test, own, rows, oldest, newest: state.pairs.at(-1)?.seq }));
  }
  /** @param {string} text */
  test(text) {
    const test = wireFilter(text);
    if (this.kind === "all") return test;
    if (this.kind === "errors") return (/** @type {WireRow} */ row) => isError(row) && test(row);
    const isWanted = (/** @type {WireRow} */ { kind }) =>
      this.kind === "requests" ? kind !== "notification" : kind === "notification";
    return (/** @type {WireRow} */ row) => isWanted(row) && test(row);
  }
  /**
   * Adds rows that are new or changed, without filtering all rows again.
   *
   * @param {Set<number>} keys
   */
  take(keys) {
    const { found } = this;
    if (found?.oldest !== state.pairs[0]?.seq || !found || ![...keys].every((seq) => this.takeRow(found, seq))) {
      this.found = null;
      return this.read();
    }
    found.newest = state.pairs.at(-1)?.seq;
    return this.show(found);
  }
  /**
   * Adds one row. Returns `false` if the row belongs between existing rows.
   *
   * @param {Found} found
   * @param {number} seq
   */
  takeRow({ own, rows, test }, seq) {
    const row = state.pairs[seek(state.pairs, seq)];
    if (!row || !this.isOwn(row)) return row !== undefined;
    const at = seek(own, seq);
    if (at < own.length && own[at].seq !== seq) return false;
    own[at] = row;
    const shown = seek(rows, seq);
    const isShown = rows[shown]?.seq === seq;
    if (isShown || test(row)) rows.splice(shown, isShown ? 1 : 0, ...(test(row) ? [row] : []));
    return true;
  }
  /** @param {Found} found */
  show({ rows, own }) {
    const dropped = state.wireDropped ? `, ${state.wireDropped} older dropped` : "";
    this.count.textContent = `${rows.length} of ${own.length}${dropped}`;
    this.fallOf = null;
    this.list.show(ordered(rows, this.order), { stick: isAsItWas(this.order) });
    if (this.server === null) this.sum(own);
  }
  /** @param {WireRow[]} own */
  sum(own) {
    const servers = new Set(own.map((row) => row.server)).size;
    const size = own.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
    const time = own.length ? own[own.length - 1].time - own[0].time : 0;
    this.summary.textContent = own.length
      ? `${plural(state.wire.length, "message")} of ${plural(servers, "server")}, ${bytes(size)}, ${span(time)}`
      : "No messages yet";
    this.chart.replaceChildren(...overview(own));
    if (!this.kinds.contains(document.activeElement)) this.drawKinds();
  }
  /**
   * The waterfall of the visible rows.
   *
   * @param {WireRow[]} rows
   */
  fall(rows) {
    const [from, to] = this.list.range;
    if (this.fallOf?.rows !== rows || this.fallOf.from !== from || this.fallOf.to !== to) {
      this.fallOf = { rows, from, to, fall: waterfall(rows, from, to, isAsItWas(this.order)) };
    }
    return this.fallOf.fall;
  }
  /** @param {number} seq */
  open(seq) {
    this.shown = seq;
    set("seq", String(seq));
    this.detail.hidden = false;
    this.detail.replaceChildren(
      document.createElement("tb-wire-detail").setup({
        seq,
        close: () => {
          this.shown = null;
          set("seq", "");
          this.detail.hidden = true;
          this.list.paint();
          this.list.focus();
        },
        only: (n) => {
          this.filter.value = `call:${n}`;
          this.read();
          set("wf", this.filter.value);
        },
      }),
    );
    this.list.paint();
  }
  /**
   * @param {string} how
   * @param {string} name
   */
  async export(how, name) {
    try {
      save(name, await file(`wire/${how}`, this.server === null ? {} : { server: this.server }));
    } catch (error) {
      this.count.textContent = messageOf(error);
    }
  }
}
customElements.define("tb-wire", Wire);

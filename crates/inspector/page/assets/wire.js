// Every message, in the order of the wire or of a column: filtered, grouped by call, with a waterfall.

import { file } from "./api.js";
import { View, button, focusOn, h, messageOf, save } from "./element.js";
import { place, set } from "./router.js";
import { state } from "./store.js";
import { narrows, wireFilter } from "./wire-filter.js";
import { heads, isAsItWas, ordered, orderOf } from "./wire-order.js";
import { drawRow, fillRow, settleRow, waterfall } from "./wire-row.js";
import "./virtual-list.js";
import "./wire-detail.js";

const ROW = 28;

/**
 * @typedef {object} Found what a filter found
 * @property {string} text of the filter
 * @property {(row: WireRow) => boolean} test
 * @property {WireRow[]} own all rows of the server
 * @property {WireRow[]} rows those that were found
 * @property {number} [oldest]
 * @property {number} [newest]
 */

export class Wire extends View {
  /** @type {string} */
  server;
  /** @type {HTMLInputElement} */
  filter;
  /** @type {HTMLElement} */
  count;
  isLive = true;
  /** @type {HTMLInputElement} */
  live;
  /** @type {import("./virtual-list.js").VirtualList} */
  list;
  /** @type {HTMLElement} */
  detail;
  /** @type {HTMLElement} */
  head;
  /** @type {import("./wire-order.js").Order} */
  order;
  /** @type {Found | null} what the filter found, until rows come that it does not know */
  found = null;
  /** @type {{ rows: WireRow[], from: number, to: number, fall: import("./wire-row.js").Fall } | null} */
  fallOf = null;
  /** @type {number | null} the message that is open */
  shown = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @param {{ server: string }} options */
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    const filter = place().query.get("wf") ?? "";
    this.filter = h("input.filter", {
      type: "search",
      placeholder: "method:tools -ping >100ms",
      "aria-label": "Filter the wire",
      value: filter,
      spellcheck: "false",
      autocomplete: "off",
    });
    this.count = h("span.dim.small", { role: "status" });
    this.live = h("input", {
      type: "checkbox",
      checked: true,
      onchange: () => {
        this.isLive = this.live.checked;
        this.found = null;
        this.read();
      },
    });
    this.list = document.createElement("tb-list").setup({
      label: "Messages",
      height: ROW,
      draw: drawRow,
      fill: fillRow,
      settle: (made, row, index, rows) => settleRow(made, row, index, rows, this.fall(rows)),
      mark: (row) => row.seq === this.shown,
      choose: (row) => this.open(row.seq),
    });
    this.detail = h("div.wiredetail", { hidden: true });
    this.head = h("div.wirehead.wirerow", { role: "group", "aria-label": "Order of the messages" });
    this.replaceChildren(
      this.bar(),
      h("div.wirebody", null, h("div.wirelist", null, this.head, this.list), this.detail),
    );
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
    const isHttp = /http|sse/i.test(state.servers.get(this.server)?.transport ?? "");
    return h(
      "div.bar",
      null,
      h("h2", null, "Wire"),
      this.filter,
      this.count,
      h("label.check", null, this.live, "live"),
      isHttp
        ? button("HAR", () => this.export("har", "session.har"), {
            picture: "save",
            look: "plain.export.har",
            title: "Save the requests of HTTP as an archive for other tools, secrets redacted",
            "aria-label": "HAR: save the requests of HTTP",
          })
        : null,
      button("Export", () => this.export("export", "session.turnbuckle.jsonl"), {
        picture: "save",
        look: "plain.export.recording",
        title: "Save the session as a recording, secrets redacted",
      }),
      button("Close the wire", () => set("wire", ""), { picture: "close", quiet: true, look: "bare" }),
    );
  }
  /**
   * Puts the rows into an order, by its word in the address.
   *
   * @param {string | null} word
   */
  sort(word) {
    this.order = orderOf(word);
    const { activeElement: active } = document;
    const focused = active instanceof HTMLElement && this.head.contains(active) ? active.dataset.column : null;
    this.head.replaceChildren(
      ...heads(this.order, (next) => {
        set("ws", next);
        this.sort(next);
      }),
    );
    if (focused) focusOn(this.head.querySelector(`[data-column="${focused}"]`));
    this.list.toTop();
    this.found = null;
    this.read();
  }
  /** Reads all rows; of a filter that only got narrower, those that it found before. */
  read() {
    const text = this.filter.value;
    const oldest = state.wire[0]?.seq;
    const before = this.found?.newest === state.wire.at(-1)?.seq && this.found?.oldest === oldest ? this.found : null;
    const own = before?.own ?? state.wire.filter((row) => row.server === this.server);
    const test = wireFilter(text);
    const rows = (before && narrows(before.text, text) ? before.rows : own).filter(test);
    this.show((this.found = { text, test, own, rows, oldest, newest: state.wire.at(-1)?.seq }));
  }
  /**
   * Takes in the rows that came or changed, without looking at the others.
   *
   * @param {Set<number>} keys
   */
  take(keys) {
    const { found } = this;
    if (found?.oldest !== state.wire[0]?.seq || !found || ![...keys].every((seq) => this.takeRow(found, seq))) {
      this.found = null;
      return this.read();
    }
    found.newest = state.wire.at(-1)?.seq;
    return this.show(found);
  }
  /**
   * `false` if it belongs between rows that are there already.
   *
   * @param {Found} found
   * @param {number} seq
   */
  takeRow({ own, rows, test }, seq) {
    const row = state.wire[seek(state.wire, seq)];
    if (row?.server !== this.server) return row !== undefined;
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
    const dropped = state.wireDropped ? ` · ${state.wireDropped} older dropped` : "";
    this.count.textContent = `${rows.length} of ${own.length}${dropped}`;
    this.fallOf = null;
    this.list.show(ordered(rows, this.order), { stick: isAsItWas(this.order) });
  }
  /**
   * The waterfall of the rows in sight.
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
        server: this.server,
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
      save(name, await file(`wire/${how}`, { server: this.server }));
    } catch (error) {
      this.count.textContent = messageOf(error);
    }
  }
}
customElements.define("tb-wire", Wire);

/**
 * Where a number is, or would be, among rows in the order of their numbers.
 *
 * @param {WireRow[]} rows
 * @param {number} seq
 */
function seek(rows, seq) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

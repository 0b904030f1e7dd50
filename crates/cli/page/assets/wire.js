// Every message, in the order of the wire: filtered, grouped by call, with a waterfall.

import { file } from "./api.js";
import { View, button, bytes, clock, h, save, span } from "./element.js";
import { icon } from "./icon.js";
import { place, set } from "./router.js";
import { state } from "./store.js";
import { wireFilter } from "./wire-filter.js";
import "./virtual-list.js";
import "./wire-detail.js";

const ROW = 28;
/** A pause longer than this is drawn as one of this length, in ms. */
const IDLE = 20;

export class Wire extends View {
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    const filter = place().query.get("wf") ?? "";
    this.filter = h("input.filter", { type: "search", placeholder: "method:tools -ping >100ms", "aria-label": "Filter the wire", value: filter, spellcheck: "false", autocomplete: "off" });
    this.count = h("span.dim.small", { role: "status" });
    this.isLive = true;
    this.live = h("input", { type: "checkbox", checked: true, onchange: () => {
      this.isLive = this.live.checked;
      this.read();
    } });
    this.list = document.createElement("tb-list").setup({
      label: "Messages", height: ROW, draw: (row, index, rows) => this.row(row, index, rows), mark: (row) => row.seq === this.shown, choose: (row) => this.open(row.seq),
    });
    this.detail = h("div.wiredetail", { hidden: true });
    this.replaceChildren(h("div.bar", null, h("h2", null, "Wire"), this.filter, this.count,
      h("label.check", null, this.live, "live"),
      button("Export", () => this.export(), { picture: "save", look: "plain.export", title: "Save the session as a recording, secrets redacted" }),
      button("Close the wire", () => set("wire", ""), { picture: "close", quiet: true, look: "bare" })),
    h("div.wirebody", null, this.list, this.detail));
    this.filter.addEventListener("input", () => {
      this.read();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => set("wf", this.filter.value), 250);
    });
    this.watch("wire", () => this.isLive && this.read());
    this.read();
    this.list.scrollTop = this.list.scrollHeight;
    const wanted = Number(place().query.get("seq"));
    if (wanted) this.open(wanted);
  }
  read() {
    const test = wireFilter(this.filter.value);
    const rows = state.wire.filter((row) => row.server === this.server && test(row));
    this.count.textContent = `${rows.length} of ${state.wire.length}`;
    this.list.show(rows, { stick: true });
  }
  row(row, index, rows) {
    const isWith = (other) => other && row.exchange !== null && row.exchange !== undefined && other.exchange === row.exchange;
    const before = isWith(rows[index - 1]);
    const after = isWith(rows[index + 1]);
    const rail = before && after ? "mid" : before ? "last" : after ? "first" : "none";
    const name = row.method ?? (row.kind === "response" ? "response" : row.kind);
    return h("div.wirerow", null,
      h("span.time", null, clock(row.time)), h(`span.dir.${row.direction}`, null, icon(row.direction), h("span.outside", null, row.direction === "out" ? "sent" : "received")),
      h(`span.rail.${rail}`), h("span.method", null, name, row.object ? h("strong", null, ` ${row.object}`) : null, row.round > 1 ? h("span.dim", null, ` (${row.round})`) : null),
      h(`span.status${/error|fail|[45]\d\d/i.test(row.status ?? "") ? ".error" : ""}`, null, row.status ?? ""),
      h("span.ms", null, row.ms === null || row.ms === undefined ? "" : span(row.ms)), h("span.size", null, bytes(row.bytes ?? 0)), this.bar(row, rows));
  }
  /** The row's time within the span of the rows in sight, where nobody waits for anything left out. */
  bar(row, rows) {
    const { starts, whole } = this.span(rows);
    const length = Math.min(row.ms ?? 0, whole);
    const start = (starts.get(row.seq) ?? 0) - (row.direction === "in" ? length : 0);
    const bar = h(`i.${row.direction}`);
    bar.style.left = `${Math.max(0, Math.min(98, (start / whole) * 100))}%`;
    bar.style.width = `${Math.max(1, Math.min(100, (length / whole) * 100))}%`;
    return h("span.fall", { "aria-hidden": "true" }, bar);
  }
  /** When each row in sight begins, on a clock that stands still while nothing happens. */
  span(rows) {
    const [from, to] = this.list.range ?? [0, rows.length];
    if (this.spanOf?.rows === rows && this.spanOf.from === from && this.spanOf.to === to) return this.spanOf;
    const starts = new Map();
    let at = 0;
    for (let index = from; index < to; index += 1) {
      const gap = index > from ? Math.max(0, rows[index].time - rows[index - 1].time) : 0;
      const isWait = gap <= (rows[index].ms ?? 0) + IDLE;
      at += isWait ? gap : IDLE;
      starts.set(rows[index].seq, at);
    }
    this.spanOf = { rows, from, to, starts, whole: Math.max(1, at) };
    return this.spanOf;
  }
  open(seq) {
    this.shown = seq;
    set("seq", String(seq));
    this.detail.hidden = false;
    this.detail.replaceChildren(document.createElement("tb-wire-detail").setup({
      seq, server: this.server,
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
    }));
    this.list.paint();
  }
  async export() {
    try {
      save("session.turnbuckle.jsonl", await file("wire/export"));
    } catch (error) {
      this.count.textContent = error.message;
    }
  }
}
customElements.define("tb-wire", Wire);

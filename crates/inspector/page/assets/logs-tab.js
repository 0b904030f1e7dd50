// The log lines of a server, and the level that the server is asked for.

import { View, button, clock, h, messageOf, plural, visible } from "./element.js";
import { print } from "./json.js";
import { start, state } from "./store.js";
import "./virtual-list.js";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const ROW = 28;

export class LogsTab extends View {
  /** @type {string} */
  server;
  /** @type {HTMLSelectElement} */
  least;
  /** @type {HTMLInputElement} */
  filter;
  /** @type {HTMLElement} */
  note;
  /** @type {import("./virtual-list.js").VirtualList} */
  list;
  /** @type {HTMLElement} */
  detail;
  /** @type {HTMLElement} */
  nothing;
  /** @param {{ server: string }} options */
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    this.least = h(
      "select",
      { "aria-label": "Least level shown", onchange: () => this.read() },
      LEVELS.map((level) => h("option", { value: level }, `${level} and up`)),
    );
    this.filter = h("input.filter", {
      type: "search",
      placeholder: "Filter",
      "aria-label": "Filter log lines",
      oninput: () => this.read(),
    });
    this.note = h("span.dim.small", { role: "status" });
    this.list = document.createElement("tb-list").setup({
      label: "Log lines",
      height: ROW,
      draw: (line) => draw(line),
      choose: (line) => {
        this.detail.textContent = visible(typeof line.data === "string" ? line.data : print(line.data, 2));
        this.detail.hidden = false;
      },
    });
    this.detail = h("pre.text.logdetail", { hidden: true, tabindex: "0", "aria-label": "Log line", role: "region" });
    this.nothing = h("p.empty", { hidden: true });
    const wanted = h(
      "select",
      { "aria-label": "Level to ask the server for" },
      LEVELS.map((level) => h("option", { value: level }, level)),
    );
    wanted.value = "info";
    const server = state.servers.get(this.server);
    const ask = server?.capabilities?.logging
      ? h(
          "span.asklevel",
          null,
          wanted,
          button("Set level", () =>
            start(this.server, "logging/setLevel", { level: wanted.value }).then(
              () => (this.note.textContent = `asked for ${wanted.value}`),
              (error) => (this.note.textContent = messageOf(error)),
            ),
          ),
        )
      : null;
    this.replaceChildren(
      h("div.bar", null, h("h1", null, "Logs"), this.filter, this.least, ask, this.note),
      this.nothing,
      this.list,
      this.detail,
    );
    this.watch("logs", () => this.read());
    this.read();
  }
  read() {
    const least = LEVELS.indexOf(this.least.value);
    const wanted = this.filter.value.toLowerCase();
    const lines = state.logs.filter(
      (line) =>
        line.server === this.server &&
        LEVELS.indexOf(line.level) >= least &&
        (!wanted || `${line.logger ?? ""} ${text(line)}`.toLowerCase().includes(wanted)),
    );
    this.list.show(lines, { stick: true });
    this.note.textContent = lines.length ? plural(lines.length, "line") : "";
    this.nothing.hidden = lines.length > 0;
    this.nothing.textContent = state.logs.some((line) => line.server === this.server)
      ? "No line fits the filter."
      : "The server has logged nothing yet. What it logs during a call is shown with the call, too.";
  }
}
customElements.define("tb-logs", LogsTab);

const text = (/** @type {LogLine} */ line) => (typeof line.data === "string" ? line.data : print(line.data, 0, 500));

/** @param {LogLine} line */
function draw(line) {
  return h(
    "div.logrow",
    null,
    h("span.time", null, clock(line.time)),
    h(`span.level.${line.level}`, null, line.level),
    h("span.dim", null, line.logger ?? ""),
    h("span.words", null, text(line)),
  );
}

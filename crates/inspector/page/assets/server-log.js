// A server's standard error and log lines, as they arrive.

import { View, button, clock, h } from "./element.js";
import { print } from "./json.js";
import { state } from "./store.js";
import { label } from "./tile.js";

/** The most log lines shown. */
const LOGGED = 200;

export class ServerLog extends View {
  /** @type {string} */
  server;
  /** @type {() => void} */
  close;
  /** @type {HTMLElement} */
  printed;
  /** @type {HTMLElement} */
  logged;
  /**
   * @param {string} server
   * @param {() => void} close
   */
  setup(server, close) {
    this.server = server;
    this.close = close;
    return this;
  }
  start() {
    this.className = "column";
    const server = state.servers.get(this.server);
    this.printed = h("pre.text.stderr", { tabindex: "0", role: "log", "aria-label": "Standard error" });
    this.logged = h("div.stack");
    this.replaceChildren(
      h(
        "div.bar.panehead",
        null,
        h("h2.cut", null, `Log of ${server ? label(server) : "the server"}`),
        h("span.spring"),
        button("Close", this.close, { picture: "close", quiet: true, look: "bare" }),
      ),
      h("div.scroll.stack", null, h("h3.kind", null, "Standard error"), this.printed, this.logged),
    );
    this.watch("stderr", (keys) => keys.has(this.server) && this.draw());
    this.watch("servers", (keys) => keys.has(this.server) && this.draw());
    this.watch("logs", () => this.draw());
    this.draw();
  }
  draw() {
    const { stderr = [], isProgram } = state.servers.get(this.server) ?? {};
    const isAtEnd = this.printed.scrollTop + this.printed.clientHeight >= this.printed.scrollHeight - 4;
    const nothing = isProgram === false ? "A server at a URL has no standard error here." : "Nothing printed yet.";
    this.printed.textContent = stderr.length ? stderr.join("\n") : nothing;
    if (isAtEnd) this.printed.scrollTop = this.printed.scrollHeight;
    const logs = state.logs.filter((line) => line.server === this.server).slice(-LOGGED);
    this.logged.replaceChildren(
      ...(logs.length
        ? [
            h("h3.kind", null, "Log messages"),
            h(
              "ul",
              null,
              logs.map((line) =>
                h(
                  "li.small",
                  null,
                  h("span.dim.nums", null, `${clock(line.time)} `),
                  h(`span.level.${line.level}`, null, `${line.level} `),
                  typeof line.data === "string" ? line.data : print(line.data, 0, 300),
                ),
              ),
            ),
          ]
        : []),
    );
  }
}
customElements.define("tb-server-log", ServerLog);

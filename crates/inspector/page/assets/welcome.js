// The pane beside a list when nothing is chosen: the server's description and the latest calls.

import { View, h, plural, span, time } from "./element.js";
import { brief, prose } from "./prose.js";
import { address } from "./router.js";
import { state } from "./store.js";

/** The most calls listed. */
const RECENT = 12;
/** @type {Record<string, string>} */
const PLACES = { "tools/call": "tools", "prompts/get": "prompts", "resources/read": "resources" };
const KEYS = [
  ["/", "filter"],
  ["↑ ↓", "move"],
  ["Enter", "open"],
  ["Ctrl+Enter", "call"],
  ["w", "messages"],
  ["Ctrl+K", "anything"],
];

export class Welcome extends View {
  /** @type {string} */
  server;
  /** @type {string} */
  tab;
  /** @type {HTMLElement | undefined} */
  recent;
  /** @param {{ server: string, tab: string }} options */
  setup({ server, tab }) {
    this.server = server;
    this.tab = tab;
    return this;
  }
  start() {
    this.className = "page welcome";
    this.watch("exchanges", () => this.drawRecent());
    this.watch("offers", () => this.draw());
    this.draw();
  }
  draw() {
    const server = state.servers.get(this.server);
    const offer = state.offers.get(this.server);
    if (!server) return;
    const { name, title, version, description } = server.info ?? {};
    const { tools = [], prompts = [], resources = [], resourceTemplates = [] } = offer ?? {};
    /** @type {[unknown[], string][]} */
    const lists = [
      [tools, "tool"],
      [prompts, "prompt"],
      [resources, "resource"],
      [resourceTemplates, "template"],
    ];
    const counts = lists.filter(([list]) => list.length).map(([list, word]) => plural(list.length, word));
    this.recent = h("div");
    this.replaceChildren(
      h("h1", null, brief(title ?? name ?? server.name), version ? h("span.dim", null, ` ${version}`) : null),
      description ? prose(description) : "",
      counts.length ? h("p.dim", null, counts.join(", ")) : "",
      server.instructions ? h("section", null, h("h2", null, "Instructions"), prose(server.instructions)) : "",
      this.recent,
      h(
        "section.keys",
        null,
        h("h2", null, `Choose one of the ${this.tab}`),
        h(
          "p",
          null,
          KEYS.map(([key, does]) => h("span", null, h("kbd", null, key), ` ${does}`)),
        ),
      ),
    );
    this.drawRecent();
  }
  drawRecent() {
    const calls = [...state.exchanges.values()]
      .filter((call) => call.server === this.server && PLACES[call.method] && call.object)
      .sort((one, other) => other.n - one.n)
      .slice(0, RECENT);
    if (!calls.length || !this.recent) return;
    this.recent.replaceChildren(
      h(
        "section",
        null,
        h("h2", null, "Last calls"),
        h(
          "ul.history",
          null,
          calls.map((call) =>
            h(
              "li",
              null,
              h(
                "a.past",
                { href: address({ tab: PLACES[call.method], object: call.object, query: { run: call.n } }) },
                h(
                  `span.pill.${call.result?.isError ? "failed" : call.status}`,
                  null,
                  call.result?.isError ? "tool failed" : call.status,
                ),
                h("code", null, call.object),
                h(
                  "span.dim.nums",
                  null,
                  `${time(call.started)}${call.ended ? `, ${span(Math.max(0, call.ended - call.started))}` : ""}`,
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
customElements.define("tb-welcome", Welcome);

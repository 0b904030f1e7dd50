// The list of all servers: from the command line, from config files, and added on the page.

import { post } from "./api.js";
import { View, button, focusOn, h, messageOf, plural, searchBox } from "./element.js";
import { place, set } from "./router.js";
import { state } from "./store.js";
import { condition, label } from "./tile.js";
import { latencies } from "./latency.js";
import { rowKey, serverRow } from "./server-row.js";
import "./add-server.js";
import "./roots-pane.js";
import "./server-log.js";

/** The interval between two updates of the latencies, in ms. */
const TICK = 1000;
/** Names of sources other than files. */
const WORDS = ["Command line", "Added on this page"];

export class Home extends View {
  /** @type {(server: Server) => unknown} */
  connect;
  /** @type {HTMLElement} */
  list;
  /** @type {HTMLElement} */
  summary;
  /** @type {HTMLInputElement} */
  filter;
  /** @type {HTMLElement} */
  pane;
  /** @type {HTMLElement} */
  problem;
  /** @type {Map<string, { key: string, row: HTMLElement }>} rows by the server's id */
  rows = new Map();
  /** @type {string | null | undefined} the key of the shown pane */
  paneKey;
  /** @param {(server: Server) => unknown} connect */
  setup(connect) {
    this.connect = connect;
    return this;
  }
  start() {
    this.summary = h("p.small.dim.cut", { role: "status" });
    this.filter = h("input.filter", {
      type: "search",
      placeholder: "Filter servers",
      "aria-label": "Filter servers",
      "aria-keyshortcuts": "/",
      oninput: () => this.draw(),
    });
    this.problem = h("p.problem", { role: "alert" });
    this.list = h("div.scroll.serverlist", { tabindex: "0", role: "region", "aria-label": "Server list" });
    this.pane = h("section.column.pane", { hidden: true });
    const roots = button("Roots", () => this.show("roots", "1"), {
      picture: "folder",
      look: "bare.roots",
      title: "Folders that servers may work in",
    });
    this.replaceChildren(
      h(
        "header.top",
        null,
        h("div.who", null, h("h1", null, "Servers"), this.summary),
        h("span.spring"),
        searchBox(this.filter, "search", "/"),
        roots,
        button("Read config files again", () => this.reread(), { picture: "again", look: "bare.reread" }),
        button("Add server", () => this.show("add", "1"), { picture: "plus", look: "plain.add" }),
      ),
      h("div.homebody", null, h("section.column", { "aria-label": "Servers" }, this.problem, this.list), this.pane),
    );
    for (const topic of ["servers", "offers", "asks", "connection", "roots"]) this.watch(topic, () => this.draw());
    const timer = setInterval(() => this.draw(), TICK);
    this.stopped = () => clearInterval(timer);
    this.listen(globalThis, "popstate", () => this.drawPane());
    this.draw();
    this.drawPane();
  }
  /**
   * Opens or closes a pane beside the list.
   *
   * @param {string} name
   * @param {string} value
   */
  show(name, value) {
    for (const other of ["add", "log", "roots"]) if (other !== name) set(other, "");
    set(name, value);
    this.drawPane();
  }
  drawPane() {
    const { query } = place();
    const kind = ["add", "log", "roots"].find((name) => query.get(name));
    const key = kind ? `${kind} ${query.get(kind)}` : null;
    if (key === this.paneKey) return;
    this.paneKey = key;
    this.pane.hidden = !kind;
    this.classList.toggle("withpane", Boolean(kind));
    const close = () => {
      this.show(kind ?? "add", "");
      focusOn(this.querySelector(".add"));
    };
    if (kind === "add") this.pane.replaceChildren(document.createElement("tb-add-server").setup(close));
    else if (kind === "roots") this.pane.replaceChildren(document.createElement("tb-roots").setup(close));
    else if (kind === "log") {
      this.pane.replaceChildren(document.createElement("tb-server-log").setup(query.get("log") ?? "", close));
    } else this.pane.replaceChildren();
    focusOn(this.pane.querySelector("input:not([type=radio])") ?? this.pane.querySelector("button"));
  }
  async reread() {
    this.problem.textContent = "";
    await post("config").catch((error) => (this.problem.textContent = messageOf(error)));
  }
  draw() {
    const all = [...state.servers.values()];
    const counts = { connected: 0, attention: 0, "not started": 0 };
    for (const server of all) {
      const [look] = condition(server);
      if (look === "ok") counts.connected += 1;
      else if (look === "closed" || look === "running") counts["not started"] += 1;
      else counts.attention += 1;
    }
    const attention = counts.attention === 1 ? "needs attention" : "need attention";
    const told = Object.entries(counts).filter(([, count]) => count);
    this.summary.textContent = told.length
      ? told.map(([word, count]) => `${count} ${word === "attention" ? attention : word}`).join(", ")
      : "No server yet. Add one, or name one on the command line.";
    const roots = this.querySelector(".roots span");
    if (roots) roots.textContent = state.roots.length ? `Roots ${state.roots.length}` : "Roots";
    this.drawList(all);
  }
  /** @param {Server[]} all */
  drawList(all) {
    const wanted = this.filter.value.toLowerCase();
    const shown = all.filter((server) =>
      `${label(server)} ${server.name} ${server.target}`.toLowerCase().includes(wanted),
    );
    const known = latencies();
    /** @type {Map<string, Server[]>} */
    const groups = new Map();
    for (const server of shown) {
      const source = server.source || WORDS[0];
      groups.set(source, [...(groups.get(source) ?? []), server]);
    }
    for (const { file, problem } of state.files) if (problem && !groups.has(file)) groups.set(file, []);
    const parts = [...groups].flatMap(([source, servers]) => [
      heading(source, servers),
      ...servers.map((server) => this.row(server, known.get(server.id) ?? [])),
    ]);
    if (parts.length) parts.unshift(columnHeads());
    else parts.push(this.nothing(all.length > 0));
    for (const id of [...this.rows.keys()]) if (!state.servers.has(id)) this.rows.delete(id);
    // An unchanged element is not moved, because the user may be typing in it.
    let before = this.list.firstChild;
    for (const part of parts) {
      if (part === before) before = before.nextSibling;
      else if (before instanceof HTMLElement && before.isEqualNode(part)) before = before.nextSibling;
      else this.list.insertBefore(part, before);
    }
    while (before) {
      /** @type {ChildNode | null} */
      const next = before.nextSibling;
      before.remove();
      before = next;
    }
  }
  /**
   * @param {Server} server
   * @param {number[]} times
   */
  row(server, times) {
    const key = rowKey(server, times);
    const drawn = this.rows.get(server.id);
    if (drawn?.key === key) return drawn.row;
    const { activeElement: active } = document;
    const focused = active instanceof HTMLElement && drawn?.row.contains(active) ? active.dataset.act : undefined;
    const row = serverRow(server, times, {
      connect: () => this.connect(server),
      log: () => this.show("log", server.id),
      failed: (error) => (this.problem.textContent = messageOf(error)),
    });
    this.rows.set(server.id, { key, row });
    if (drawn?.row.isConnected) drawn.row.replaceWith(row);
    if (focused) focusOn(row.querySelector(`[data-act="${focused}"]`));
    return row;
  }
  /** @param {boolean} isFiltered */
  nothing(isFiltered) {
    return h(
      "div.page",
      null,
      h("p.dim", null, isFiltered ? "No server fits the filter." : "No config file on this machine names a server."),
      isFiltered
        ? null
        : h(
            "div.actions",
            null,
            button("Add server", () => this.show("add", "1"), { look: "main" }),
          ),
    );
  }
}
customElements.define("tb-home", Home);

/** The heads of the columns. */
function columnHeads() {
  const [first, ...words] = ["", "Server", "Revision", "Offers", "Latency, p50", ""];
  return h(
    "div.server.heads",
    { "aria-hidden": "true" },
    h("span", null, first),
    words.map((word) => h("span", null, word)),
  );
}

/**
 * @param {string} source
 * @param {Server[]} servers
 */
function heading(source, servers) {
  const isFile = !WORDS.includes(source);
  const file = state.files.find((one) => one.file === source);
  const unused = servers.filter((server) => server.blocked?.kind === "shadowed").length;
  const count = isFile ? plural(servers.length, "server") : null;
  return h(
    "div.source",
    null,
    h(`h2${isFile ? ".code" : ""}`, null, source),
    h("span.dim.small", null, [count, unused ? `${unused} not used` : null].filter(Boolean).join(", ")),
    file?.problem ? h("p.problem", null, file.problem) : null,
  );
}

// The form that adds a server: a command or a URL, with every setting that a config file has.

import { post } from "./api.js";
import { View, button, copyButton, focusOn, h, messageOf } from "./element.js";
import { quote } from "./command-line.js";
import { programName } from "./program-name.js";
import { go } from "./router.js";
import { state, touch } from "./store.js";

/** `${input:id}`: a value that the form asks for in a separate field. */
const INPUT = /\$\{input:([^}]+)\}/g;

export class AddServer extends View {
  /** @type {() => void} */
  close;
  /** @type {"command" | "url"} */
  kind = "command";
  /** @type {HTMLInputElement} */
  command;
  /** @type {HTMLInputElement} */
  url;
  /** @type {HTMLInputElement} */
  name;
  /** @type {HTMLInputElement} */
  folder;
  /** @type {HTMLSelectElement} */
  saveTo;
  /** @type {Pairs} */
  environment;
  /** @type {Pairs} */
  headers;
  /** @type {Map<string, HTMLInputElement>} */
  inputs = new Map();
  /** @type {HTMLElement} */
  inputPlace;
  /** @type {HTMLElement} */
  line;
  /** @type {HTMLElement} */
  problem;
  /** @param {() => void} close */
  setup(close) {
    this.close = close;
    return this;
  }
  start() {
    this.className = "column";
    const heard = () => this.heard();
    const text = (/** @type {string} */ id, /** @type {string} */ placeholder) =>
      h("input.code", { id: `add-${id}`, type: "text", placeholder, autocomplete: "off", spellcheck: "false" });
    this.command = text("command", "npx -y @modelcontextprotocol/server-everything");
    this.url = text("url", "https://example.com/mcp");
    this.name = text("name", "");
    this.folder = text("folder", "where turnbuckle runs");
    this.saveTo = h(
      "select",
      { id: "add-save" },
      h("option", { value: "" }, "Do not save"),
      h("option", { value: "project" }, "turnbuckle.toml in this folder"),
      h("option", { value: "user" }, "My own servers (turnbuckle/servers.toml)"),
    );
    this.environment = new Pairs("Environment", "variable", heard);
    this.headers = new Pairs("Headers", "header", heard);
    this.inputPlace = h("div.stack");
    this.line = h("code.command", { tabindex: "0" });
    this.problem = h("p.problem", { role: "alert" });
    for (const one of [this.command, this.url, this.name, this.folder]) one.addEventListener("input", heard);
    const close = button("Close", this.close, { picture: "close", quiet: true, look: "bare" });
    this.replaceChildren(
      h("div.bar.panehead", null, h("h2", null, "Add server"), h("span.spring"), close),
      h("form.scroll.addform", { onsubmit: (/** @type {Event} */ event) => this.submit(event) }, this.fields()),
      h(
        "footer.foot",
        null,
        this.problem,
        h(
          "div.commandline",
          null,
          h("code", { "aria-hidden": "true" }, "$"),
          this.line,
          copyButton("Copy command line", () => this.line.textContent, { quiet: true, look: "bare" }),
        ),
        h(
          "div.actions",
          null,
          button("Add and connect", () => this.submit(), { look: "main" }),
          button("Cancel", this.close),
        ),
      ),
    );
    this.see("command");
  }
  fields() {
    const choice = (/** @type {"command" | "url"} */ kind, /** @type {string} */ words) =>
      h(
        "label",
        null,
        h("input", {
          type: "radio",
          name: "add-kind",
          checked: kind === this.kind,
          onchange: () => this.see(kind),
        }),
        words,
      );
    const field = (
      /** @type {string} */ words,
      /** @type {HTMLElement} */ control,
      /** @type {Child} */ help = null,
      look = "",
    ) =>
      h(
        `div.addfield${look}`,
        null,
        h("label", { for: control.id }, words, look.includes("needed") ? h("span.star", null, " *") : null),
        control,
        help ? h("p.about", null, help) : null,
      );
    return h(
      "div.stack",
      null,
      h(
        "div.segments.wide",
        { role: "radiogroup", "aria-label": "Kind of server" },
        choice("command", "Command"),
        choice("url", "URL"),
      ),
      field("Command line", this.command, "Transport and revision are detected when it connects.", ".bycommand.needed"),
      field("URL", this.url, "Transport and revision are detected when it connects.", ".byurl.needed"),
      field("Name", this.name),
      field("Save to", this.saveTo, "Inputs are not saved. Files of other programs are never written."),
      field("Folder", this.folder, null, ".bycommand"),
      h("div.addfield.bycommand", null, this.environment.element),
      h("div.addfield.byurl", null, this.headers.element),
      this.inputPlace,
    );
  }
  /** @param {"command" | "url"} kind */
  see(kind) {
    this.kind = kind;
    this.classList.toggle("asurl", kind === "url");
    this.heard();
  }
  /** The form's values as an entry of a config file. */
  entry() {
    if (this.kind === "url") {
      const headers = this.headers.value;
      return { url: this.url.value.trim(), ...(Object.keys(headers).length ? { headers } : {}) };
    }
    const env = this.environment.value;
    return {
      command: this.command.value.trim(),
      ...(Object.keys(env).length ? { env } : {}),
      ...(this.folder.value.trim() ? { cwd: this.folder.value.trim() } : {}),
    };
  }
  heard() {
    this.problem.textContent = "";
    this.name.placeholder = this.ownName();
    this.line.textContent =
      this.kind === "url"
        ? `turnbuckle inspect ${quote(this.url.value.trim() || "URL")}`
        : `turnbuckle inspect -- ${this.command.value.trim() || "COMMAND"}`;
    this.line.title = this.line.textContent;
    const ids = new Set([...JSON.stringify(this.entry()).matchAll(INPUT)].map(([, id]) => id));
    for (const id of [...this.inputs.keys()]) if (!ids.has(id)) this.inputs.delete(id);
    for (const id of ids) {
      if (this.inputs.has(id)) continue;
      this.inputs.set(id, h("input", { id: `add-input-${id}`, type: "password", autocomplete: "off" }));
    }
    this.inputPlace.replaceChildren(
      ...[...this.inputs].map(([id, control]) =>
        h(
          "div.addfield",
          null,
          h("label", { for: control.id }, "Input ", h("code", null, id), h("span.star", null, " *")),
          control,
          h("p.about", null, "Kept in memory only."),
        ),
      ),
    );
  }
  ownName() {
    if (this.kind === "url") {
      return URL.canParse(this.url.value) ? new URL(this.url.value).host : "";
    }
    return programName(this.command.value);
  }
  /** @param {Event} [event] */
  async submit(event) {
    event?.preventDefault();
    const needed = this.kind === "url" ? this.url : this.command;
    if (!needed.value.trim()) {
      this.problem.textContent =
        this.kind === "url" ? "Type the URL of the server." : "Type the command of the server.";
      return needed.focus();
    }
    if (this.kind === "url" && !/^https?:\/\//i.test(this.url.value.trim())) {
      const typed = this.url.value.trim();
      const scheme = /^(localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(typed) ? "http" : "https";
      this.problem.textContent = typed.includes("://")
        ? "The URL of a server begins with http:// or https://."
        : `The URL needs a scheme. Did you mean ${scheme}://${typed}?`;
      return needed.focus();
    }
    const name = this.name.value.trim() || this.ownName() || "server";
    const inputs = [...this.inputs.keys()].map((id) => ({ id, type: "promptString", description: id, password: true }));
    const given = [...this.inputs].filter(([, control]) => control.value).map(([id, control]) => [id, control.value]);
    try {
      const server = await post("servers", {
        name,
        document: { mcpServers: { [name]: this.entry() }, inputs },
        inputs: Object.fromEntries(given),
        ...(this.saveTo.value ? { save: this.saveTo.value } : {}),
      });
      // An event may already have delivered a newer state of this server.
      if (!state.servers.has(server.id)) state.servers.set(server.id, server);
      touch("servers", server.id);
      if (server.blocked) return this.close();
      return go({ server: server.name, tab: "tools", query: { add: "" } });
    } catch (error) {
      return void (this.problem.textContent = messageOf(error));
    }
  }
}
customElements.define("tb-add-server", AddServer);

/** A table of names and values. */
class Pairs {
  /**
   * @param {string} label
   * @param {string} word
   * @param {() => void} heard
   */
  constructor(label, word, heard) {
    this.word = word;
    this.heard = heard;
    /** @type {[string, string][]} */
    this.rows = [];
    this.body = h("tbody");
    this.table = h(
      "table.mini",
      { "aria-label": label, hidden: true },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "Name"),
          h("th", { scope: "col" }, "Value"),
          h("th.narrow", null, h("span.outside", null, "Remove")),
        ),
      ),
      this.body,
    );
    const add = () => {
      this.rows.push(["", ""]);
      this.draw();
      focusOn(this.body.querySelector("tr:last-child input"));
    };
    this.element = h(
      "div.stack",
      null,
      h("span.addlabel", null, label),
      this.table,
      button(`Add ${word}`, add, { picture: "plus", look: "bare" }),
    );
  }
  get value() {
    return Object.fromEntries(this.rows.filter(([name]) => name.trim()).map(([name, value]) => [name.trim(), value]));
  }
  draw() {
    this.table.hidden = !this.rows.length;
    const cell = (/** @type {[string, string]} */ row, /** @type {0 | 1} */ at, /** @type {string} */ words) => {
      const input = h("input.code", { type: "text", "aria-label": words, value: row[at], autocomplete: "off" });
      input.addEventListener("input", () => {
        row[at] = input.value;
        this.heard();
      });
      return h("td", null, input);
    };
    this.body.replaceChildren(
      ...this.rows.map((row, index) =>
        h(
          "tr",
          null,
          cell(row, 0, `Name of ${this.word} ${index + 1}`),
          cell(row, 1, `Value of ${this.word} ${index + 1}`),
          h(
            "td.narrow",
            null,
            button(
              `Remove ${this.word} ${index + 1}`,
              () => {
                this.rows.splice(index, 1);
                this.draw();
                this.heard();
              },
              { picture: "close", quiet: true, look: "bare" },
            ),
          ),
        ),
      ),
    );
  }
}

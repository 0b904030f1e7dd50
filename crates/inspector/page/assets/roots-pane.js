// The roots: folders that servers may work in, for all servers of the page.

import { post } from "./api.js";
import { View, button, h, messageOf } from "./element.js";
import { state } from "./store.js";

export class RootsPane extends View {
  /** @type {() => void} */
  close;
  /** @type {HTMLInputElement} */
  input;
  /** @type {HTMLElement} */
  list;
  /** @type {HTMLElement} */
  problem;
  /** @param {() => void} close */
  setup(close) {
    this.close = close;
    return this;
  }
  start() {
    this.className = "column";
    this.input = h("input.code", {
      id: "add-root",
      type: "text",
      placeholder: "file:///home/you/project",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.list = h("ul.rootlist", { "aria-label": "Roots" });
    this.problem = h("p.problem", { role: "alert" });
    const add = (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.add();
    };
    this.replaceChildren(
      h(
        "div.bar.panehead",
        null,
        h("h2", null, "Roots"),
        h("span.spring"),
        button("Close", this.close, { picture: "close", quiet: true, look: "bare" }),
      ),
      h(
        "div.scroll",
        null,
        h(
          "form.stack",
          { onsubmit: add },
          h("p.dim", null, "Servers that ask for roots are told these. Sessions are notified of changes at once."),
          this.list,
          h(
            "div.addfield",
            null,
            h("label", { for: this.input.id }, "Folder, as a path or a URI"),
            h("div.line", null, this.input, h("button.plain", { type: "submit" }, "Share")),
          ),
          this.problem,
        ),
      ),
    );
    this.watch("roots", () => this.draw());
    this.draw();
  }
  draw() {
    this.list.replaceChildren(
      ...(state.roots.length
        ? state.roots.map((root) =>
            h(
              "li.line",
              null,
              h("code.cut", { title: root.uri }, root.uri),
              h("span.spring"),
              button(`Remove ${root.uri}`, () => this.share(state.roots.filter((other) => other !== root)), {
                picture: "close",
                quiet: true,
                look: "bare",
              }),
            ),
          )
        : [h("li.dim", null, "No folder is shared.")]),
    );
  }
  add() {
    const typed = this.input.value.trim();
    if (!typed) return undefined;
    const uri = typed.startsWith("/") ? `file://${typed.split("/").map(encodeURIComponent).join("/")}` : typed;
    if (!/^file:\/\//.test(uri)) {
      this.problem.textContent = "A root is a path that begins with /, or a file:// URI.";
      return undefined;
    }
    this.input.value = "";
    return this.share([...state.roots.filter((root) => root.uri !== uri), { uri }]);
  }
  /** @param {{ uri: string, name?: string }[]} roots */
  async share(roots) {
    this.problem.textContent = "";
    await post("roots", { roots }).catch((error) => (this.problem.textContent = messageOf(error)));
  }
}
customElements.define("tb-roots", RootsPane);

// Questions of a session that do not belong to a known call.

import { View, h } from "./element.js";
import { askElement } from "./ask.js";
import { state } from "./store.js";

export class QuestionsTab extends View {
  /** @type {string} */
  server;
  /** @param {{ server: string }} options */
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    this.className = "page";
    this.watch("asks", () => this.draw());
    this.draw();
  }
  draw() {
    const open = [...state.asks.values()].filter(
      (ask) => ask.server === this.server && !state.exchanges.has(ask.exchange ?? -1),
    );
    const wanted = open.map((ask, at) => askElement(ask, [at + 1, open.length]));
    let list = this.querySelector(".stack");
    if (!list) {
      list = h("div.stack");
      this.replaceChildren(h("h1", null, "Questions"), list);
    }
    for (const shown of [...list.children]) if (!wanted.some((one) => one === shown)) shown.remove();
    for (const one of wanted) if (one.parentNode !== list) list.append(one);
    if (!wanted.length) list.replaceChildren(h("p.dim", null, "No question is open."));
  }
}
customElements.define("tb-questions", QuestionsTab);

// A list that draws only the rows in sight, so that ten thousand cost what twenty do.

import { View, h } from "./element.js";

/** Rows drawn above and below those in sight. */
const BEYOND = 4;
const coarse = matchMedia("(pointer: coarse)");
let made = 0;

export class VirtualList extends View {
  /** `draw(item, index)` gives a row's children; `choose(item, index)` is Enter or a click. */
  setup({ label, height, draw, choose, mark }) {
    Object.assign(this, { label, height, draw, choose, mark });
    this.items = [];
    this.active = -1;
    this.name = `list${(made += 1)}`;
    return this;
  }
  start() {
    if (!this.space) this.build();
    this.listen(this, "scroll", () => this.paint(), { passive: true });
    const size = new ResizeObserver(() => this.paint());
    size.observe(this);
    this.stopped = () => size.disconnect();
  }
  build() {
    this.className = "virtual";
    this.tabIndex = 0;
    this.setAttribute("role", "listbox");
    this.setAttribute("aria-label", this.label);
    this.space = h("div.space", { role: "presentation" });
    this.append(this.space);
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (!row || event.ctrlKey || event.metaKey) return;
      this.active = Number(row.dataset.index);
      this.choose(this.items[this.active], this.active);
      this.paint();
    });
  }
  get rowHeight() {
    return coarse.matches ? Math.max(44, this.height) : this.height;
  }
  show(items, { stick = false } = {}) {
    const wasAtEnd = this.scrollTop + this.clientHeight >= this.scrollHeight - 4;
    this.items = items;
    if (this.active >= items.length) this.active = items.length - 1;
    if (this.space) this.space.style.height = `${items.length * this.rowHeight}px`;
    if (stick && wasAtEnd) this.scrollTop = this.scrollHeight;
    this.paint();
  }
  paint() {
    if (!this.space || !this.isConnected) return;
    const height = this.rowHeight;
    const first = Math.max(0, Math.floor(this.scrollTop / height) - BEYOND);
    const last = Math.min(this.items.length, Math.ceil((this.scrollTop + this.clientHeight) / height) + BEYOND);
    this.range = [first, last];
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(this.row(index, height));
    this.space.replaceChildren(...rows);
    const active = this.active >= first && this.active < last;
    if (active) this.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.removeAttribute("aria-activedescendant");
  }
  row(index, height) {
    const item = this.items[index];
    const isChosen = this.mark?.(item, index) ?? false;
    const row = h("div.row", {
      role: "option", id: `${this.name}-${index}`, "data-index": index, "aria-selected": String(isChosen),
      "aria-setsize": this.items.length, "aria-posinset": index + 1,
    }, this.draw(item, index, this.items));
    if (index === this.active) row.classList.add("active");
    row.style.transform = `translateY(${index * height}px)`;
    row.style.height = `${height}px`;
    return row;
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.items.length, End: this.items.length };
    if (event.key === "Enter" && this.items[this.active]) {
      event.preventDefault();
      this.choose(this.items[this.active], this.active);
    } else if (steps[event.key]) {
      event.preventDefault();
      this.moveTo(this.active + steps[event.key]);
    }
  }
  moveTo(index) {
    if (!this.items.length) return;
    this.active = Math.max(0, Math.min(this.items.length - 1, index));
    const top = this.active * this.rowHeight;
    if (top < this.scrollTop) this.scrollTop = top;
    else if (top + this.rowHeight > this.scrollTop + this.clientHeight) this.scrollTop = top + this.rowHeight - this.clientHeight;
    this.paint();
  }
}
customElements.define("tb-list", VirtualList);

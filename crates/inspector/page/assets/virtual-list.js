// A list that draws only the visible rows, so that it is as fast with ten thousand rows as with twenty.
//
// A visible row keeps its element. The element of a row that scrolls out is reused for one that scrolls in.

import { View, h } from "./element.js";
import { asList } from "./json.js";

/** Rows drawn above and below the visible rows. */
const BEYOND = 4;
const coarse = matchMedia("(pointer: coarse)");
let made = 0;

/**
 * The options of a list. All items of a list have one type, which only the list's owner knows.
 *
 * @typedef {object} Options
 * @property {string} label
 * @property {number} height of a row, in px
 * @property {(item: any) => Node | Node[]} draw returns a row's children
 * @property {(child: any, item: any) => void} [fill] changes a row's child to that of another item
 * @property {(child: any, item: any, index: number, items: any[]) => void} [settle] updates the parts that depend on
 *   the neighbouring rows, at every paint
 * @property {(item: any, index: number) => void} choose is called on Enter or a click
 * @property {(item: any, index: number) => boolean} [mark] whether an item is chosen
 * @property {(item: any) => boolean} [isHeading] whether an item is a heading
 */
/** @typedef {HTMLElement & { item?: unknown, index?: number, tall?: number }} Row */

export class VirtualList extends View {
  /** @type {Options} */
  options;
  /** @type {any[]} */
  items = [];
  /** @type {Row[]} */
  rows = [];
  active = -1;
  name = `list${(made += 1)}`;
  isLaidOut = false;
  /** @type {HTMLElement | undefined} */
  space;
  /** The range of drawn rows. */
  range = [0, 0];
  /** @param {Options} options */
  setup(options) {
    this.options = options;
    return this;
  }
  start() {
    if (!this.space) this.build();
    this.listen(this, "scroll", () => this.paint(), { passive: true });
    const size = new ResizeObserver(() => {
      this.isLaidOut = true;
      this.paint();
    });
    size.observe(this);
    this.stopped = () => size.disconnect();
  }
  build() {
    this.className = "virtual";
    this.tabIndex = 0;
    this.setAttribute("role", "listbox");
    this.setAttribute("aria-label", this.options.label);
    this.space = h("div.space", { role: "presentation" });
    this.append(this.space);
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest("[role=option]") : null;
      if (!(row instanceof HTMLElement) || event.ctrlKey || event.metaKey) return;
      this.active = Number(row.dataset.index);
      this.options.choose(this.items[this.active], this.active);
      this.paint();
    });
  }
  get rowHeight() {
    return coarse.matches ? Math.max(44, this.options.height) : this.options.height;
  }
  toTop() {
    if (this.isLaidOut) this.scrollTop = 0;
  }
  /**
   * @param {unknown[]} items
   * @param {{ stick?: boolean }} options
   */
  show(items, { stick = false } = {}) {
    // Before the first layout, reading sizes would force one, so rows for the whole window are drawn. Later the sizes
    // are read before anything is written, so that there is only one layout.
    const { scrollTop, clientHeight, scrollHeight } = this.isLaidOut
      ? this
      : { scrollTop: 0, clientHeight: innerHeight, scrollHeight: 0 };
    const wasAtEnd = scrollTop + clientHeight >= scrollHeight - 4;
    this.items = items;
    if (this.active >= items.length) this.active = items.length - 1;
    const whole = items.length * this.rowHeight;
    const most = Math.max(0, whole - clientHeight);
    const top = stick && wasAtEnd ? most : Math.min(scrollTop, most);
    if (this.space) this.space.style.height = `${whole}px`;
    this.paint(top, clientHeight);
    if (top !== scrollTop) this.scrollTop = top;
  }
  paint(top = this.isLaidOut ? this.scrollTop : 0, sight = this.isLaidOut ? this.clientHeight : innerHeight) {
    if (!this.space || !this.isConnected) return;
    const height = this.rowHeight;
    const first = Math.max(0, Math.floor(top / height) - BEYOND);
    const last = Math.min(this.items.length, Math.ceil((top + sight) / height) + BEYOND);
    this.range = [first, last];
    this.place(first, last);
    for (const [at, row] of this.rows.entries()) this.settleRow(row, first + at, height);
    const isSeen = this.active >= first && this.active < last;
    if (isSeen) this.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.removeAttribute("aria-activedescendant");
  }
  /**
   * Places one element for each visible item, in order.
   *
   * @param {number} first
   * @param {number} last
   */
  place(first, last) {
    const known = new Map(this.rows.map((row) => [row.item, row]));
    const wanted = this.items.slice(first, last);
    const stays = wanted.map((item) => {
      const row = known.get(item);
      known.delete(item);
      return row;
    });
    const free = [...known.values()];
    // If all rows changed, each is filled in its place. Otherwise rows that scrolled out are removed.
    if (stays.some(Boolean)) for (const row of free) row.remove();
    let next = 0;
    this.rows = wanted.map((item, at) => stays[at] ?? this.filled(free[next++], item));
    for (const row of free.slice(next)) row.remove();
    const { space } = this;
    let before = space?.firstChild ?? null;
    for (const row of this.rows) {
      if (row === before) before = before.nextSibling;
      else space?.insertBefore(row, before);
    }
    while (before) {
      /** @type {ChildNode | null} */
      const after = before.nextSibling;
      before.remove();
      before = after;
    }
  }
  /**
   * @param {Row | undefined} row
   * @param {unknown} item
   */
  filled(row, item) {
    /** @type {Row} */
    const filled = row ?? h("div.row", { role: "option" });
    filled.item = item;
    if (row && this.options.fill) this.options.fill(row.firstChild, item);
    else filled.replaceChildren(...asList(this.options.draw(item)));
    return filled;
  }
  /**
   * @param {Row} row
   * @param {number} index
   * @param {number} height
   */
  settleRow(row, index, height) {
    const { item } = row;
    const isHeading = this.options.isHeading?.(item) ?? false;
    put(row, "role", isHeading ? "presentation" : "option");
    if (isHeading) {
      for (const name of ["aria-selected", "aria-setsize", "aria-posinset"]) row.removeAttribute(name);
    } else {
      put(row, "aria-selected", String(this.options.mark?.(item, index) ?? false));
      put(row, "aria-setsize", String(this.items.length));
      put(row, "aria-posinset", String(index + 1));
    }
    row.classList.toggle("active", index === this.active);
    if (row.index !== index || row.tall !== height) {
      Object.assign(row, { id: `${this.name}-${index}`, index, tall: height });
      row.dataset.index = String(index);
      row.style.transform = `translateY(${index * height}px)`;
      row.style.height = `${height}px`;
    }
    this.options.settle?.(row.firstChild, item, index, this.items);
  }
  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.clientHeight / this.rowHeight) - 1);
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.items.length,
      End: this.items.length,
    };
    if (event.key === "Enter" && this.items[this.active] && !this.isHeading(this.active)) {
      event.preventDefault();
      this.options.choose(this.items[this.active], this.active);
    } else if (steps[event.key]) {
      event.preventDefault();
      this.moveTo(this.active + steps[event.key]);
    }
  }
  /** @param {number} index */
  isHeading(index) {
    return this.options.isHeading?.(this.items[index]) ?? false;
  }
  /** @param {number} index */
  moveTo(index) {
    if (!this.items.length) return;
    const step = index < this.active ? -1 : 1;
    let next = Math.max(0, Math.min(this.items.length - 1, index));
    while (this.isHeading(next) && this.items[next + step]) next += step;
    // The first row may be a heading, with no item above it.
    if (this.isHeading(next)) next += 1;
    this.active = next;
    const top = this.active * this.rowHeight;
    if (top < this.scrollTop) this.scrollTop = top;
    else if (top + this.rowHeight > this.scrollTop + this.clientHeight) {
      this.scrollTop = top + this.rowHeight - this.clientHeight;
    }
    this.paint();
  }
}
customElements.define("tb-list", VirtualList);

/**
 * Sets an attribute only if it changed, because each write causes another layout.
 *
 * @param {Element} element
 * @param {string} name
 * @param {string} value
 */
function put(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

// The list of tools, prompts or resources, with its filter.

import { View, button, h, plural } from "./element.js";
import { failure } from "./failure.js";
import { brief } from "./prose.js";
import { go, onPlace, place, set } from "./router.js";
import { displayName, marksOf } from "./subject.js";
import { loadOffer, state } from "./store.js";
import "./virtual-list.js";

const ROW = 38;
/** What each tab lists: its items, each with the text that it is found by. */
/** @typedef {{ name: string, marks: Mark[], about: string, low: string, all: string }} Entry */
/** @type {Record<string, (offer: Offer) => Entry[]>} */
const LISTS = {
  tools: (offer) => offer.tools.map((tool) => entry(tool.name, displayName(tool), tool.description, marksOf(tool))),
  prompts: (offer) => offer.prompts.map((prompt) => entry(prompt.name, displayName(prompt), prompt.description, [])),
  resources: (offer) => [
    ...offer.resources.map((one) =>
      entry(one.uri, displayName(one), one.description, one.mimeType ? [["type", one.mimeType]] : []),
    ),
    ...offer.resourceTemplates.map((one) =>
      entry(one.uriTemplate, displayName(one), one.description, [["task", "template"]]),
    ),
  ],
};

/**
 * @param {string} name
 * @param {string | undefined} title
 * @param {string | undefined} description
 * @param {Mark[]} marks
 * @returns {Entry}
 */
function entry(name, title, description, marks) {
  const about = line(description);
  return {
    name,
    marks,
    about: title && title !== name ? (about ? `${line(title)} · ${about}` : line(title)) : about,
    low: name.toLowerCase(),
    all: `${title ?? ""} ${description ?? ""} ${marks.map(([, word]) => word).join(" ")}`.toLowerCase(),
  };
}

/** As much of a text as a row may show. */
const line = (/** @type {string | undefined} */ text) =>
  (text ?? "")
    .slice(0, 300)
    .split("\n", 1)[0]
    .replaceAll(/`|\*\*/g, "")
    .slice(0, 160);

/**
 * Items whose name holds every word first, then those that hold them elsewhere.
 *
 * @template {{ low: string, all: string }} T
 * @param {T[]} entries
 * @param {string} text
 */
export function sift(entries, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return entries;
  /** @type {T[]} */
  const named = [];
  /** @type {T[]} */
  const other = [];
  for (const one of entries) {
    if (words.every((word) => one.low.includes(word))) named.push(one);
    else if (words.every((word) => one.low.includes(word) || one.all.includes(word))) other.push(one);
  }
  return named.concat(other);
}

export class OfferList extends View {
  /** @type {string} */
  server;
  /** @type {string} */
  tab;
  /** @type {HTMLInputElement} */
  filter;
  /** @type {HTMLElement} */
  count;
  /** @type {HTMLElement} */
  note;
  /** @type {import("./virtual-list.js").VirtualList} */
  list;
  /** @type {Entry[]} */
  entries = [];
  /** @type {{ of: Entry[], text: string, found: Entry[] } | undefined} */
  sifted;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @param {{ server: string, tab: string }} options */
  setup({ server, tab }) {
    this.server = server;
    this.tab = tab;
    return this;
  }
  start() {
    this.filter = h("input.filter", {
      type: "search",
      placeholder: "filter",
      "aria-label": `Filter ${this.tab}`,
      "aria-keyshortcuts": "/",
      value: place().query.get("filter") ?? "",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.count = h("span.dim.small", { role: "status" });
    this.list = document.createElement("tb-list").setup({
      label: this.tab,
      height: ROW,
      draw: (one) => drawEntry(one),
      mark: (one) => one.name === place().object,
      choose: (one) => go({ object: one.name }),
    });
    this.note = h("div.listnote");
    this.filter.addEventListener("input", () => this.sift());
    this.filter.addEventListener("keydown", (event) => this.key(event));
    this.replaceChildren(
      h(
        "div.bar",
        null,
        this.filter,
        h("kbd", { "aria-hidden": "true" }, "/"),
        this.count,
        button("Read the lists again", () => loadOffer(this.server, true), {
          picture: "again",
          quiet: true,
          look: "bare",
        }),
      ),
      this.note,
      this.list,
    );
    this.watch("offers", (keys) => keys.has(this.server) && this.read());
    this.stopped = onPlace(() => this.list.paint());
    this.read();
  }
  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.list.moveTo(this.list.active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      const one = this.list.items[Math.max(0, this.list.active)];
      if (one) go({ object: one.name });
    }
  }
  read() {
    const offer = state.offers.get(this.server);
    this.entries = offer ? LISTS[this.tab](offer) : [];
    const lists = ["everything", this.tab, ...(this.tab === "resources" ? ["resourceTemplates"] : [])];
    const problems = (offer?.problems ?? []).filter((one) => lists.includes(one.list));
    this.note.replaceChildren(...problems.map((one) => failure(one.error)));
    if (offer && !this.entries.length && !problems.length) {
      this.note.append(h("p.dim", null, `The server offers no ${this.tab}.`));
    }
    this.sift();
  }
  sift() {
    // What more letters find is among what fewer found.
    const { sifted } = this;
    const isNarrower = sifted?.of === this.entries && this.filter.value.startsWith(sifted.text);
    const found = sift(isNarrower ? sifted.found : this.entries, this.filter.value);
    this.sifted = { of: this.entries, text: this.filter.value, found };
    this.list.active = -1;
    this.list.toTop();
    this.list.show(found);
    this.count.textContent =
      found.length === this.entries.length
        ? plural(found.length, this.tab.replace(/s$/, ""))
        : `${found.length} of ${this.entries.length}`;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.isConnected && set("filter", this.filter.value), 250);
  }
}
customElements.define("tb-offers", OfferList);

/** @param {Entry} one */
function drawEntry(one) {
  return [
    h(
      "div.first",
      null,
      nameOf(one.name),
      one.marks.map(([look, word]) => h(`span.mark.${look}`, null, word)),
    ),
    h("div.second", null, one.about || "\u00a0"),
  ];
}

/**
 * A URI is told apart by its end, which stays in sight.
 *
 * @param {string} whole
 */
function nameOf(whole) {
  const text = brief(whole);
  const cut = text.includes("://") ? text.lastIndexOf("/") + 1 : 0;
  if (!cut || cut === text.length) return h("span.name", null, text);
  return h("span.name.parted", null, h("span.head", null, text.slice(0, cut)), h("span.tail", null, text.slice(cut)));
}

// The list of tools, prompts or resources, with its filter.

import { View, button, h, plural, searchBox } from "./element.js";
import { failure } from "./failure.js";
import { brief } from "./prose.js";
import { go, onPlace, place, set } from "./router.js";
import { displayName, marksOf } from "./subject.js";
import { loadOffer, state } from "./store.js";
import "./virtual-list.js";

const ROW = 32;
/** The fewest entries with the same prefix that form a group. */
const LEAST_GROUP = 3;
/** The entries of each tab, with the text that the filter searches. */
/** @typedef {{ name: string, prefix: string, marks: Mark[], about: string, low: string, all: string }} Entry */
/** @typedef {{ heading: string, count: number }} Heading */
/** @type {Record<string, (offer: Offer, server: Server | undefined) => Entry[]>} */
const LISTS = {
  tools: (offer, server) =>
    offer.tools.map((tool) => entry(tool.name, displayName(tool), tool.description, marksOf(tool, server))),
  prompts: (offer) => offer.prompts.map((prompt) => entry(prompt.name, displayName(prompt), prompt.description, [])),
  resources: (offer) => [
    ...offer.resources.map((one) => entry(one.uri, displayName(one), one.description, [])),
    ...offer.resourceTemplates.map((one) =>
      entry(one.uriTemplate, displayName(one), one.description, [["plain", "template"]]),
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
    prefix: /^([^_./:]+[_.])[^_.]/.exec(name)?.[1] ?? "",
    marks,
    about: title && title !== name ? (about ? `${line(title)}: ${about}` : line(title)) : about,
    low: name.toLowerCase(),
    all: `${title ?? ""} ${description ?? ""} ${marks.map(([, word]) => word).join(" ")}`.toLowerCase(),
  };
}

/** The first paragraph of a text, shortened to fit a row. */
const line = (/** @type {string | undefined} */ text) =>
  (text ?? "")
    .slice(0, 300)
    .trim()
    // A paragraph may have several lines, because descriptions often come from wrapped comments.
    .split(/\n\s*\n/, 1)[0]
    .replaceAll(/\s+/g, " ")
    .replaceAll(/`|\*\*/g, "")
    .slice(0, 160);

/**
 * The items that contain every word: those with a match in the name first.
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

/**
 * The entries, grouped under headings by a common prefix of their names if enough entries have one.
 *
 * @param {Entry[]} entries
 * @returns {(Entry | Heading)[]}
 */
function grouped(entries) {
  /** @type {Map<string, Entry[]>} */
  const groups = new Map();
  for (const one of entries) {
    const own = groups.get(one.prefix);
    if (own) own.push(one);
    else groups.set(one.prefix, [one]);
  }
  const large = [...groups].filter(([prefix, own]) => prefix && own.length >= LEAST_GROUP);
  if (large.length < 2) return entries;
  /** @type {(Entry | Heading)[]} */
  const shown = [];
  const named = new Set(large.map(([prefix]) => prefix));
  for (const [prefix, own] of large) shown.push({ heading: prefix.slice(0, -1), count: own.length }, ...own);
  const rest = entries.filter((one) => !named.has(one.prefix));
  if (rest.length) shown.push({ heading: "Other", count: rest.length }, ...rest);
  return shown;
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
  /** @type {(Entry | Heading)[]} the entries below their headings */
  groups = [];
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
      placeholder: "Filter",
      "aria-label": `Filter ${this.tab}`,
      "aria-keyshortcuts": "/",
      value: place().query.get("filter") ?? "",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.count = h("span.count.outside", { role: "status" });
    this.list = document.createElement("tb-list").setup({
      label: this.tab,
      height: ROW,
      draw: (one) => ("heading" in one ? drawHeading(one) : drawEntry(one, this.questions(one.name))),
      mark: (one) => one.name !== undefined && one.name === place().object,
      isHeading: (one) => "heading" in one,
      choose: (one) => go({ object: one.name }),
    });
    this.note = h("div.listnote");
    this.filter.addEventListener("input", () => this.sift());
    this.filter.addEventListener("keydown", (event) => this.key(event));
    this.replaceChildren(
      h(
        "div.bar",
        null,
        searchBox(this.filter, "search", "/"),
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
    this.watch("asks", () => this.list.show([...this.list.items]));
    this.watch("offers", (keys) => keys.has(this.server) && this.read());
    this.stopped = onPlace(() => this.list.paint());
    this.read();
  }
  /**
   * The number of open questions of an entry's calls.
   *
   * @param {string} name
   */
  questions(name) {
    if (!state.asks.size) return 0;
    const isOwn = (/** @type {Exchange | undefined} */ call) => call?.server === this.server && call.object === name;
    return [...state.asks.values()].filter((ask) => isOwn(state.exchanges.get(ask.exchange ?? -1))).length;
  }
  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.list.moveTo(this.list.active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      const one = this.list.items.slice(Math.max(0, this.list.active)).find((item) => "name" in item);
      if (one) go({ object: one.name });
    }
  }
  read() {
    const offer = state.offers.get(this.server);
    this.entries = offer ? LISTS[this.tab](offer, state.servers.get(this.server)) : [];
    this.groups = this.tab === "resources" ? this.entries : grouped(this.entries);
    const lists = ["everything", this.tab, ...(this.tab === "resources" ? ["resourceTemplates"] : [])];
    const problems = (offer?.problems ?? []).filter((one) => lists.includes(one.list));
    this.note.replaceChildren(...problems.map((one) => failure(one.error)));
    if (offer && !this.entries.length && !problems.length) {
      this.note.append(h("p.dim", null, `The server offers no ${this.tab}.`));
    }
    this.sift();
  }
  sift() {
    // A longer filter matches a subset of what the shorter one matched.
    const { sifted } = this;
    const isNarrower = sifted?.of === this.entries && this.filter.value.startsWith(sifted.text);
    const found = sift(isNarrower ? sifted.found : this.entries, this.filter.value);
    this.sifted = { of: this.entries, text: this.filter.value, found };
    this.list.active = -1;
    this.list.toTop();
    const isWhole = found.length === this.entries.length;
    this.list.show(isWhole && !this.filter.value ? this.groups : found);
    const count = plural(this.entries.length, this.tab.replace(/s$/, ""));
    this.filter.placeholder = `Filter ${count}`;
    this.count.textContent = isWhole ? count : `${found.length} of ${this.entries.length}`;
    this.count.classList.toggle("outside", isWhole);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.isConnected && set("filter", this.filter.value), 250);
  }
}
customElements.define("tb-offers", OfferList);

/** @param {Heading} one */
const drawHeading = ({ heading, count }) =>
  h("div.offergroup", null, h("span", null, heading), h("span.count", null, String(count)));

/**
 * One line: the name, the start of the description, and the marks.
 *
 * @param {Entry} one
 * @param {number} questions
 */
function drawEntry(one, questions) {
  return h(
    "div.offer",
    null,
    nameOf(one.name, one.prefix),
    h("span.gist.cut", null, one.about),
    questions
      ? h("span.pill.asked", null, plural(questions, "question"))
      : one.marks.map(([look, word]) => h(`span.pill.${look}`, null, word)),
  );
}

/**
 * A name that is cut off to fit. The end of a URI, which distinguishes it, stays visible.
 *
 * @param {string} whole
 * @param {string} prefix
 */
function nameOf(whole, prefix) {
  const text = brief(whole);
  const cut = text.includes("://") ? text.lastIndexOf("/") + 1 : 0;
  if (!cut || cut === text.length) {
    return prefix
      ? h("span.name.cut", { title: whole }, h("span", null, prefix), text.slice(prefix.length))
      : h("span.name.cut", { title: whole }, text);
  }
  return h("span.name.parted", null, h("span.head", null, text.slice(0, cut)), h("span.tail", null, text.slice(cut)));
}

// Helpers that create elements, and the base class of custom elements.

import { icon } from "./icon.js";
import { on } from "./store.js";

/**
 * `h("button.plain", { onclick }, "Call")`: an element with classes, attributes and children.
 *
 * @template {string} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {ElementOf<Name>}
 */
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (key === "value" || key === "checked" || key === "open") Object.assign(element, { [key]: value });
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  // Appended one by one, because there may be more children than a call can have arguments.
  for (const child of /** @type {unknown[]} */ (children).flat(Infinity)) {
    if (isSomething(child)) {
      element.append(typeof child === "string" ? visible(child) : /** @type {Node | string} */ (child));
    }
  }
  return /** @type {ElementOf<Name>} */ (element);
}

/** Control characters except tab and line breaks, and marks that change the direction of text. */
// eslint-disable-next-line no-control-regex -- it matches control characters on purpose
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text with its invisible characters made visible, so that a server's text cannot pass for another. For display only:
 * values are never changed.
 *
 * @param {string} text
 */
export const visible = (text) =>
  text.search(HIDDEN) < 0
    ? text
    : text.replaceAll(HIDDEN, (one) => {
        const code = one.codePointAt(0) ?? 0;
        // Unicode has a visible symbol for each character below U+0020.
        if (code < 0x20) return String.fromCodePoint(0x2400 + code);
        return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
      });

const isSomething = (/** @type {unknown} */ child) => child !== null && child !== undefined && child !== false;

/**
 * A button with an icon. `words` are its name; `quiet` hides them.
 *
 * @param {string} words
 * @param {(event: MouseEvent) => unknown} onclick
 * @param {ButtonOptions} options
 */
export function button(words, onclick, { picture, look = "plain", quiet = false, ...rest } = {}) {
  const attributes = { type: "button", onclick, ...(quiet ? { "aria-label": words, title: words } : {}), ...rest };
  return h(
    `button.${look}${quiet ? ".square" : ""}`,
    attributes,
    picture && icon(picture),
    quiet ? null : h("span", null, words),
  );
}

/**
 * A box that filters or searches, with its icon and its keyboard shortcut.
 *
 * @param {HTMLInputElement} input
 * @param {string} picture
 * @param {string} [key]
 */
export const searchBox = (input, picture, key) =>
  h("div.searchbox", null, icon(picture), input, key ? h("kbd", { "aria-hidden": "true" }, key) : null);

/**
 * Changes the text of a button.
 *
 * @param {HTMLButtonElement} made
 * @param {string} words
 */
export function setWords(made, words) {
  const place = made.querySelector("span");
  if (place) place.textContent = words;
}

/**
 * A button that copies text and confirms it.
 *
 * @param {string} words
 * @param {string | (() => string | null | Promise<string>)} text
 * @param {ButtonOptions} options
 */
export function copyButton(words, text, options = {}) {
  const made = button(
    words,
    async () => {
      const value = typeof text === "function" ? await text() : text;
      await copy(value ?? "");
      made.classList.add("did");
      announce("copied");
      setTimeout(() => made.classList.remove("did"), 1200);
    },
    { picture: "copy", ...options },
  );
  return made;
}

/** @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).catch(() => copyByHand(text));
  return copyByHand(text);
}

/** @param {string} text */
function copyByHand(text) {
  const area = h("textarea.outside", { value: text, "aria-label": "copied text" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/**
 * Announces a text to screen readers.
 *
 * @param {string} words
 */
export function announce(words) {
  const region = document.getElementById("announce");
  if (region) region.textContent = words;
}

/**
 * Downloads a file.
 *
 * @param {string} name
 * @param {BlobPart} parts
 * @param {string} type
 */
export function save(name, parts, type = "application/json") {
  const url = URL.createObjectURL(parts instanceof Blob ? parts : new Blob([parts], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * A row of tabs: `choices` are `[id, words, count]`. Arrow keys move between them.
 *
 * @param {string} label
 * @param {[string, string, number?][]} choices
 * @param {string} chosen
 * @param {(id: string) => void} choose
 * @param {Child} [extra]
 */
export function tabs(label, choices, chosen, choose, extra) {
  const buttons = choices.map(([id, words, count]) =>
    h(
      "button.tab",
      {
        type: "button",
        role: "tab",
        "data-id": id,
        "aria-selected": String(id === chosen),
        tabindex: id === chosen ? "0" : "-1",
        onclick: () => choose(id),
      },
      words,
      count ? h("span.count", null, ` ${count}`) : null,
    ),
  );
  const list = h(
    "div.tablist",
    {
      role: "tablist",
      "aria-label": label,
      onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
        const at = buttons.findIndex((one) => one === document.activeElement);
        if (!step || at < 0) return;
        event.preventDefault();
        const next = (at + step + buttons.length) % buttons.length;
        choose(choices[next][0]);
        const again = list.isConnected ? list : document.querySelector(`[role=tablist][aria-label="${label}"]`);
        focusOn(again?.querySelectorAll("[role=tab]")[next]);
      },
    },
    buttons,
  );
  return h("div.tabs", null, list, extra);
}

/**
 * Focuses an element, if it can have the focus.
 *
 * @param {Element | null | undefined} element
 */
export function focusOn(element) {
  if (element instanceof HTMLElement) element.focus();
}

/**
 * The message of an error.
 *
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Runs `act` now, and again `pause` after each run ends, so that runs never overlap.
 *
 * @param {() => Promise<unknown>} act
 * @param {number} pause in ms
 * @returns {() => void} stops it
 */
export function repeat(act, pause) {
  let isOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const next = async () => {
    await act();
    if (!isOver) timer = setTimeout(next, pause);
  };
  void next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** The base class of custom elements. `watch` listens to the store for as long as the element is in the page. */
export class View extends HTMLElement {
  /** @type {(() => void)[]} */
  #stops = [];
  /** @type {(() => void) | undefined} is called when the element leaves the page */
  stopped;
  /** Draws the element. Called when it is in the page. */
  start() {}
  connectedCallback() {
    this.start();
  }
  disconnectedCallback() {
    for (const stop of this.#stops.splice(0)) stop();
    this.stopped?.();
  }
  /**
   * @param {string} topic
   * @param {(keys: Set<unknown>) => unknown} react
   */
  watch(topic, react) {
    this.#stops.push(on(topic, react));
  }
  /**
   * @param {EventTarget} target
   * @param {string} type
   * @param {EventListener} react
   * @param {AddEventListenerOptions} [options]
   */
  listen(target, type, react, options) {
    target.addEventListener(type, react, options);
    this.#stops.push(() => target.removeEventListener(type, react, options));
  }
}

/** @param {number} count */
export const bytes = (count) =>
  count < 1000 ? `${count} B` : count < 1e6 ? `${(count / 1000).toFixed(1)} KB` : `${(count / 1e6).toFixed(1)} MB`;
/** @param {number} ms */
export const span = (ms) =>
  ms < 10
    ? // A number such as 4.0 is a `Digits`, not a JavaScript number.
      `${Number(Number(ms).toFixed(1))} ms`
    : ms < 1000
      ? `${Math.round(ms)} ms`
      : ms < 60_000
        ? `${Number((ms / 1000).toFixed(1))} s`
        : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
/** @param {number} at */
export const clock = (at) => {
  const date = new Date(at);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
};
/**
 * The time of day to the second.
 *
 * @param {number} at
 */
export const time = (at) => clock(at).slice(0, 8);
/**
 * @param {number} count
 * @param {string} word
 */
export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
/** Whether the page is as narrow as on a phone. */
export const isNarrow = () => innerWidth < 720;

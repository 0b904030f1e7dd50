// A JSON value as a searchable tree. Branches are built when they are opened.

import { button, copyButton, h } from "./element.js";
import { icon } from "./icon.js";
import { Digits, isObject, kindOf, print } from "./json.js";

/** Members shown at once. A button shows more. */
const BATCH = 100;
/** Characters of a string shown before it is cut. */
const LONG = 400;
/** The most rows that are open from the start. */
const OPEN_ROWS = 40;
/** Characters shown of a closed branch. */
const START = 80;
/** A value of fewer characters has no search box. */
const SEARCHED = 1500;
/** The most matches of a search. */
const MOST_FOUND = 1000;
/** The longest time that a search runs before the page gets a turn, in ms. */
const SLICE = 12;

/** @typedef {unknown[] | JsonObject} Nested */
/** @typedef {{ rows: number }} Budget rows that may still be opened from the start */
/** @typedef {HTMLLIElement & { index?: number, upTo?: (index: number) => Item }} Item */

/**
 * @param {unknown} value
 * @returns {value is Nested}
 */
const isNested = (value) => Array.isArray(value) || isObject(value);
const members = (/** @type {Nested} */ value) => (Array.isArray(value) ? value.length : Object.keys(value).length);
/** @returns {unknown} */
const member = (/** @type {Nested} */ value, /** @type {string | number} */ key) =>
  /** @type {Record<string, unknown>} */ (value)[key];

/**
 * The tree, with a search box if it is large.
 *
 * @param {unknown} value
 * @param {{ search?: boolean }} options
 */
export function tree(value, { search: isSearched = true } = {}) {
  const budget = { rows: OPEN_ROWS };
  const root = branch(null, value, budget, true);
  const list = h("ul.tree", null, root);
  if (!isSearched || !isNested(value) || print(value, 0, SEARCHED).length < SEARCHED) return list;
  return h("div.treebox", null, searchBar(value, root), list);
}

/**
 * @param {string | number | null} key
 * @param {unknown} value
 * @param {Budget} budget
 * @returns {Item}
 */
function branch(key, value, budget, isRoot = false) {
  /** @type {Item} */
  const item = h("li");
  const name = key === null ? null : h("span.key", null, `${key}: `);
  if (!isNested(value) || members(value) === 0) {
    item.append(h("div.leaf", null, name, leaf(value)));
    return item;
  }
  const toggle = h(
    "button.twist",
    { type: "button", "aria-expanded": "false" },
    icon("right"),
    name,
    h("span.sum", null, count(value)),
    h("span.start", null, start(value)),
  );
  const inner = h("ul");
  item.append(toggle, inner);
  const openUp = (isQuiet = false) => {
    if (toggle.getAttribute("aria-expanded") === "true") return;
    toggle.setAttribute("aria-expanded", "true");
    if (!inner.firstChild) fill(inner, value, 0, isQuiet ? budget : { rows: 0 });
  };
  item.upTo = (index) => {
    openUp();
    const shown = () => /** @type {Item[]} */ ([...inner.children]).find((child) => child.index === index);
    if (!shown()) fillAround(inner, value, index);
    return shown() ?? item;
  };
  toggle.addEventListener("click", () => {
    if (toggle.getAttribute("aria-expanded") === "true") toggle.setAttribute("aria-expanded", "false");
    else openUp();
  });
  if (isRoot || budget.rows >= members(value)) {
    budget.rows -= members(value);
    openUp(true);
  }
  return item;
}

/**
 * @param {HTMLElement} list
 * @param {Nested} value
 * @param {number} from
 * @param {Budget} budget
 */
function fill(list, value, from, budget) {
  const keys = Array.isArray(value) ? value : Object.keys(value);
  const to = Math.min(keys.length, from + BATCH);
  for (let index = from; index < to; index += 1) {
    const key = Array.isArray(value) ? index : String(keys[index]);
    list.append(Object.assign(branch(key, member(value, key), budget), { index }));
  }
  if (to < keys.length) {
    const more = h(
      "li.more",
      null,
      button(
        `${keys.length - to} more`,
        () => {
          more.remove();
          fill(list, value, to, { rows: 0 });
        },
        { look: "link" },
      ),
    );
    list.append(more);
  }
}

/**
 * Shows the batch with a far member, without the batches before it.
 *
 * @param {HTMLElement} list
 * @param {Nested} value
 * @param {number} index
 */
function fillAround(list, value, index) {
  const from = index - (index % BATCH);
  list.replaceChildren();
  if (from > 0) {
    list.append(
      h(
        "li.more",
        null,
        button(
          `${from} earlier`,
          () => {
            list.replaceChildren();
            fill(list, value, 0, { rows: 0 });
          },
          { look: "link" },
        ),
      ),
    );
  }
  fill(list, value, from, { rows: 0 });
}

const count = (/** @type {Nested} */ value) => (Array.isArray(value) ? `[${members(value)}]` : `{${members(value)}}`);

/** @param {Nested} value */
function start(value) {
  const text = print(value, 0, START);
  return text.length > START ? `${text.slice(0, START)}…` : text;
}

/**
 * @param {unknown} value
 * @returns {Child}
 */
function leaf(value) {
  if (value instanceof Digits) return h("span.value.number", null, value.text);
  const text = isNested(value) ? (Array.isArray(value) ? "[]" : "{}") : (JSON.stringify(value) ?? "undefined");
  const shown = h(`span.value.${kindOf(value)}`, null, text.length > LONG ? `${text.slice(0, LONG)}…` : text);
  if (text.length <= LONG || typeof value !== "string") return shown;
  const cut = button(
    `all ${value.length.toLocaleString("en")} characters`,
    () => {
      shown.textContent = text.length > 200_000 ? `${text.slice(0, 200_000)}…` : text;
      cut.remove();
    },
    { look: "link" },
  );
  return [shown, " ", cut, copyButton("Copy the string", value, { quiet: true, look: "bare" })];
}

/**
 * @param {Nested} value
 * @param {Item} root
 */
function searchBar(value, root) {
  /** @type {number[][]} */
  let found = [];
  let at = -1;
  let turn = 0;
  const told = h("span.dim", { role: "status" });
  const box = h("input.search", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search in this value",
  });
  const step = (/** @type {number} */ by) => {
    if (!found.length) return;
    at = (at + by + found.length) % found.length;
    told.textContent = `${at + 1} of ${found.length}${found.length >= MOST_FOUND ? " or more" : ""}`;
    reveal(root, found[at]);
  };
  box.addEventListener("input", async () => {
    const mine = (turn += 1);
    const wanted = box.value.toLowerCase();
    found = [];
    at = -1;
    told.textContent = "";
    if (!wanted) return;
    found = await search(value, wanted, () => mine !== turn);
    if (mine !== turn) return;
    told.textContent = found.length ? "" : "not found";
    step(1);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  });
  return h(
    "div.bar",
    null,
    box,
    told,
    button("Previous match", () => step(-1), { picture: "up", quiet: true, look: "bare" }),
    button("Next match", () => step(1), { picture: "down", quiet: true, look: "bare" }),
  );
}

/**
 * The paths to the members whose key or value contains `wanted`. Searches in slices of time.
 *
 * @param {Nested} value
 * @param {string} wanted
 * @param {() => boolean} isOver
 */
async function search(value, wanted, isOver) {
  /** @type {number[][]} */
  const found = [];
  /** @type {{ inside: Nested, way: number[] }[]} */
  const open = [{ inside: value, way: [] }];
  let since = performance.now();
  for (let next = open.pop(); next && found.length < MOST_FOUND; next = open.pop()) {
    const { inside, way } = next;
    const keys = Object.keys(inside);
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const child = member(inside, keys[index]);
      if (isNested(child)) open.push({ inside: child, way: [...way, index] });
    }
    keys.forEach((key, index) => {
      const child = member(inside, key);
      const isHit =
        (!Array.isArray(inside) && key.toLowerCase().includes(wanted)) ||
        (!isNested(child) && String(child).toLowerCase().includes(wanted));
      if (isHit) found.push([...way, index]);
    });
    if (performance.now() - since > SLICE) {
      await new Promise((resolve) => setTimeout(resolve));
      if (isOver()) return [];
      since = performance.now();
    }
  }
  return found.sort(inOrder).slice(0, MOST_FOUND);
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function inOrder(one, other) {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    if (one[index] !== other[index]) return one[index] - other[index];
  }
  return one.length - other.length;
}

/**
 * @param {Item} root
 * @param {number[]} way
 */
function reveal(root, way) {
  root
    .closest(".tree")
    ?.querySelectorAll(".hit")
    .forEach((hit) => hit.classList.remove("hit"));
  let item = root;
  for (const index of way) item = item.upTo?.(index) ?? item;
  item.classList.add("hit");
  item.scrollIntoView({ block: "center" });
}

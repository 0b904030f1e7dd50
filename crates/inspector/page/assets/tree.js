// A JSON value as a tree that is built as far as it is opened, with search.

import { button, copyButton, h, plural } from "./element.js";
import { icon } from "./icon.js";
import { Digits, isObject, kindOf, print } from "./json.js";

/** Members shown at once; the rest is a click away. */
const BATCH = 100;
/** Characters of a string shown before it is cut. */
const LONG = 400;
/** Rows that open by themselves. */
const OPEN_ROWS = 40;
/** Characters of a closed branch that are shown. */
const START = 80;
/** A value of fewer characters is found by looking. */
const SEARCHED = 1500;
/** Matches that a search stops at. */
const MOST_FOUND = 1000;
/** A search gives way to the page after so many ms. */
const SLICE = 12;

const isNested = (value) => Array.isArray(value) || isObject(value);
const members = (value) => (Array.isArray(value) ? value.length : Object.keys(value).length);

/** The tree, with a search box when it is large. */
export function tree(value, { search = true } = {}) {
  const budget = { rows: OPEN_ROWS };
  const root = branch(null, value, budget, true);
  const list = h("ul.tree", null, root);
  if (!search || !isNested(value) || print(value, 0, SEARCHED).length < SEARCHED) return list;
  return h("div.treebox", null, searchBar(value, root), list);
}

function branch(key, value, budget, isRoot = false) {
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
  item.openUp = (quiet) => {
    if (toggle.getAttribute("aria-expanded") === "true") return;
    toggle.setAttribute("aria-expanded", "true");
    if (!inner.firstChild) fill(inner, value, 0, quiet ? budget : { rows: 0 });
  };
  item.upTo = (index) => {
    item.openUp();
    const shown = () => [...inner.children].find((child) => child.index === index);
    if (!shown()) fillAround(inner, value, index);
    return shown();
  };
  toggle.addEventListener("click", () => {
    if (toggle.getAttribute("aria-expanded") === "true") toggle.setAttribute("aria-expanded", "false");
    else item.openUp();
  });
  if (isRoot || budget.rows >= members(value)) {
    budget.rows -= members(value);
    item.openUp(true);
  }
  return item;
}

function fill(list, value, from, budget) {
  const keys = Array.isArray(value) ? value : Object.keys(value);
  const to = Math.min(keys.length, from + BATCH);
  for (let index = from; index < to; index += 1) {
    const key = Array.isArray(value) ? index : keys[index];
    list.append(Object.assign(branch(key, value[key], budget), { index }));
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

/** Shows the batch that a far member is in, instead of everything before it. */
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

const count = (value) => plural(members(value), Array.isArray(value) ? "item" : "key");

function start(value) {
  const text = print(value, 0, START);
  return text.length > START ? `${text.slice(0, START)}…` : text;
}

function leaf(value) {
  if (value instanceof Digits) return h("span.value.number", null, value.text);
  const text = isNested(value) ? (Array.isArray(value) ? "[]" : "{}") : JSON.stringify(value);
  const shown = h(`span.value.${kindOf(value)}`, null, text.length > LONG ? `${text.slice(0, LONG)}…` : text);
  if (text.length <= LONG) return shown;
  const cut = button(
    `all ${value.length.toLocaleString("en")} characters`,
    (event) => {
      shown.textContent = text.length > 200_000 ? `${text.slice(0, 200_000)}…` : text;
      event.currentTarget.remove();
    },
    { look: "link" },
  );
  return [shown, " ", cut, copyButton("Copy the string", value, { quiet: true, look: "bare" })];
}

function searchBar(value, root) {
  let found = [];
  let at = -1;
  let turn = 0;
  const told = h("span.dim", { role: "status" });
  const box = h("input.search", {
    type: "search",
    placeholder: "search in this value",
    "aria-label": "Search in this value",
  });
  const step = (by) => {
    if (!found.length) return;
    at = (at + by + found.length) % found.length;
    told.textContent = `${at + 1} of ${found.length}${found.length >= MOST_FOUND ? " or more" : ""}`;
    reveal(root, value, found[at]);
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

/** Ways to the members whose key or value holds `wanted`, found a slice at a time. */
async function search(value, wanted, isOver) {
  const found = [];
  const open = [{ value, way: [] }];
  let since = performance.now();
  while (open.length && found.length < MOST_FOUND) {
    const { value, way } = open.pop();
    const keys = Object.keys(value);
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      if (isNested(value[keys[index]])) open.push({ value: value[keys[index]], way: [...way, index] });
    }
    keys.forEach((key, index) => {
      const child = value[key];
      const isHit =
        (!Array.isArray(value) && key.toLowerCase().includes(wanted)) ||
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

function inOrder(one, other) {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    if (one[index] !== other[index]) return one[index] - other[index];
  }
  return one.length - other.length;
}

function reveal(root, value, way) {
  root
    .closest(".tree")
    .querySelectorAll(".hit")
    .forEach((hit) => hit.classList.remove("hit"));
  let item = root;
  for (const index of way) item = item.upTo(index);
  item.classList.add("hit");
  item.scrollIntoView({ block: "center" });
}

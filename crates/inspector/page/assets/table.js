// A list of objects as a table that can be sorted and searched, or shown as a tree.

import { button, h, plural } from "./element.js";
import { icon } from "./icon.js";
import { Digits, isNumber, isObject, print } from "./json.js";
import { tree } from "./tree.js";

/** The most columns of a table. */
const MOST_COLUMNS = 10;
/** Rows shown at once. */
const BATCH = 100;
/** The most characters in a cell. */
const LONGEST_CELL = 200;
/** The most characters in a cell with a list or an object. */
const LONGEST_NESTED = 60;
/** A table with at least this many rows has a search box. */
const SEARCHED = 8;

/** @typedef {{ key: string, isNumber: boolean }} Column */

/**
 * The columns of a list of objects, or null if the value does not suit a table.
 *
 * @param {unknown} value
 * @returns {Column[] | null}
 */
export function columnsOf(value) {
  if (!Array.isArray(value) || !value.length) return null;
  // Reads every row, so that no member of a late row is left out.
  /** @type {Map<string, boolean>} whether there are only numbers, by the key */
  const keys = new Map();
  let nested = 0;
  for (const row of value) {
    if (!isObject(row)) return null;
    for (const [key, one] of Object.entries(row)) {
      keys.set(key, (keys.get(key) ?? true) && (one === null || isNumber(one)));
      if (isObject(one) || Array.isArray(one)) nested += 1;
    }
    if (keys.size > MOST_COLUMNS) return null;
  }
  // At least half of the values must be plain: a table of trees is harder to read than a tree.
  if (!keys.size || nested > value.length * keys.size * 0.5) return null;
  return [...keys].map(([key, isRight]) => ({ key, isNumber: isRight }));
}

/**
 * @param {string} name
 * @param {JsonObject[]} rows
 * @param {Column[]} columns
 */
export function table(name, rows, columns) {
  const place = h("div");
  let isTree = false;
  /** @type {{ key: string, isDown: boolean } | null} */
  let order = null;
  let wanted = "";
  let most = BATCH;
  const told = h("span.count", { role: "status" });
  const swap = h("div.segments.keep", { role: "group", "aria-label": `View of ${name}` });
  const drawSwap = () =>
    swap.replaceChildren(
      ...[
        ["Table", false],
        ["Tree", true],
      ].map(([words, which]) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(isTree === which),
            onclick: () => {
              isTree = Boolean(which);
              drawSwap();
              draw();
            },
          },
          String(words),
        ),
      ),
    );
  const found = () => {
    const shown = wanted ? rows.filter((row) => columns.some(({ key }) => holds(row[key], wanted))) : rows;
    if (!order) return shown;
    const { key, isDown } = order;
    const sign = isDown ? -1 : 1;
    return shown.toSorted((one, other) => sign * compare(one[key], other[key]));
  };
  const head = (/** @type {Column} */ { key, isNumber: isRight }) => {
    const isSorted = order?.key === key;
    const sort = () => {
      order = !isSorted ? { key, isDown: false } : order?.isDown ? null : { key, isDown: true };
      draw();
    };
    return h(
      `th${isRight ? ".right" : ""}`,
      { scope: "col", "aria-sort": isSorted ? (order?.isDown ? "descending" : "ascending") : null },
      h(
        "button",
        { type: "button", onclick: sort, "aria-pressed": String(isSorted) },
        key,
        isSorted ? icon(order?.isDown ? "down" : "up") : null,
      ),
    );
  };
  const draw = () => {
    const shown = found();
    told.textContent = wanted ? `${shown.length} of ${plural(rows.length, "object")}` : plural(rows.length, "object");
    if (isTree) return place.replaceChildren(tree(shown));
    const more = button(`${shown.length - most} more`, () => {
      most += BATCH;
      draw();
    });
    more.hidden = shown.length <= most;
    return place.replaceChildren(
      h(
        "div.tablescroll",
        { tabindex: "0", role: "region", "aria-label": `Table of ${name}` },
        h(
          "table.data",
          null,
          h("thead", null, h("tr", null, columns.map(head))),
          h(
            "tbody",
            null,
            shown.slice(0, most).map((row) =>
              h(
                "tr",
                null,
                columns.map(({ key, isNumber: isRight }) => cell(row[key], isRight, wanted)),
              ),
            ),
          ),
        ),
      ),
      more,
    );
  };
  drawSwap();
  draw();
  const search = h("input.search", {
    type: "search",
    placeholder: "Search",
    "aria-label": `Search in ${name}`,
    oninput: ({ target }) => {
      wanted = target instanceof HTMLInputElement ? target.value.toLowerCase() : "";
      most = BATCH;
      draw();
    },
  });
  return h(
    "section.tablebox",
    { "aria-label": name },
    h("div.line", null, h("h2", null, name), told, h("span.spring"), rows.length >= SEARCHED ? search : null, swap),
    place,
  );
}

/**
 * @param {Field} value
 * @param {boolean} isRight
 * @param {string} wanted
 */
function cell(value, isRight, wanted) {
  const isHit = wanted && holds(value, wanted);
  const look = `td${isRight ? ".right" : ""}${isHit ? ".hit" : ""}`;
  if (value === undefined) return h(look, null, h("span.dim", null, "–"));
  const text = typeof value === "string" ? value : value instanceof Digits ? value.text : print(value, 0, LONGEST_CELL);
  const most = isObject(value) || Array.isArray(value) ? LONGEST_NESTED : LONGEST_CELL;
  const short = text.length > most ? `${text.slice(0, most)}…` : text;
  const isCode = typeof value === "string" ? /^[A-Z0-9][A-Z0-9_-]{2,}$/.test(value) : !isRight;
  return h(look, null, isCode ? h("code", null, short) : short);
}

/**
 * @param {Field} value
 * @param {string} wanted
 */
const holds = (value, wanted) =>
  value !== undefined && (typeof value === "string" ? value : print(value, 0, 2000)).toLowerCase().includes(wanted);

/**
 * @param {Field} one
 * @param {Field} other
 */
function compare(one, other) {
  if (isNumber(one) && isNumber(other)) return Number(one) - Number(other);
  return String(one ?? "").localeCompare(String(other ?? ""), undefined, { numeric: true });
}

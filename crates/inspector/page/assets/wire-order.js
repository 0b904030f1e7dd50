// The columns of the wire and the order of its rows: `ms-` sorts by duration, longest first.

import { h } from "./element.js";
import { icon } from "./icon.js";
import { nameOf } from "./wire-row.js";

/** @typedef {{ name: string, isDown: boolean }} Direction */
/** @typedef {(row: WireRow) => string | number | undefined} Key the value that a column is sorted by */
/** @typedef {Direction & { key: Key }} Order */
/** @type {[string, string, Key | null][]} */
const COLUMNS = [
  ["time", "Time", (row) => row.seq],
  ["of", "", null],
  ["method", "Message", (row) => `${nameOf(row)} ${row.object ?? ""}`],
  ["id", "Id", null],
  ["status", "Status", (row) => row.status ?? undefined],
  ["ms", "Took", (row) => row.ms ?? undefined],
  ["size", "Size", (row) => row.bytes ?? 0],
  ["fall", "Waterfall", null],
];

/**
 * The order for a word in the address. For an unknown word, the order of time.
 *
 * @param {string | null} word
 * @returns {Order}
 */
export function orderOf(word) {
  const [, name, sign] = /^([a-z]+)(-?)$/.exec(word ?? "") ?? [];
  const key = COLUMNS.find(([id]) => id === name)?.[2];
  return key ? { name, key, isDown: sign === "-" } : { name: "time", key: (row) => row.seq, isDown: false };
}

const wordOf = (/** @type {Direction} */ { name, isDown }) =>
  name === "time" && !isDown ? "" : `${name}${isDown ? "-" : ""}`;
export const isAsItWas = (/** @type {Order} */ order) => wordOf(order) === "";
const isNumber = (/** @type {string} */ name) => name === "ms" || name === "size";

/**
 * Sorts rows. Rows without a value are last in both directions; equal rows keep their order.
 *
 * @param {WireRow[]} rows
 * @param {Order} order
 */
export function ordered(rows, order) {
  if (order.name === "time") return order.isDown ? rows.toReversed() : rows;
  const sign = order.isDown ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: order.key(row) }));
  keyed.sort((one, other) => {
    if (one.key === other.key) return 0;
    if (one.key === undefined) return 1;
    if (other.key === undefined) return -1;
    return one.key < other.key ? -sign : sign;
  });
  return keyed.map(({ row }) => row);
}

/**
 * The heads of the columns. The first click sorts by a column, the second reverses the order, the third ends it.
 *
 * @param {Order} order
 * @param {boolean} hasTile
 * @param {(word: string) => void} choose
 */
export function heads(order, hasTile, choose) {
  const cell = (/** @type {[string, string, Key | null]} */ [name, words, key]) => {
    if (!key) return h(`span.${name}`, null, words);
    const isChosen = order.name === name;
    // Numbers are sorted largest first.
    const first = { name, isDown: isNumber(name) };
    const turned = { name, isDown: !order.isDown };
    const next = !isChosen ? first : order.isDown === first.isDown ? turned : { name: "time", isDown: false };
    const said = isChosen ? `${words}, sorted ${order.isDown ? "down" : "up"}` : words;
    return h(
      `button.${name}`,
      {
        type: "button",
        "data-column": name,
        "aria-label": `Sort by ${said}`,
        "aria-pressed": String(isChosen),
        onclick: () => choose(wordOf(next)),
      },
      h("span", null, words),
      isChosen ? icon(order.isDown ? "down" : "up") : null,
    );
  };
  return COLUMNS.filter(([name]) => hasTile || name !== "of").map(cell);
}

// Combines a request and its response into one row.

import { print } from "./json.js";

/** The most open requests that are remembered. */
const MOST_OPEN = 4096;
/** @type {Map<string, number>} the numbers of open requests, by server, direction and id */
const open = new Map();

/**
 * @param {WireRow} row
 * @param {"in" | "out"} direction of the request
 */
const keyOf = ({ server, id }, direction) => `${server} ${direction} ${print(id)}`;

/**
 * Adds a message: as the response of an existing row, or as a new row. Returns the number of the row.
 *
 * @param {WirePair[]} pairs
 * @param {WireRow} row
 * @returns {number}
 */
export function pairUp(pairs, row) {
  const isAnswer = row.kind === "response" && row.id !== null && row.id !== undefined;
  const key = isAnswer ? keyOf(row, row.direction === "in" ? "out" : "in") : null;
  const asked = key === null ? undefined : open.get(key);
  const at = asked === undefined ? -1 : seek(pairs, asked);
  if (key !== null && asked !== undefined && pairs[at]?.seq === asked) {
    open.delete(key);
    const request = pairs[at];
    pairs[at] = {
      ...request,
      status: row.status,
      ms: row.ms,
      bytes: (request.bytes ?? 0) + (row.bytes ?? 0),
      answer: row.seq,
    };
    return request.seq;
  }
  const place = seek(pairs, row.seq);
  const known = pairs[place]?.seq === row.seq ? pairs[place] : null;
  // The HTTP status of a request arrives later, possibly after its response.
  if (known?.answer) return row.seq;
  if (known) pairs[place] = row;
  else if (place === pairs.length) pairs.push(row);
  else pairs.splice(place, 0, row);
  if (!known && row.kind === "request") {
    if (open.size >= MOST_OPEN) open.clear();
    open.set(keyOf(row, row.direction), row.seq);
  }
  return row.seq;
}

/**
 * The index of a number in rows that are sorted by number, or the index at which to insert it.
 *
 * @param {WireRow[]} rows
 * @param {number} seq
 */
export function seek(rows, seq) {
  if (!rows.length || rows[rows.length - 1].seq < seq) return rows.length;
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

// How long servers took for their last answers.

import { state } from "./store.js";

/** Answers that count, of each server. */
const LAST = 40;
/** Messages that are looked through. */
const LOOKED_AT = 5000;

/**
 * The times of the last answers, the oldest first, by the id of the server.
 *
 * @returns {Map<string, number[]>}
 */
export function latencies() {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  for (let at = state.wire.length - 1; at >= Math.max(0, state.wire.length - LOOKED_AT); at -= 1) {
    const { server, direction, kind, ms, status } = state.wire[at];
    if (direction !== "in" || kind !== "response" || typeof ms !== "number") continue;
    // What waits for a person or for news says nothing about the server.
    if (/input_required/.test(status ?? "")) continue;
    const own = found.get(server) ?? [];
    if (own.length < LAST) found.set(server, [...own, ms]);
  }
  for (const own of found.values()) own.reverse();
  return found;
}

/**
 * The time that half of the answers did not need.
 *
 * @param {number[]} times
 */
export function middle(times) {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

// The response times of servers.

import { state } from "./store.js";

/** The most responses counted for each server. */
const LAST = 40;
/** The number of newest messages that are searched. */
const LOOKED_AT = 5000;

/**
 * The times of the last responses, oldest first, by the id of the server.
 *
 * @returns {Map<string, number[]>}
 */
export function latencies() {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  for (let at = state.wire.length - 1; at >= Math.max(0, state.wire.length - LOOKED_AT); at -= 1) {
    const { server, direction, kind, ms, status } = state.wire[at];
    if (direction !== "in" || kind !== "response" || typeof ms !== "number") continue;
    // Time spent on waiting for the user is not the server's.
    if (/input_required/.test(status ?? "")) continue;
    const own = found.get(server) ?? [];
    if (own.length < LAST) found.set(server, [...own, ms]);
  }
  for (const own of found.values()) own.reverse();
  return found;
}

/**
 * The median.
 *
 * @param {number[]} times
 */
export function middle(times) {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

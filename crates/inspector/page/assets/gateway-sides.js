// Matches the messages of both hops, and marks the lines that differ.

import { h } from "./element.js";
import { parse, print } from "./json.js";

/** Longer texts are not compared: the time grows with the square of the number of lines. */
const COMPARED = 600;

/**
 * Pairs each message of one hop with its translation on the other.
 *
 * @param {GatewayMessage[]} messages
 * @returns {[GatewayMessage | undefined, GatewayMessage | undefined][]}
 */
export function joined(messages) {
  /** @type {[GatewayMessage | undefined, GatewayMessage | undefined][]} */
  const rows = [];
  for (const one of messages) {
    const side = one.hop === "client" ? 0 : 1;
    const last = rows[rows.length - 1];
    const other = last?.[1 - side];
    if (last && !last[side] && other && isSame(one, other)) last[side] = one;
    else rows.push(side ? [undefined, one] : [one, undefined]);
  }
  return rows;
}

/**
 * Whether one message is the translation of the other. A result may become an error if a revision cannot express it.
 *
 * @param {GatewayMessage} one
 * @param {GatewayMessage} other
 */
function isSame(one, other) {
  const isEnd = (/** @type {GatewayMessage} */ { part }) => part === "result" || part === "error";
  // A modern client gets a question as a result.
  const [client, server] = one.hop === "client" ? [one, other] : [other, one];
  const isAsked = client.part === "result" && server.part === "question";
  return one.part === other.part || (isEnd(one) && isEnd(other)) || isAsked;
}

/**
 * The texts of both sides. Lines that only one side has are marked.
 *
 * @param {string | undefined} client
 * @param {string | undefined} server
 * @returns {[HTMLElement | null, HTMLElement | null]}
 */
export function sides(client, server) {
  const left = client === undefined ? null : pretty(client);
  const right = server === undefined ? null : pretty(server);
  const isCompared = left && right && left.length <= COMPARED && right.length <= COMPARED;
  const [own, others] = isCompared ? differing(left, right) : [new Set(), new Set()];
  return [left && text(left, own, "gone"), right && text(right, others, "came")];
}

/**
 * The removed and the added lines of a value.
 *
 * @param {Json | undefined} before
 * @param {Json | undefined} after
 * @returns {[string, string][]} a sign and a line each
 */
export function changedLines(before, after) {
  const lines = (/** @type {Json | undefined} */ value) =>
    value === undefined || value === null
      ? []
      : typeof value === "string"
        ? value.split("\n")
        : print(value, 2).split("\n");
  const [left, right] = [lines(before), lines(after)];
  if (left.length > COMPARED || right.length > COMPARED) return [];
  const [gone, came] = differing(left, right);
  return [
    ...[...gone].map((at) => /** @type {[string, string]} */ (["-", left[at]])),
    ...[...came].map((at) => /** @type {[string, string]} */ (["+", right[at]])),
  ];
}

/**
 * The lines of a JSON text, indented. Text that was cut off is not indented.
 *
 * @param {string} json
 */
function pretty(json) {
  try {
    return print(parse(json), 2).split("\n");
  } catch {
    return json.split("\n");
  }
}

/**
 * The lines of each text that are not in the longest common subsequence. A comma at the end of a line is ignored.
 *
 * @param {string[]} left
 * @param {string[]} right
 * @returns {[Set<number>, Set<number>]}
 */
function differing(left, right) {
  const bare = (/** @type {string} */ line) => line.replace(/,$/, "");
  const [one, other] = [left.map(bare), right.map(bare)];
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let at = one.length - 1; at >= 0; at -= 1) {
    for (let to = other.length - 1; to >= 0; to -= 1) {
      lengths[at][to] =
        one[at] === other[to] ? lengths[at + 1][to + 1] + 1 : Math.max(lengths[at + 1][to], lengths[at][to + 1]);
    }
  }
  /** @type {[Set<number>, Set<number>]} */
  const found = [new Set(), new Set()];
  let [at, to] = [0, 0];
  while (at < one.length || to < other.length) {
    if (at < one.length && to < other.length && one[at] === other[to]) {
      at += 1;
      to += 1;
    } else if (to >= other.length || (at < one.length && lengths[at + 1][to] >= lengths[at][to + 1])) {
      found[0].add(at);
      at += 1;
    } else {
      found[1].add(to);
      to += 1;
    }
  }
  return found;
}

/**
 * @param {string[]} lines
 * @param {Set<unknown>} marked
 * @param {string} look
 */
const text = (lines, marked, look) =>
  h(
    "pre.hoptext",
    { tabindex: "0" },
    lines.map((line, at) => (marked.has(at) ? h(`span.${look}`, null, line, "\n") : `${line}\n`)),
  );

// The parts of a line of Markdown: code, emphasis and links. The text is untrusted, so parsing takes linear time:
// the search for each kind of mark continues where the last one ended.

import { h } from "./element.js";

/** Finds the next place of a mark. Searches go from left to right, so no character is read twice. */
class Finder {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    /** @type {Map<string, number>} the last place of each mark; -1 if no more follow */
    this.places = new Map();
  }
  /**
   * @param {string} mark
   * @param {number} from
   * @returns {number} its place, or -1
   */
  next(mark, from) {
    const known = this.places.get(mark);
    if (known !== undefined && (known === -1 || known >= from)) return known;
    const place = this.text.indexOf(mark, from);
    this.places.set(mark, place);
    return place;
  }
}

/** @typedef {{ end: number, part: HTMLElement }} Piece an element, and where its text ends */
/** @typedef {(text: string, at: number, find: Finder) => Piece | null} Read */

/** @type {Read} */
function code(text, at, find) {
  const close = find.next("`", at + 1);
  if (close <= at + 1) return null;
  return { end: close + 1, part: h("code", null, text.slice(at + 1, close)) };
}

/** @type {Read} */
function emphasis(text, at, find) {
  const mark = text[at];
  const isStrong = text[at + 1] === mark;
  const start = at + (isStrong ? 2 : 1);
  const close = find.next(mark, start);
  if (close <= start) return null;
  if (isStrong) {
    if (text[close + 1] !== mark) return null;
    return { end: close + 2, part: h("strong", null, inline(text.slice(start, close))) };
  }
  // A single underscore is part of a name.
  const line = find.next("\n", start);
  if (mark === "_" || (line !== -1 && line < close)) return null;
  return { end: close + 1, part: h("em", null, inline(text.slice(start, close))) };
}

/** @type {Read} */
function named(text, at, find) {
  const start = text[at] === "!" ? at + 1 : at;
  if (text[start] !== "[") return null;
  const close = find.next("]", start + 1);
  if (close === -1 || text[close + 1] !== "(" || !/[^)\s]/.test(text[close + 2] ?? "")) return null;
  const end = find.next(")", close + 2);
  if (end === -1) return null;
  const to = text.slice(close + 2, end).split(/\s/, 1)[0];
  return { end: end + 1, part: link(to, text.slice(start + 1, close) || to) };
}

const ADDRESS = /https?:\/\/[^\s<>)]+/y;

/** @type {Read} */
function address(text, at) {
  ADDRESS.lastIndex = at;
  const found = ADDRESS.exec(text)?.[0];
  return found ? { end: at + found.length, part: link(found, found) } : null;
}

/** @type {Record<string, Read | undefined>} the kinds of parts, by their first character */
const MARKS = { "`": code, "*": emphasis, _: emphasis, "!": named, "[": named, h: address };

/**
 * The parts of a line.
 *
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
export function inline(text) {
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  const find = new Finder(text);
  let from = 0;
  for (let at = 0; at < text.length;) {
    const piece = MARKS[text[at]]?.(text, at, find);
    if (piece) {
      parts.push(text.slice(from, at), piece.part);
      from = piece.end;
    }
    at = piece?.end ?? at + 1;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
}

/**
 * A link to the web, which opens a new window. Any other link becomes text with its target as the title.
 *
 * @param {string} to
 * @param {string} words
 */
function link(to, words) {
  if (!/^https?:\/\//i.test(to)) return h("span.nowhere", { title: to }, words);
  return h("a", { href: to, target: "_blank", rel: "noopener noreferrer", title: to }, words);
}

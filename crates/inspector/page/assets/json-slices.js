// Parses large JSON in slices, so that the page stays responsive.
//
// Members that fit in a slice are passed to `parse` together. A member that is larger than a slice is read in the
// same way, member by member.

import { parse, put } from "./json.js";

/** Text of fewer characters is parsed at once, which takes a few milliseconds. */
const AT_ONCE = 200_000;
/** Characters passed to the parser at once. */
const SLICE = 64_000;
/** The longest time between two turns of the page, in ms. */
const TURN = 10;

/** Usually the text between two objects of a list. */
const BETWEEN = /\}\s*,\s*\{/g;
const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  34, 44, 58, 91, 92, 93, 123, 125,
];

/**
 * The value of a JSON text, as `parse` returns it.
 *
 * @param {string} text
 * @returns {Promise<any>} of the type that the caller expects
 */
export async function parseLarge(text) {
  if (text.length < AT_ONCE) return parse(text);
  try {
    return await new Slices(text).whole();
  } catch (error) {
    if (!(error instanceof NoSlices)) throw error;
    // Invalid JSON, or a value that cannot be split. The full parser reports the position.
    return parse(text);
  }
}

/**
 * Gives the browser a turn, without the delay that timers have.
 *
 * @returns {Promise<void>}
 */
export function turn() {
  // Not every browser has `scheduler.yield`.
  const { scheduler } = /** @type {{ scheduler?: { yield?: () => Promise<void> } }} */ (globalThis);
  if (scheduler?.yield) return scheduler.yield();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

class NoSlices extends Error {}

class Slices {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.since = performance.now();
  }
  async whole() {
    this.space();
    const value = await this.opened();
    this.space();
    if (this.at < this.text.length) throw new NoSlices();
    return value;
  }
  space() {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return code;
      this.at += 1;
    }
  }
  /**
   * Reads a value that may be larger than a slice. Its members are read in batches.
   *
   * @returns {Promise<Json>}
   */
  async opened() {
    const first = this.text.charCodeAt(this.at);
    if (first === OPEN_LIST) return this.members([], CLOSE_LIST);
    if (first === OPEN_OBJECT) return this.members({}, CLOSE_OBJECT);
    const end = this.end(this.at, Infinity);
    const value = this.read(this.text.slice(this.at, end));
    this.at = end;
    return value;
  }
  /**
   * @param {Json[] | JsonObject} into
   * @param {number} close
   */
  async members(into, close) {
    this.at += 1;
    if (this.space() === close) {
      this.at += 1;
      return into;
    }
    for (;;) {
      await this.batch(into, close);
      const code = this.space();
      this.at += 1;
      if (code === close) return into;
      if (code !== COMMA) throw new NoSlices();
      this.space();
    }
  }
  /**
   * Reads as many members as fit in a slice, or one member that is larger.
   *
   * @param {Json[] | JsonObject} into
   * @param {number} close
   * @returns {Promise<void>}
   */
  async batch(into, close) {
    const isList = close === CLOSE_LIST;
    if (Array.isArray(into) && this.guessed(into)) {
      return this.since + TURN < performance.now() ? this.rest() : undefined;
    }
    const from = this.at;
    let to = from;
    for (;;) {
      const start = this.at;
      const value = isList ? start : this.key();
      const end = this.end(value, SLICE);
      if (end < 0) {
        this.take(into, isList, from, to);
        return this.large(into, isList, start, value);
      }
      this.at = to = end;
      if (to - from >= SLICE || this.space() !== COMMA) break;
      this.at += 1;
      this.space();
    }
    this.at = to;
    this.take(into, isList, from, to);
    if (performance.now() - this.since > TURN) await this.rest();
    return undefined;
  }
  /**
   * Reads a batch up to a place where one object seems to end and the next to begin. If the batch parses, the guess was
   * right.
   *
   * @param {Json[]} into
   */
  guessed(into) {
    if (this.text.charCodeAt(this.at) !== OPEN_OBJECT) return false;
    BETWEEN.lastIndex = this.at + SLICE;
    const found = BETWEEN.exec(this.text);
    if (!found || found.index - this.at > 2 * SLICE) return false;
    try {
      for (const one of parse(`[${this.text.slice(this.at, found.index + 1)}]`, true)) into.push(one);
    } catch {
      return false;
    }
    this.at = found.index + 1;
    return true;
  }
  /**
   * @param {Json[] | JsonObject} into
   * @param {boolean} isList
   * @param {number} start
   * @param {number} value
   */
  async large(into, isList, start, value) {
    const key = isList ? "" : this.read(this.text.slice(start, this.text.lastIndexOf(":", value)));
    this.at = value;
    const read = await this.opened();
    if (Array.isArray(into)) into.push(read);
    else put(into, key, read);
  }
  async rest() {
    await turn();
    this.since = performance.now();
  }
  /**
   * @param {Json[] | JsonObject} into
   * @param {boolean} isList
   * @param {number} from
   * @param {number} to
   */
  take(into, isList, from, to) {
    // A comma before a large member is not part of the batch.
    if (to <= from) return;
    const text = this.text.slice(from, to);
    const read = this.read(isList ? `[${text}]` : `{${text}}`);
    if (Array.isArray(into)) for (const one of read) into.push(one);
    else for (const key of Object.keys(read)) put(into, key, read[key]);
  }
  /** @param {string} text */
  read(text) {
    try {
      return parse(text);
    } catch {
      throw new NoSlices();
    }
  }
  /** Skips a member's name. Returns the start of its value. */
  key() {
    if (this.text.charCodeAt(this.at) !== QUOTE) throw new NoSlices();
    this.at = this.afterString(this.at);
    if (this.space() !== COLON) throw new NoSlices();
    this.at += 1;
    this.space();
    return this.at;
  }
  /** @param {number} start */
  afterString(start) {
    let at = start;
    for (;;) {
      at = this.text.indexOf('"', at + 1);
      if (at < 0) throw new NoSlices();
      let before = at - 1;
      while (this.text.charCodeAt(before) === BACKSLASH) before -= 1;
      if ((at - before) % 2 === 1) return at + 1;
    }
  }
  /**
   * The end of the value at `start`, or -1 if it is a list or an object of more than `most` characters.
   *
   * @param {number} start
   * @param {number} most
   */
  end(start, most) {
    const { text } = this;
    let depth = 0;
    let at = start;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = this.afterString(at);
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        depth += 1;
        at += 1;
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT || code === COMMA) {
        if (depth === 0) return at;
        if (code !== COMMA) depth -= 1;
        at += 1;
      } else if (Number.isNaN(code)) {
        if (depth === 0) return at;
        throw new NoSlices();
      } else at += 1;
      if (depth === 0 && (code === QUOTE || code === CLOSE_LIST || code === CLOSE_OBJECT)) return at;
      if (depth > 0 && at - start > most) return -1;
    }
  }
}

// JSON without loss: a number that JavaScript cannot hold exactly is kept as its digits.
//
// `parse` returns plain values, except that such a number becomes a `Digits`; `print` writes the same digits.
// All data from and to servers passes through these functions.

/** A number as its source text, because a JavaScript number would lose digits. */
export class Digits {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  toJSON() {
    return Number(this.text);
  }
}

export class JsonError extends Error {
  /**
   * @param {string} message
   * @param {number} at
   * @param {string} text
   */
  constructor(message, at, text) {
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    super(`${message} at line ${line}, column ${column}`);
  }
}

/** Deeper nesting is an error, before it can overflow the stack. */
const DEEPEST = 2000;
/** Numbers that the built-in parser may change: many digits, fractions, exponents, and minus zero. */
const MAY_LOSE = /\d{16}|\d\.\d|\d[eE][+-]?\d|-0/;
/** Text that may be such a number. */
const CANDIDATE = /-?\d+(?:\.\d+)?[eE][+-]?\d+|-?\d+\.\d+|-?\d{16,}|-0(?!\d)/g;
/** The characters that may be before and after a number. */
const BEFORE = /[[:,\s]/;
const AFTER = /[\s,\]}]/;
/** A mark before the digits of a number while the built-in parser reads it as a string. */
const KEPT = "\u0001digits:";
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Everything but quotes, backslashes and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
/** @type {Record<string, string>} */
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
/** @type {Record<string, [string, Json]>} */
const WORDS = { t: ["true", true], f: ["false", false], n: ["null", null] };

/**
 * Parses JSON. With `isGuess` the text may be invalid JSON, and the error has no position.
 *
 * @param {string} text
 * @param {boolean} isGuess
 * @returns {any} of the type that the caller expects
 */
export function parse(text, isGuess = false) {
  try {
    return MAY_LOSE.test(text) ? parseKeeping(text) : JSON.parse(text);
  } catch (error) {
    if (isGuess && !MAY_LOSE.test(text)) throw error;
    // `Reader` is slower, but its errors have a position, and it never takes digits in a string for a number.
    return new Reader(text).document();
  }
}

/**
 * Parses with the built-in parser. Numbers that it would change are passed as marked strings.
 *
 * @param {string} text
 * @returns {Json}
 */
function parseKeeping(text) {
  if (text.includes(KEPT) || text.includes("\\u0001digits")) throw new Error("the mark is taken");
  let isMarked = false;
  const marked = text.replace(CANDIDATE, (digits, at) => {
    if (String(Number(digits)) === digits) return digits;
    // Digits inside other text, such as a hash in a string, are not a number.
    if (
      (at > 0 && !BEFORE.test(text[at - 1])) ||
      (at + digits.length < text.length && !AFTER.test(text[at + digits.length]))
    ) {
      return digits;
    }
    isMarked = true;
    return `"\\u0001digits:${digits}"`;
  });
  // If a number inside a string was marked, the text is no longer valid JSON, and this throws.
  const value = JSON.parse(marked);
  return isMarked ? restore(value) : value;
}

/**
 * @param {Json} value
 * @returns {Json}
 */
function restore(value) {
  if (typeof value === "string") return value.startsWith(KEPT) ? new Digits(value.slice(KEPT.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  const members = /** @type {Record<string, Json>} */ (value);
  for (const key of Object.keys(value)) {
    const one = members[key];
    if (typeof one === "object" ? one !== null : typeof one === "string" && one.charCodeAt(0) === 1) {
      put(value, key, restore(one));
    }
  }
  return value;
}

/**
 * The number with these digits: a JavaScript number if it is exact, otherwise a `Digits`.
 *
 * @param {string} text
 */
export function number(text) {
  const value = Number(text);
  return String(value) === text ? value : new Digits(text);
}

/**
 * The number in a text box, or undefined when the text is not a number.
 *
 * @param {string} text
 */
export function numberFrom(text) {
  NUMBER.lastIndex = 0;
  const trimmed = text.trim();
  const found = NUMBER.exec(trimmed);
  return found && found[0].length === trimmed.length ? number(trimmed) : undefined;
}

class Reader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
  }
  /**
   * @param {string} message
   * @returns {never}
   */
  fail(message) {
    throw new JsonError(message, this.at, this.text);
  }
  space() {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at += 1;
    }
  }
  document() {
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.fail("something follows the value");
    return value;
  }
  /** @returns {Json} */
  value() {
    this.space();
    const first = this.text[this.at];
    if (first === "{") return this.nested(() => this.object());
    if (first === "[") return this.nested(() => this.array());
    if (first === '"') return this.string();
    const word = WORDS[first];
    if (word && this.text.startsWith(word[0], this.at)) {
      this.at += word[0].length;
      return word[1];
    }
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (!found) return this.fail(first === undefined ? "the text ends too early" : "a value is expected");
    this.at += found[0].length;
    return number(found[0]);
  }
  /**
   * @template T
   * @param {() => T} read
   */
  nested(read) {
    this.depth += 1;
    if (this.depth > DEEPEST) this.fail(`more than ${DEEPEST} levels`);
    this.at += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }
  object() {
    /** @type {JsonObject} */
    const object = {};
    this.space();
    if (this.taken("}")) return object;
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.fail("a key in double quotes is expected");
      const key = this.string();
      this.space();
      if (!this.taken(":")) this.fail("`:` is expected");
      put(object, key, this.value());
      this.space();
      if (this.taken("}")) return object;
      if (!this.taken(",")) this.fail("`,` or `}` is expected");
    }
  }
  array() {
    /** @type {Json[]} */
    const array = [];
    this.space();
    if (this.taken("]")) return array;
    for (;;) {
      array.push(this.value());
      this.space();
      if (this.taken("]")) return array;
      if (!this.taken(",")) this.fail("`,` or `]` is expected");
    }
  }
  /** @param {string} character */
  taken(character) {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }
  string() {
    this.at += 1;
    let value = "";
    for (;;) {
      PLAIN.lastIndex = this.at;
      // The pattern always matches, because it may match nothing.
      const run = /** @type {RegExpExecArray} */ (PLAIN.exec(this.text))[0];
      value += run;
      this.at += run.length;
      const next = this.text[this.at];
      if (next === '"') {
        this.at += 1;
        return value;
      }
      if (next !== "\\") this.fail(next === undefined ? "the string does not end" : "a control character in a string");
      value += this.escape();
    }
  }
  escape() {
    const name = this.text[this.at + 1];
    if (name === "u") {
      const hex = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.fail("`\\u` needs four hex digits");
      this.at += 6;
      return String.fromCharCode(parseInt(hex, 16));
    }
    if (!(name in ESCAPES)) this.fail("an unknown escape");
    this.at += 2;
    return ESCAPES[name];
  }
}

/**
 * Sets a member, even if its name is special in JavaScript, such as `__proto__`.
 *
 * @param {object} object
 * @param {string} key
 * @param {unknown} value
 */
export function put(object, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    /** @type {Record<string, unknown>} */ (object)[key] = value;
  }
}

/**
 * @param {unknown} value
 * @returns {value is JsonObject}
 */
export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Digits);
/**
 * @param {unknown} value
 * @returns {value is number | Digits}
 */
export const isNumber = (value) => typeof value === "number" || value instanceof Digits;

/**
 * A list, made from a list or a single value.
 *
 * @template T
 * @param {T | T[]} given
 * @returns {T[]}
 */
export const asList = (given) => (Array.isArray(given) ? given : [given]);

/**
 * The JSON type of a value.
 *
 * @param {unknown} value
 */
export function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isNumber(value)) return "number";
  return typeof value;
}

/**
 * The JSON text of a value. With `most`, it stops after about that many characters.
 *
 * @param {unknown} value
 * @param {number} indent
 * @param {number} most
 */
export function print(value, indent = 0, most = Infinity) {
  /** @type {string[]} */
  const parts = [];
  let length = 0;
  const write = (/** @type {string} */ text) => {
    parts.push(text);
    length += text.length;
  };
  /**
   * @param {unknown} one
   * @param {string} pad
   */
  const walk = (one, pad) => {
    if (length > most) return;
    if (one instanceof Digits) return write(one.text);
    if (typeof one !== "object" || one === null) return write(leaf(one, most));
    const isArray = Array.isArray(one);
    const members = /** @type {Record<string, unknown>} */ (one);
    const keys = isArray ? one : Object.keys(members).filter((key) => members[key] !== undefined);
    if (keys.length === 0) return write(isArray ? "[]" : "{}");
    const inner = pad + " ".repeat(indent);
    const gap = indent ? `\n${inner}` : "";
    write(isArray ? "[" : "{");
    for (let index = 0; index < keys.length && length <= most; index += 1) {
      write(index ? `,${gap}` : gap);
      if (!isArray) write(`${JSON.stringify(keys[index])}:${indent ? " " : ""}`);
      walk(isArray ? (one[index] ?? null) : members[keys[index]], inner);
    }
    write(`${indent ? `\n${pad}` : ""}${isArray ? "]" : "}"}`);
  };
  walk(value, "");
  return parts.join("");
}

/**
 * @param {unknown} value
 * @param {number} most
 * @returns {string}
 */
function leaf(value, most) {
  if (typeof value === "string" && value.length > most) return JSON.stringify(value.slice(0, most));
  return JSON.stringify(value) ?? "null";
}

/**
 * Whether two values are the same JSON.
 *
 * @param {unknown} one
 * @param {unknown} other
 */
export const same = (one, other) => one === other || print(one) === print(other);

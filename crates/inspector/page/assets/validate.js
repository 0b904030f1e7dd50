// Checks common rules of a schema while the user types. The binary checks the rest.

import { Digits, asList, isNumber, isObject, kindOf, same } from "./json.js";
import { fits, labelOf, mayFit, resolve } from "./schema.js";

/** The most problems reported. More would not be read. */
const MOST = 50;
/** @type {Record<string, [RegExp, string]>} */
const FORMATS = {
  email: [/^[^\s@]+@[^\s@]+$/, "an e-mail address"],
  uri: [/^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/, "a URI"],
  date: [/^\d{4}-\d\d-\d\d$/, "a date such as 2026-01-31"],
  time: [/^\d\d:\d\d(:\d\d)?/, "a time such as 09:30:00Z"],
  "date-time": [
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/,
    "a time such as 2026-01-31T09:30:00Z",
  ],
  uuid: [/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, "a UUID"],
  ipv4: [/^\d{1,3}(\.\d{1,3}){3}$/, "an IPv4 address"],
};

/**
 * The problems of a value. Their paths are JSON pointers.
 *
 * @param {unknown} value
 * @param {Schema} schema
 * @param {Map<string, Schema>} [chosen] the variants that the user chose, by the paths of their unions
 */
export function validate(value, schema, chosen = new Map()) {
  /** @type {Problem[]} */
  const problems = [];
  try {
    check(value, schema, { root: schema, path: "", problems, depth: 0, chosen });
  } catch {
    // An invalid schema has no rules; the binary reports it.
  }
  return problems;
}

/**
 * @param {string} path
 * @param {string | number} key
 */
export const pointer = (path, key) => `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** @typedef {{ root: Schema, path: string, problems: Problem[], depth: number, chosen: Map<string, Schema> }} At */
/** @typedef {(message: string, at?: string, isMissing?: boolean) => void} Say */

/**
 * Checks a member of the value at `at`.
 *
 * @param {unknown} value
 * @param {Schema} given
 * @param {At} at
 * @param {string | number} key
 */
const checkMember = (value, given, at, key) =>
  check(value, given, { ...at, path: pointer(at.path, key), depth: at.depth + 1 });

/**
 * @param {unknown} value
 * @param {Schema} given
 * @param {At} at
 */
function check(value, given, at) {
  if (at.depth > 100 || at.problems.length >= MOST) return;
  const schema = resolve(given, at.root);
  /** @type {Say} */
  const say = (message, path = at.path, isMissing = false) =>
    void at.problems.push({ path, message, ...(isMissing ? { isMissing } : {}) });
  if ("const" in schema && !same(schema.const, value)) return say(`must be ${JSON.stringify(schema.const)}`);
  if (schema.enum && !schema.enum.some((one) => same(one, value))) return say("is not one of the choices");
  if (!checkUnion(value, schema, at)) return;
  const wanted = schema.type ? asList(schema.type) : null;
  if (wanted && !wanted.some((type) => isOf(value, type))) return say(`must be ${article(wanted.join(" or "))}`);
  if (typeof value === "string") checkString(value, schema, say);
  else if (isNumber(value)) checkNumber(value, schema, say);
  else if (Array.isArray(value)) checkArray(value, schema, at, say);
  else if (isObject(value)) checkObject(value, schema, at, say);
}

/**
 * @param {unknown} value
 * @param {Schema} schema
 * @param {At} at
 */
function checkUnion(value, schema, at) {
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives)) return true;
  /** @type {Problem[] | null} */
  let nearest = null;
  // Without a chosen variant, take the variants that the value seems to fit, and of those the one with the deepest
  // problems.
  const meant = alternatives.filter((one) => one === at.chosen.get(at.path));
  const ways = [fits, mayFit].map((fit) => alternatives.filter((one) => fit(value, one, at.root)));
  const likely = [meant, ...ways].find((some) => some.length);
  if (!likely) {
    at.problems.push(noVariant(value, alternatives, at));
    return false;
  }
  for (const one of likely) {
    /** @type {Problem[]} */
    const own = [];
    check(value, one, { ...at, problems: own, depth: at.depth + 1 });
    if (!own.length) return true;
    if (
      !nearest ||
      depthOf(own) > depthOf(nearest) ||
      (depthOf(own) === depthOf(nearest) && own.length < nearest.length)
    ) {
      nearest = own;
    }
  }
  at.problems.push(...(nearest ?? []));
  return false;
}

/**
 * The problem of a value that fits no variant. If all variants have a tag, the problem is the tag.
 *
 * @param {unknown} value
 * @param {Schema[]} alternatives
 * @param {At} at
 * @returns {Problem}
 */
function noVariant(value, alternatives, at) {
  const tagOf = (/** @type {Schema} */ one, /** @type {string} */ key) => {
    const tag = resolve(resolve(one, at.root).properties?.[key], at.root);
    return "const" in tag ? JSON.stringify(tag.const) : undefined;
  };
  const variants = leaves(alternatives, at.root);
  const objects = variants.filter((one) => resolve(one, at.root).properties);
  const key = isObject(value)
    ? Object.keys(value).find((name) => objects.length && objects.every((one) => tagOf(one, name) !== undefined))
    : undefined;
  if (key !== undefined) {
    const tags = new Set(objects.map((one) => tagOf(one, key)));
    return { path: pointer(at.path, key), message: `must be ${[...tags].join(" or ")}` };
  }
  const labels = variants.map((one, index) => labelOf(one, at.root, index));
  return { path: at.path, message: `fits none of ${labels.join(", ")}` };
}

/** The deepest nesting of unions that is searched. */
const MOST_UNIONS = 5;

/**
 * The variants of a union, including those of nested unions.
 *
 * @param {Schema[]} alternatives
 * @param {Schema} root
 * @param {number} depth
 * @returns {Schema[]}
 */
function leaves(alternatives, root, depth = 0) {
  return alternatives.flatMap((one) => {
    const { oneOf, anyOf } = resolve(one, root);
    const inner = oneOf ?? anyOf;
    return Array.isArray(inner) && depth < MOST_UNIONS ? leaves(inner, root, depth + 1) : [one];
  });
}

const depthOf = (/** @type {Problem[]} */ list) => Math.max(...list.map((problem) => problem.path.length));

const isOf = (/** @type {unknown} */ value, /** @type {string} */ type) =>
  type === kindOf(value) || (type === "integer" && isNumber(value) && isInteger(value));
const isInteger = (/** @type {number | Digits} */ value) =>
  value instanceof Digits
    ? /^-?\d+(\.0+)?$/.test(value.text) || (/e/i.test(value.text) && Number.isInteger(Number(value.text)))
    : Number.isInteger(value);
const article = (/** @type {string} */ word) => `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;

/**
 * @param {string} value
 * @param {Schema} schema
 * @param {Say} say
 */
function checkString(value, schema, say) {
  const length = [...value].length;
  if (length < (schema.minLength ?? 0)) say(`too short: ${length} of at least ${schema.minLength}`);
  if (length > (schema.maxLength ?? Infinity)) say(`too long: ${length} of at most ${schema.maxLength}`);
  if (schema.pattern && !matches(schema.pattern, value)) say(`must match ${schema.pattern}`);
  const format = FORMATS[schema.format ?? ""];
  if (format && !format[0].test(value)) say(`must be ${format[1]}`);
}

/** The most ways in which a pattern may try a text: a server's pattern must not block the page. */
const MOST_WAYS = 1e6;

/**
 * Whether a pattern is fast: without nested repetition, and with few choices for the length of the text.
 *
 * @param {string} pattern
 * @param {number} length
 */
function isQuick(pattern, length) {
  if (pattern.length > 1000 || /\)[*+?{]|\\[1-9k]/.test(pattern)) return false;
  const choices = pattern.match(/[*+?{|]/g)?.length ?? 0;
  return Math.max(2, length + 1) ** (choices + 1) <= MOST_WAYS;
}

/**
 * Whether a value matches a pattern. True for slow patterns, which the binary checks with a limit.
 *
 * @param {string} pattern
 * @param {string} value
 */
function matches(pattern, value) {
  if (typeof pattern !== "string" || !isQuick(pattern, value.length)) return true;
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

/**
 * @param {number | Digits} value
 * @param {Schema} schema
 * @param {Say} say
 */
function checkNumber(value, schema, say) {
  if (less(value, schema.minimum)) say(`must be at least ${schema.minimum}`);
  if (less(schema.maximum, value)) say(`must be at most ${schema.maximum}`);
  if (schema.exclusiveMinimum !== undefined && !less(schema.exclusiveMinimum, value)) {
    say(`must be more than ${schema.exclusiveMinimum}`);
  }
  if (schema.exclusiveMaximum !== undefined && !less(value, schema.exclusiveMaximum)) {
    say(`must be less than ${schema.exclusiveMaximum}`);
  }
  if (
    typeof value === "number" &&
    schema.multipleOf &&
    Number.isInteger(schema.multipleOf) &&
    value % schema.multipleOf !== 0
  ) {
    say(`must be a multiple of ${schema.multipleOf}`);
  }
}

/**
 * Compares integers digit by digit, because large ones would be rounded.
 *
 * @param {number | Digits | undefined} one
 * @param {number | Digits | undefined} other
 */
function less(one, other) {
  if (one === undefined || other === undefined) return false;
  const texts = [String(one), String(other)];
  if (texts.every((text) => /^-?\d{1,400}$/.test(text))) return BigInt(texts[0]) < BigInt(texts[1]);
  return Number(texts[0]) < Number(texts[1]);
}

/**
 * @param {unknown[]} value
 * @param {Schema} schema
 * @param {At} at
 * @param {Say} say
 */
function checkArray(value, schema, at, say) {
  if (value.length < (schema.minItems ?? 0)) {
    say(`needs at least ${items(schema.minItems)}`, at.path, !value.length);
  }
  if (value.length > (schema.maxItems ?? Infinity)) {
    say(`may have at most ${items(schema.maxItems)}`);
  }
  if (
    schema.uniqueItems &&
    value.length < 1000 &&
    value.some((one, index) => value.slice(0, index).some((other) => same(one, other)))
  ) {
    say("has the same item twice");
  }
  value.forEach((item, index) => {
    const own = schema.prefixItems?.[index] ?? (schema.items === undefined ? {} : schema.items);
    checkMember(item, own, at, index);
  });
}

/**
 * @param {JsonObject} value
 * @param {Schema} schema
 * @param {At} at
 * @param {Say} say
 */
function checkObject(value, schema, at, say) {
  for (const key of schema.required ?? []) {
    if (!(key in value)) say("is required", pointer(at.path, key), true);
  }
  const known = schema.properties ?? {};
  for (const [key, inner] of Object.entries(value)) {
    const pattern = Object.entries(schema.patternProperties ?? {}).find(([one]) => matches(one, key));
    if (Object.hasOwn(known, key)) checkMember(inner, known[key], at, key);
    else if (pattern) checkMember(inner, pattern[1], at, key);
    else if (schema.additionalProperties === false) say(`\`${key}\` is not a known name`, pointer(at.path, key));
    else if (isObject(schema.additionalProperties)) {
      checkMember(inner, /** @type {Schema} */ (schema.additionalProperties), at, key);
    }
  }
  const count = Object.keys(value).length;
  if (count < (schema.minProperties ?? 0)) say(`needs at least ${entries(schema.minProperties)}`, at.path, !count);
  if (count > (schema.maxProperties ?? Infinity)) say(`may have at most ${entries(schema.maxProperties)}`);
}

const items = (/** @type {number | undefined} */ count) => (count === 1 ? "1 item" : `${count} items`);
const entries = (/** @type {number | undefined} */ count) => (count === 1 ? "1 entry" : `${count} entries`);

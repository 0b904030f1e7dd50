// The rules of a schema, checked while somebody types. The binary checks the rest.

import { Digits, isNumber, isObject, kindOf, same } from "./json.js";
import { fits, resolve } from "./schema.js";

/** Problems that are worth saying; the rest would not be read. */
const MOST = 50;
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

/** `[{ path, message }]`, where a path is a JSON pointer. */
export function validate(value, schema, root = schema) {
  const problems = [];
  try {
    check(value, schema, root, "", problems, 0);
  } catch {
    // A schema that is none has no rules; the binary says so.
  }
  return problems;
}

export const pointer = (path, key) => `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

function check(value, given, root, path, problems, depth) {
  if (depth > 100 || problems.length >= MOST) return;
  const schema = resolve(given, root);
  const say = (message, at = path) => problems.push({ path: at, message });
  if ("const" in schema && !same(schema.const, value)) return say(`must be ${JSON.stringify(schema.const)}`);
  if (schema.enum && !schema.enum.some((one) => same(one, value))) return say("is none of the choices");
  if (!checkUnion(value, schema, root, path, problems, depth)) return undefined;
  const wanted = schema.type ? [].concat(schema.type) : null;
  if (wanted && !wanted.some((type) => isOf(value, type))) return say(`must be ${article(wanted.join(" or "))}`);
  if (typeof value === "string") checkString(value, schema, say);
  else if (isNumber(value)) checkNumber(value, schema, say);
  else if (Array.isArray(value)) checkArray(value, schema, root, path, problems, depth, say);
  else if (isObject(value)) checkObject(value, schema, root, path, problems, depth, say);
  return undefined;
}

function checkUnion(value, schema, root, path, problems, depth) {
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives)) return true;
  let nearest = null;
  // The variant that was meant is one whose outside fits, and then the one whose problems lie deepest.
  const likely = alternatives.filter((one) => fits(value, one, root));
  for (const one of likely.length ? likely : alternatives) {
    const own = [];
    check(value, one, root, path, own, depth + 1);
    if (!own.length) return true;
    const depthOf = (list) => Math.max(...list.map((problem) => problem.path.length));
    if (
      !nearest ||
      depthOf(own) > depthOf(nearest) ||
      (depthOf(own) === depthOf(nearest) && own.length < nearest.length)
    ) {
      nearest = own;
    }
  }
  problems.push(...(nearest ?? []));
  return false;
}

const isOf = (value, type) => type === kindOf(value) || (type === "integer" && isNumber(value) && isInteger(value));
const isInteger = (value) =>
  value instanceof Digits
    ? /^-?\d+(\.0+)?$/.test(value.text) || (/e/i.test(value.text) && Number.isInteger(Number(value.text)))
    : Number.isInteger(value);
const article = (word) => `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;

function checkString(value, schema, say) {
  const length = [...value].length;
  if (length < schema.minLength) say(`too short: ${length} of at least ${schema.minLength}`);
  if (length > schema.maxLength) say(`too long: ${length} of at most ${schema.maxLength}`);
  if (schema.pattern && !matches(schema.pattern, value)) say(`must match ${schema.pattern}`);
  const format = FORMATS[schema.format];
  if (format && !format[0].test(value)) say(`must be ${format[1]}`);
}

/** Ways through a text that are tried at the most: a server's pattern must not stop the page. */
const MOST_WAYS = 1e6;

/** Whether a pattern comes to its end soon: nothing repeated in what is repeated, and few choices for the length of the text. */
function isQuick(pattern, length) {
  if (pattern.length > 1000 || /\)[*+?{]|\\[1-9k]/.test(pattern)) return false;
  const choices = pattern.match(/[*+?{|]/g)?.length ?? 0;
  return Math.max(2, length + 1) ** (choices + 1) <= MOST_WAYS;
}

/** Others are left to the binary, which stops in time. */
function matches(pattern, value) {
  if (typeof pattern !== "string" || !isQuick(pattern, value.length)) return true;
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

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

/** Compares whole numbers digit by digit, so that large ones are not rounded first. */
function less(one, other) {
  if (one === undefined || other === undefined) return false;
  const texts = [String(one), String(other)];
  if (texts.every((text) => /^-?\d{1,400}$/.test(text))) return BigInt(texts[0]) < BigInt(texts[1]);
  return Number(texts[0]) < Number(texts[1]);
}

function checkArray(value, schema, root, path, problems, depth, say) {
  if (value.length < schema.minItems) say(`needs at least ${schema.minItems} items`);
  if (value.length > schema.maxItems) say(`may have at most ${schema.maxItems} items`);
  if (
    schema.uniqueItems &&
    value.length < 1000 &&
    value.some((one, index) => value.slice(0, index).some((other) => same(one, other)))
  ) {
    say("has the same item twice");
  }
  value.forEach((item, index) => {
    const own = schema.prefixItems?.[index] ?? (schema.items === undefined ? {} : schema.items);
    check(item, own, root, pointer(path, index), problems, depth + 1);
  });
}

function checkObject(value, schema, root, path, problems, depth, say) {
  for (const key of schema.required ?? []) {
    if (!(key in value)) say("is required", pointer(path, key));
  }
  const known = schema.properties ?? {};
  for (const [key, inner] of Object.entries(value)) {
    const pattern = Object.entries(schema.patternProperties ?? {}).find(([one]) => matches(one, key));
    if (Object.hasOwn(known, key)) check(inner, known[key], root, pointer(path, key), problems, depth + 1);
    else if (pattern) check(inner, pattern[1], root, pointer(path, key), problems, depth + 1);
    else if (schema.additionalProperties === false) say(`\`${key}\` is not a known name`, pointer(path, key));
    else if (isObject(schema.additionalProperties)) {
      check(inner, schema.additionalProperties, root, pointer(path, key), problems, depth + 1);
    }
  }
  const count = Object.keys(value).length;
  if (count < schema.minProperties) say(`needs at least ${schema.minProperties} entries`);
  if (count > schema.maxProperties) say(`may have at most ${schema.maxProperties} entries`);
}

// Resolves JSON Schemas, and finds the kind of field for each.

import { asList, isObject, kindOf, same } from "./json.js";

/** The longest chain of references. A longer one is taken for a cycle. */
const MOST_STEPS = 50;

/** The members of schemas that are used, with a check of their types. */
/** @type {Record<string, (value: unknown) => boolean>} */
const WANTED = {
  required: Array.isArray,
  enum: Array.isArray,
  allOf: Array.isArray,
  anyOf: Array.isArray,
  oneOf: Array.isArray,
  properties: isObject,
  patternProperties: isObject,
  title: isText,
  description: isText,
};

/** @param {unknown} value */
function isText(value) {
  return typeof value === "string";
}

/**
 * A schema without the members that have a wrong type, so that the rest of the form still works.
 *
 * @param {Schema} schema
 * @returns {Schema}
 */
function tidy(schema) {
  const members = /** @type {Record<string, unknown>} */ (schema);
  const wrong = Object.keys(WANTED).filter((name) => members[name] !== undefined && !WANTED[name](members[name]));
  if (!wrong.length) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !wrong.includes(name)));
}

/**
 * The schema after resolving `$ref` and `allOf`, merged with the members beside them.
 *
 * @param {Schema | boolean | undefined} schema
 * @param {Schema} root
 * @returns {Schema}
 */
export function resolve(schema, root) {
  let now = /** @type {Schema | boolean | undefined} */ (schema);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (!isSchema(now)) return now === false ? { not: {} } : {};
    now = tidy(now);
    if (typeof now.$ref === "string") {
      const { $ref, ...beside } = now;
      const found = find($ref, root);
      now = { ...(isSchema(found) ? found : {}), ...beside };
    } else if (Array.isArray(now.allOf)) {
      const { allOf, ...beside } = now;
      now = allOf.reduce((sum, part) => merge(sum, resolve(part, root)), /** @type {Schema} */ (beside));
    } else {
      return now;
    }
  }
  return {};
}

/**
 * @param {unknown} value
 * @returns {value is Schema}
 */
const isSchema = (value) => isObject(value);

/**
 * @param {Schema} one
 * @param {Schema} other
 * @returns {Schema}
 */
function merge(one, other) {
  const sum = { ...other, ...one };
  if (one.properties || other.properties) sum.properties = { ...other.properties, ...one.properties };
  if (one.required || other.required) sum.required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  return sum;
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {string} reference
 * @param {Schema} root
 * @returns {unknown}
 */
function find(reference, root) {
  if (reference === "#") return root;
  if (reference.startsWith("#/")) {
    return reference
      .slice(2)
      .split("/")
      .map((part) => decoded(part).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce((/** @type {any} */ at, part) => at?.[part], root);
  }
  const inDefs = { ...root.$defs, ...root.definitions };
  return Object.values(inDefs).find((one) => one?.$anchor === reference.slice(1) || one?.$id === reference);
}

/**
 * The kind of a schema, by which `field.js` draws it.
 *
 * @param {Schema} given
 * @param {Schema} root
 * @returns {Kind}
 */
export function shape(given, root) {
  const schema = resolve(given, root);
  if ("const" in schema) return { kind: "const", schema };
  if (Array.isArray(schema.enum)) {
    return choice(
      schema,
      schema.enum.map((value, index) => ({ value, label: schema.enumNames?.[index] })),
    );
  }
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(alternatives)) return union(schema, alternatives, root);
  if (Array.isArray(schema.type)) {
    const { type, ...rest } = schema;
    return union(
      schema,
      type.map((one) => ({ ...rest, type: one, title: undefined, description: undefined })),
      root,
    );
  }
  const type = schema.type ?? guess(schema);
  if (type === "object") return { kind: schema.properties ? "object" : "map", schema };
  return { kind: /** @type {PlainKind} */ (type ?? "any"), schema };
}

/** @param {Schema} schema */
function guess(schema) {
  if (schema.properties || schema.additionalProperties || schema.patternProperties) return "object";
  if (schema.items || schema.prefixItems) return "array";
  if (schema.minLength !== undefined || schema.pattern || schema.format) return "string";
  if (schema.minimum !== undefined || schema.maximum !== undefined) return "number";
  return undefined;
}

/**
 * @param {Schema} schema
 * @param {{ value: Json, label?: string }[]} options
 * @returns {Kind}
 */
function choice(schema, options) {
  if (options.some((option) => option.value === null) && options.length > 1) {
    const some = options.filter((option) => option.value !== null);
    return {
      kind: "nullable",
      schema,
      inner: { enum: some.map((option) => option.value), enumNames: some.map((option) => option.label) },
    };
  }
  return {
    kind: "enum",
    schema,
    options: options.map(({ value, label }) => ({
      value,
      label: label ?? (typeof value === "string" ? value : JSON.stringify(value)),
    })),
  };
}

/**
 * @param {Schema} schema
 * @param {Schema[]} alternatives
 * @param {Schema} root
 * @returns {Kind}
 */
function union(schema, alternatives, root) {
  const { oneOf: _oneOf, anyOf: _anyOf, type: _type, ...beside } = schema;
  const resolved = alternatives.map((one) => resolve(one, root));
  if (resolved.length && resolved.every((one) => "const" in one)) {
    return choice(
      schema,
      resolved.map((one) => ({ value: one.const ?? null, label: one.title })),
    );
  }
  const isNull = (/** @type {Schema} */ one) => one.type === "null" || one.const === null;
  const some = alternatives.filter((one, index) => !isNull(resolved[index]));
  const withBeside = (/** @type {Schema} */ one) =>
    beside.properties ? { allOf: [one, { properties: beside.properties, required: beside.required ?? [] }] } : one;
  const variant = (/** @type {Schema} */ one, /** @type {number} */ index) => ({
    schema: withBeside(one),
    label: labelOf(one, root, index),
    of: one,
  });
  // Null is one more variant of several. Beside a single variant it becomes a switch.
  const nulls = alternatives
    .filter((_, index) => isNull(resolved[index]))
    .slice(0, 1)
    .map((one) => ({ schema: one, label: "null", of: one }));
  if (some.length === 1) {
    const inner = shape(withBeside(some[0]), root);
    if (!nulls.length) return inner;
    if (inner.kind === "union") return { ...inner, schema: beside, variants: [...inner.variants, ...nulls] };
    return { kind: "nullable", schema: beside, inner: withBeside(some[0]) };
  }
  return { kind: "union", schema: beside, variants: [...some.map(variant), ...nulls] };
}

/**
 * @param {Schema} given
 * @param {Schema} root
 * @param {number} index
 * @returns {string}
 */
export function labelOf(given, root, index) {
  const schema = resolve(given, root);
  if (schema.title) return schema.title;
  for (const property of Object.values(schema.properties ?? {})) {
    const tag = resolve(property, root);
    if (typeof tag.const === "string") return tag.const;
    if (tag.enum?.length === 1) return String(tag.enum[0]);
  }
  if (given.$ref) return given.$ref.slice(given.$ref.lastIndexOf("/") + 1);
  // Variants without a name are labelled by their required members.
  const keys = schema.required?.length ? schema.required : Object.keys(schema.properties ?? {});
  if (keys.length) return `with ${keys.slice(0, 2).join(", ")}`;
  return schema.type ? asList(schema.type).join(" or ") : `variant ${index + 1}`;
}

/**
 * Whether a value seems to match a schema, by its type, tags and required members. Used to choose a variant.
 *
 * @param {unknown} value
 * @param {Schema} given
 * @param {Schema} root
 * @returns {boolean}
 */
export function fits(value, given, root) {
  const schema = resolve(given, root);
  if ("const" in schema) return same(schema.const, value);
  if (schema.enum) return schema.enum.some((one) => same(one, value));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return alternatives.some((one) => fits(value, one, root));
  const isWhole = !isObject(value) || (schema.required ?? []).every((key) => key in value);
  return isWhole && mayFit(value, schema, root);
}

/**
 * The same for an incomplete value: required members may be missing.
 *
 * @param {unknown} value
 * @param {Schema} given
 * @param {Schema} root
 * @returns {boolean}
 */
export function mayFit(value, given, root) {
  const schema = resolve(given, root);
  if ("const" in schema) return same(schema.const, value);
  if (schema.enum) return schema.enum.some((one) => same(one, value));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return alternatives.some((one) => mayFit(value, one, root));
  const kind = kindOf(value);
  const types = schema.type ? asList(schema.type) : [];
  if (types.length && !types.some((type) => type === kind || (type === "integer" && kind === "number"))) return false;
  if (!isObject(value)) return true;
  return Object.entries(schema.properties ?? {}).every(([key, inner]) => {
    const tag = resolve(inner, root);
    return !(key in value) || !("const" in tag) || same(tag.const, value[key]);
  });
}

/**
 * The index of a value's variant: the first that it fits, or else the only one that it could fit once it is complete.
 * Otherwise -1.
 *
 * @param {unknown} value
 * @param {Schema[]} variants
 * @param {Schema} root
 */
export function variantOf(value, variants, root) {
  const fitting = variants.findIndex((one) => fits(value, one, root));
  if (fitting >= 0) return fitting;
  const possible = variants.filter((one) => mayFit(value, one, root));
  return possible.length === 1 ? variants.indexOf(possible[0]) : -1;
}

/**
 * The first value of a required field, or undefined.
 *
 * @param {Schema} given
 * @param {Schema} root
 * @param {number} depth
 * @returns {Field}
 */
export function initial(given, root, depth = 0) {
  const { kind, schema } = shape(given, root);
  if (schema.default !== undefined) return schema.default;
  if (kind === "const") return schema.const;
  if (kind === "array") return [];
  if (kind === "null") return null;
  // An unticked checkbox means false.
  if (kind === "boolean" && depth > 0) return false;
  if (kind === "map") return {};
  if (kind === "object" && depth < 5) {
    /** @type {JsonObject} */
    const value = {};
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
      // An optional field shows its default but sends nothing, so the server applies it.
      const one = schema.required?.includes(key) ? initial(inner, root, depth + 1) : undefined;
      if (one !== undefined) value[key] = one;
    }
    return value;
  }
  return undefined;
}

/**
 * The first value of a form with all defaults, including those of optional fields.
 *
 * @param {Schema | undefined} given
 * @returns {JsonObject}
 */
export function filledIn(given) {
  const root = given && isObject(given) ? given : {};
  /** @type {JsonObject} */
  const value = {};
  for (const [key, inner] of Object.entries(resolve(root, root).properties ?? {})) {
    const one = resolve(inner, root).default;
    if (one !== undefined) value[key] = one;
  }
  const needed = initial(root, root);
  return isObject(needed) ? { ...value, ...needed } : value;
}

// The control of a field, by the kind of its schema.

import { h, messageOf } from "./element.js";
import { array, map, object } from "./control-nested.js";
import { isNumber, isObject, kindOf, numberFrom, parse, print, same } from "./json.js";
import { initial, shape, variantOf } from "./schema.js";

/** Up to this many choices are shown as radio buttons. */
const RADIOS = 5;
/** Choices up to this many characters in total are shown side by side. */
const LONGEST_SEGMENTS = 44;
/** Characters of a description that is shown beside a checkbox. */
export const LONGEST_CHECK = 80;
/** A string that may be this long gets a box with several lines. */
const LONG = 200;
/** @type {Record<string, string>} */
const INPUTS = { email: "email", uri: "url", date: "date", time: "text", password: "password" };

/**
 * @typedef {object} Of the parts of a control
 * @property {import("./field.js").Form} form
 * @property {Kind} kind
 * @property {any} value of the kind, or undefined
 * @property {string} path
 * @property {string} id
 * @property {string} name
 * @property {boolean} isRequired
 * @property {boolean} [isCell] whether it is in a table, which has the name in its head
 * @property {(next: Field) => void} emit
 */

/** @type {Record<string, (of: any) => HTMLElement>} */
const KINDS = {
  string,
  number,
  integer: number,
  boolean,
  enum: choice,
  const: constant,
  nullable,
  union,
  object,
  map,
  array,
  null: nothing,
  any: json,
};
/** @type {Record<string, (value: unknown) => boolean>} */
const ACCEPTS = {
  string: (value) => typeof value === "string",
  number: (value) => isNumber(value) || typeof value === "string",
  integer: (value) => isNumber(value) || typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  object: isObject,
  map: isObject,
  array: Array.isArray,
};

/**
 * The element for a value. A value of another kind is kept and edited as JSON.
 *
 * @param {Of} of
 * @returns {HTMLElement}
 */
export function control(of) {
  const accepts = ACCEPTS[of.kind.kind];
  const isOdd = of.value !== undefined && accepts && !accepts(of.value);
  return isOdd ? json(of) : (KINDS[of.kind.kind] ?? json)(of);
}

const describedBy = (/** @type {string} */ id) => ({ id, "aria-describedby": `${id}-problem` });

/**
 * The placeholder of an empty box: the default, the range, or an example.
 *
 * @param {Field} value
 * @param {Schema} schema
 */
function hint(value, schema) {
  if (value === "") return "empty text";
  if (schema.default !== undefined && schema.default !== "") return print(schema.default, 0, 60);
  const { minimum, maximum } = schema;
  if (isTelling(minimum) && isTelling(maximum)) return `${minimum} to ${maximum}`;
  const [example] = /** @type {{ examples?: Json[] }} */ (schema).examples ?? [];
  return typeof example === "string" ? example : "";
}

/** Whether to show a limit. The limits of integer types tell the user nothing. */
export const isTelling = (/** @type {number | Digits | undefined} */ limit) =>
  limit !== undefined && Math.abs(Number(limit)) < 2 ** 31 - 1;

/**
 * @param {Of} of
 * @returns {HTMLElement}
 */
function string({ form, kind: { schema }, value, id, path, name, emit }) {
  const type = schema.writeOnly ? "password" : INPUTS[schema.format ?? ""];
  const isDate = type === "date" && (value === undefined || /^\d{4}-\d\d-\d\d$/.test(value));
  const attributes = {
    ...describedBy(id),
    value: value ?? "",
    placeholder: hint(value, schema),
    autocomplete: "off",
    spellcheck: "false",
  };
  const input =
    type && (type !== "date" || isDate) ? h("input", { ...attributes, type }) : textArea(schema, attributes);
  // An empty box leaves out the value.
  input.addEventListener("input", () => emit(input.value || undefined));
  if (!form.complete) return input;
  const list = h("datalist", { id: `${id}-list` });
  const completing = h("input", { ...attributes, type: "text", list: `${id}-list` });
  completing.addEventListener("input", () => {
    emit(completing.value || undefined);
    suggest(form, name, completing, list);
  });
  completing.addEventListener("focus", () => suggest(form, name, completing, list));
  return h("div.completing", { "data-path": path }, completing, list);
}

/**
 * A box for text, with several lines for long text.
 *
 * @param {Schema} schema
 * @param {Attributes & { value: string }} attributes
 */
function textArea(schema, attributes) {
  const isLong =
    (schema.maxLength ?? 0) > LONG ||
    Boolean(schema.contentMediaType) ||
    attributes.value.includes("\n") ||
    /textarea|multi-?line|markdown/.test(schema.format ?? "");
  const area = h(`textarea.${isLong ? "long" : "short"}`, { ...attributes, rows: isLong ? 4 : 1 });
  // In a short text only Shift+Enter starts a new line.
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !isLong && !area.value.includes("\n")) event.preventDefault();
  });
  return area;
}

/**
 * Asks the server to complete a value. Only the newest answer is shown.
 *
 * @param {import("./field.js").Form} form
 * @param {string} name
 * @param {HTMLInputElement} input
 * @param {HTMLElement} list
 */
async function suggest(form, name, input, list) {
  const asked = input.value;
  const values = (await form.complete?.(name, asked)) ?? [];
  if (input.value !== asked) return;
  list.replaceChildren(...values.map((value) => h("option", { value })));
}

/** @param {Of} of */
function number({ kind: { kind, schema }, value, id, emit }) {
  const input = h("input.number", {
    ...describedBy(id),
    type: "text",
    inputmode: kind === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    value: value === undefined ? "" : String(value),
    placeholder: hint(value, schema),
  });
  // Text that is not a number is sent unchanged if the user chooses "Send anyway".
  input.addEventListener("input", () =>
    emit(numberFrom(input.value) ?? (input.value === "" ? undefined : input.value)),
  );
  return input;
}

/**
 * @param {Of} of
 * @param {{ label: string }[]} options
 * @param {number} chosen
 * @param {(index: number) => void} choose
 */
function radios({ id, name }, options, chosen, choose) {
  // Short choices are side by side; long choices are a list.
  const isShort = options.reduce((sum, { label }) => sum + label.length + 4, 0) <= LONGEST_SEGMENTS;
  const group = h(isShort ? "div.radios.segments" : "div.radios.list", {
    role: "radiogroup",
    "aria-labelledby": `${id}-label`,
    "aria-describedby": `${id}-problem`,
  });
  options.forEach(({ label }, index) => {
    const input = h("input", {
      type: "radio",
      name: `${id}-${name}`,
      checked: index === chosen,
      onchange: () => choose(index),
    });
    group.append(h("label", null, input, h("span", null, label)));
  });
  return group;
}

/** @param {Of} of */
function boolean({ kind: { schema }, value, id, name, isCell, emit }) {
  const [line] = (schema.description ?? "").split("\n", 1);
  const word = h("span", null, line && line.length <= LONGEST_CHECK ? line : titleOf(schema, name));
  /** @type {HTMLInputElement} */
  const box = h("input", {
    ...describedBy(id),
    type: "checkbox",
    // Without a value, the box shows the default.
    checked: value === undefined ? schema.default === true : value === true,
    "aria-label": isCell ? name : null,
    onchange: () => emit(box.checked),
  });
  return h("label.check", null, box, isCell ? null : word);
}

/**
 * @param {Schema} schema
 * @param {string} name
 */
const titleOf = (schema, name) =>
  schema.title ?? `${name[0]?.toUpperCase() ?? ""}${name.slice(1)}`.replaceAll("_", " ");

/** @param {Of & { kind: { options: Choice[] } }} of */
function choice(of) {
  const { options } = of.kind;
  const chosen = options.findIndex((option) => same(option.value, of.value));
  const isOther = of.value !== undefined && chosen < 0;
  if (options.length <= RADIOS && !isOther) {
    return radios(of, options, chosen, (index) => of.emit(options[index].value));
  }
  const list = h(
    "datalist",
    { id: `${of.id}-list` },
    options.map((option) => h("option", { value: option.label })),
  );
  const shown =
    chosen >= 0 ? options[chosen].label : isOther ? (typeof of.value === "string" ? of.value : print(of.value)) : "";
  const input = h("input", {
    ...describedBy(of.id),
    type: "text",
    list: `${of.id}-list`,
    value: shown,
    placeholder: `one of ${options.length}`,
    autocomplete: "off",
    "aria-labelledby": `${of.id}-label`,
  });
  input.addEventListener("input", () => {
    const found = options.find((option) => option.label === input.value);
    of.emit(found ? found.value : input.value === "" ? undefined : input.value);
  });
  return h("div.completing", null, input, list);
}

/** @param {Of} of */
function constant({ kind: { schema }, value, id, emit, isRequired }) {
  if (isRequired && value === undefined) queueMicrotask(() => emit(schema.const));
  return h("output.const", { id }, print(schema.const));
}

/** @param {Of} of */
function nothing({ emit, value, id, isRequired }) {
  if (isRequired && value === undefined) queueMicrotask(() => emit(null));
  return h("output.const", { id }, "null");
}

const NESTED = new Set(["object", "map", "array", "union"]);

/** @param {Of & { kind: { inner: Schema } }} of */
function nullable(of) {
  const { form, kind, value, emit, path, id, name } = of;
  const inner = shape(kind.inner, form.root);
  const isNested = NESTED.has(inner.kind);
  const place = isNested ? h("div.inner") : h("div");
  let held = value ?? undefined;
  let isNull = value === null;
  const draw = () => {
    button.setAttribute("aria-pressed", String(isNull));
    if (isNested && (isNull || held === undefined)) return place.replaceChildren();
    const shown = control({
      form,
      kind: inner,
      value: isNull ? undefined : held,
      path,
      id,
      name,
      isRequired: true,
      emit: (next) => {
        isNull = false;
        button.setAttribute("aria-pressed", "false");
        emit((held = next));
      },
    });
    const box = shown.matches("input, textarea") ? shown : shown.querySelector("input:not([type=checkbox]), textarea");
    if (isNull && box) box.setAttribute("placeholder", "null");
    return place.replaceChildren(shown);
  };
  const button = h(
    "button.plain.null",
    {
      type: "button",
      title: `Send null for ${name}`,
      "aria-label": `null for ${name}`,
      onclick: () => {
        isNull = !isNull;
        emit(isNull ? null : held);
        draw();
      },
    },
    "null",
  );
  const add = h(
    "button.plain",
    {
      type: "button",
      onclick: () => {
        isNull = false;
        held ??= initial(kind.inner, form.root) ?? (inner.kind === "array" ? [] : {});
        emit(held);
        draw();
      },
    },
    `Add ${name}`,
  );
  draw();
  return isNested
    ? h("div.nest", null, h("div.line", null, add, button), place)
    : h("div.nullable", null, place, button);
}

/**
 * @param {Of & { kind: { variants: Variant[] } }} of
 * @returns {HTMLElement}
 */
function union(of) {
  const { form, kind, value, path, id, name, emit } = of;
  const { variants } = kind;
  /** @type {Map<number, Field>} */
  const held = new Map();
  const known = variants.findIndex((variant) => variant.of === form.chosen.get(path));
  const schemas = variants.map((variant) => variant.schema);
  let chosen = value === undefined ? -1 : variantOf(value, schemas, form.root);
  // The chosen variant stays chosen, even if the value now fits another.
  if (value !== undefined && known >= 0) chosen = known;
  if (chosen >= 0) held.set(chosen, value);
  const place = h("div.inner");
  if (value !== undefined && chosen < 0) place.append(json(of));
  const draw = () => {
    const inner = shape(variants[chosen].schema, form.root);
    const at = chosen;
    // A null has no fields: the chosen option is enough.
    if (inner.kind === "null") return place.replaceChildren();
    return place.replaceChildren(
      control({
        form,
        kind: inner,
        value: held.get(at),
        path,
        id,
        name,
        isRequired: true,
        emit: (next) => {
          held.set(at, next);
          emit(next);
        },
      }),
    );
  };
  const choose = (/** @type {number} */ index) => {
    chosen = index;
    form.chosen.set(path, variants[index].of);
    if (!held.has(index)) held.set(index, initial(variants[index].schema, form.root));
    emit(held.get(index));
    draw();
  };
  if (chosen >= 0) draw();
  if (variants.length <= RADIOS) return h("div.nest", null, radios(of, variants, chosen, choose), place);
  /** @type {HTMLSelectElement} */
  const select = h(
    "select",
    { "aria-labelledby": `${id}-label`, onchange: () => choose(Number(select.value)) },
    h("option", { value: "-1", disabled: true }, "choose a variant"),
    variants.map((variant, index) => h("option", { value: index }, variant.label)),
  );
  select.value = String(chosen);
  return h("div.nest", null, select, place);
}

/**
 * Any value, edited as JSON. Invalid JSON stays in the box, with the position of the error.
 *
 * @param {Of} of
 */
export function json({ value, id, emit, kind }) {
  const note = h("div.note");
  if (value !== undefined && ACCEPTS[kind.kind]) {
    note.textContent = `this is ${kindOf(value)}, where ${kind.kind} is expected; shown as JSON`;
  }
  const area = h("textarea.code.short", {
    ...describedBy(id),
    "aria-labelledby": `${id}-label`,
    rows: 2,
    spellcheck: "false",
    value: value === undefined ? "" : print(value, 2),
    placeholder: "JSON",
  });
  area.addEventListener("input", () => {
    note.textContent = "";
    if (!area.value.trim()) return emit(undefined);
    try {
      return emit(parse(area.value));
    } catch (error) {
      note.textContent = `not JSON: ${messageOf(error)}`;
      return undefined;
    }
  });
  return h("div", null, area, note);
}

// The controls of a field, by the kind of value that its schema asks for.

import { h, messageOf } from "./element.js";
import { array, map, object } from "./control-nested.js";
import { isNumber, isObject, kindOf, numberFrom, parse, print, same } from "./json.js";
import { fits, initial, shape } from "./schema.js";

/** Choices up to this many are all in sight. */
const RADIOS = 5;
/** From this length on, a string is expected to have lines. */
const LONG = 200;
/** @type {Record<string, string>} */
const INPUTS = { email: "email", uri: "url", date: "date", time: "text", password: "password" };

/**
 * @typedef {object} Of what a control is for
 * @property {import("./field.js").Form} form
 * @property {Kind} kind
 * @property {any} value of the kind, or nothing
 * @property {string} path
 * @property {string} id
 * @property {string} name
 * @property {boolean} isRequired
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
 * The element for a value; one that does not fit its kind is kept, and edited as JSON.
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
 * What an empty box says: that the value is left out, where it may be.
 *
 * @param {Field} value
 * @param {boolean} isRequired
 */
const hint = (value, isRequired) => (value === undefined && !isRequired ? "absent" : "");

/**
 * @param {Of} of
 * @returns {HTMLElement}
 */
function string({ form, kind: { schema }, value, id, path, name, isRequired, emit }) {
  const type = schema.writeOnly ? "password" : INPUTS[schema.format ?? ""];
  const isDate = type === "date" && (value === undefined || /^\d{4}-\d\d-\d\d$/.test(value));
  const attributes = {
    ...describedBy(id),
    value: value ?? "",
    placeholder: hint(value, isRequired),
    autocomplete: "off",
    spellcheck: "false",
  };
  const input =
    type && (type !== "date" || isDate) ? h("input", { ...attributes, type }) : textArea(schema, attributes);
  input.addEventListener("input", () => {
    input.placeholder = "";
    emit(input.value);
  });
  if (!form.complete) return input;
  const list = h("datalist", { id: `${id}-list` });
  const completing = h("input", { ...attributes, type: "text", list: `${id}-list` });
  completing.addEventListener("input", () => {
    emit(completing.value);
    suggest(form, name, completing, list);
  });
  completing.addEventListener("focus", () => suggest(form, name, completing, list));
  return h("div.completing", { "data-path": path }, completing, list);
}

/**
 * A box for text, with lines if it is expected to have some.
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
  // Enter makes no line in a short text by accident; with Shift it does.
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !isLong && !area.value.includes("\n")) event.preventDefault();
  });
  return area;
}

/**
 * Asks the server how a value goes on; only the newest answer is shown.
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
function number({ kind: { kind }, value, id, isRequired, emit }) {
  const input = h("input.number", {
    ...describedBy(id),
    type: "text",
    inputmode: kind === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    value: value === undefined ? "" : String(value),
    placeholder: hint(value, isRequired),
  });
  // What is no number is sent as the text it is, if somebody insists: nothing is rounded or dropped.
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
  const group = h("div.radios", {
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
function boolean(of) {
  const options = [{ label: "true" }, { label: "false" }];
  const chosen = of.value === undefined ? -1 : of.value ? 0 : 1;
  return radios(of, options, chosen, (index) => of.emit(index === 0));
}

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

/** @type {Record<string, string>} */
const WORDS = { string: "text", integer: "number", union: "value", enum: "choice", any: "value", boolean: "value" };

/** @param {Of & { kind: { inner: Schema } }} of */
function nullable(of) {
  const { form, kind, value, isRequired, emit, path, id, name } = of;
  const inner = shape(kind.inner, form.root);
  const word = WORDS[inner.kind] ?? inner.kind;
  /** @type {{ label: string, value?: Field }[]} */
  const options = [
    ...(isRequired ? [] : [{ label: "absent", value: undefined }]),
    { label: "null", value: null },
    { label: word },
  ];
  const chosen = value === undefined ? (isRequired ? -1 : 0) : value === null ? options.length - 2 : options.length - 1;
  const place = h("div.inner");
  let held = value ?? undefined;
  const draw = () =>
    place.replaceChildren(
      control({
        form,
        kind: inner,
        value: held,
        path,
        id,
        name,
        isRequired: true,
        emit: (next) => emit((held = next)),
      }),
    );
  if (chosen === options.length - 1) draw();
  return h(
    "div",
    null,
    radios(of, options, chosen, (index) => {
      if (index < options.length - 1) {
        place.replaceChildren();
        emit(options[index].value);
        return;
      }
      held ??= initial(kind.inner, form.root) ?? (inner.kind === "string" ? "" : undefined);
      emit(held);
      draw();
    }),
    place,
  );
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
  let chosen = value === undefined ? -1 : variants.findIndex((variant) => fits(value, variant.schema, form.root));
  // What was chosen stays so, whatever else the value may fit by now.
  if (value !== undefined && known >= 0) chosen = known;
  if (value !== undefined && chosen < 0) return json(of);
  if (value !== undefined) held.set(chosen, value);
  const place = h("div.inner");
  const draw = () => {
    const inner = shape(variants[chosen].schema, form.root);
    const at = chosen;
    place.replaceChildren(
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
  if (variants.length <= RADIOS) return h("div", null, radios(of, variants, chosen, choose), place);
  /** @type {HTMLSelectElement} */
  const select = h(
    "select",
    { "aria-labelledby": `${id}-label`, onchange: () => choose(Number(select.value)) },
    h("option", { value: "-1", disabled: true }, "choose a variant"),
    variants.map((variant, index) => h("option", { value: index }, variant.label)),
  );
  select.value = String(chosen);
  return h("div", null, select, place);
}

/**
 * Any value, as its JSON. Text that is not JSON stays in the box, and says where it breaks.
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

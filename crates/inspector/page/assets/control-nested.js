// Controls that contain fields: objects, maps and arrays. Their content is drawn when it is opened.

import { button, focusOn, h } from "./element.js";
import { field } from "./field.js";
import { isObject, put } from "./json.js";
import { initial, shape } from "./schema.js";
import { pointer } from "./validate.js";

/** Characters of a name that fit above a checkbox. */
const SHORT_NAME = 6;

/** Items drawn at once. A button draws more. */
const BATCH = 50;

/** Kinds of items that are drawn as groups, one below another. */
const GROUPS = new Set(["object", "union", "map", "array"]);

/**
 * The members in the schema, and all other members of the value.
 *
 * @param {import("./control.js").Of & { value: JsonObject | undefined }} of
 */
export function object({ form, kind: { schema }, value, path, emit }) {
  /** @type {JsonObject} */
  let current = { ...value };
  const box = h("div.fields");
  const required = new Set(schema.required ?? []);
  const names = Object.keys(schema.properties ?? {});
  names.sort((one, other) => Number(required.has(other)) - Number(required.has(one)));
  const change = (/** @type {string} */ key, /** @type {Field} */ next) => {
    /** @type {JsonObject} */
    const copy = {};
    for (const known of new Set([...Object.keys(current), key])) {
      const one = known === key ? next : current[known];
      if (one !== undefined) put(copy, known, one);
    }
    current = copy;
    emit(current);
  };
  for (const name of names) {
    box.append(
      field({
        form,
        name,
        schema: schema.properties?.[name] ?? {},
        value: own(value, name),
        path: pointer(path, name),
        isRequired: required.has(name),
        emit: (next) => change(name, next),
      }),
    );
  }
  const others = Object.keys(value ?? {}).filter((key) => !names.includes(key));
  if (
    others.length ||
    isObject(schema.additionalProperties) ||
    schema.additionalProperties === true ||
    schema.patternProperties
  ) {
    const rest = Object.fromEntries(others.map((key) => [key, value?.[key]]));
    box.append(
      entries({
        form,
        schema,
        value: rest,
        path,
        label: "more entries",
        emit: (next) => {
          const kept = Object.fromEntries(
            names.filter((name) => own(current, name) !== undefined).map((name) => [name, current[name]]),
          );
          current = { ...kept, ...next };
          emit(current);
        },
      }),
    );
  }
  return box;
}

const own = (/** @type {unknown} */ value, /** @type {string} */ key) =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** @param {import("./control.js").Of & { value: JsonObject | undefined }} of */
export function map({ form, kind, value, path, name, emit }) {
  return entries({ form, schema: kind.schema, value, path, label: name, emit });
}

/**
 * @typedef {object} Entries the entries of an object whose schema has no names for them
 * @property {import("./field.js").Form} form
 * @property {Schema} schema
 * @property {JsonObject | undefined} value
 * @property {string} path
 * @property {string} label
 * @property {(next: JsonObject) => void} emit
 */

/**
 * Rows of keys and values. Duplicate keys are reported, not merged.
 *
 * @param {Entries} of
 */
function entries({ form, schema, value, path, label, emit }) {
  const patterns = Object.values(schema.patternProperties ?? {});
  const { additionalProperties: others } = schema;
  const inner = typeof others === "object" && isObject(others) ? others : (patterns[0] ?? {});
  const rows = Object.entries(value ?? {});
  const box = h("div.entries");
  const note = h("div.note", { role: "status" });
  const send = () => {
    /** @type {JsonObject} */
    const next = {};
    const keys = rows.map(([key]) => key);
    for (const [key, one] of rows) if (one !== undefined) put(next, key, one);
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    note.textContent = twice === undefined ? "" : `the key “${twice}” appears twice; the last one counts`;
    emit(next);
  };
  const draw = () => {
    box.replaceChildren(
      ...rows.map((row, index) =>
        h(
          "div.entry",
          null,
          h("input.key", {
            type: "text",
            value: row[0],
            "aria-label": `Key ${index + 1} of ${label}`,
            placeholder: "key",
            oninput: ({ target }) => {
              if (!(target instanceof HTMLInputElement)) return;
              form.move(pointer(path, row[0]), pointer(path, target.value));
              row[0] = target.value;
              send();
            },
          }),
          field({
            form,
            name: "value",
            schema: inner,
            value: row[1],
            path: pointer(path, row[0]),
            isItem: true,
            emit: (next) => {
              row[1] = next ?? empty(inner, form);
              send();
            },
          }),
          button(
            `Remove entry ${index + 1}`,
            () => {
              rows.splice(index, 1);
              draw();
              send();
            },
            { picture: "close", quiet: true, look: "bare" },
          ),
        ),
      ),
      note,
      button(
        "Add entry",
        () => {
          rows.push(["", initial(inner, form.root) ?? ""]);
          draw();
          send();
          focusOn(box.querySelector(".entry:last-of-type input.key"));
        },
        { picture: "plus", look: "bare" },
      ),
    );
  };
  draw();
  return box;
}

/** The most fields in a row of a table. */
const MOST_COLUMNS = 4;
const PLAIN = new Set(["string", "number", "integer", "boolean", "enum", "const"]);

/**
 * The names of the columns if the items are flat objects with few fields, otherwise null.
 *
 * @param {Schema} items
 * @param {import("./field.js").Form} form
 * @param {Json[]} value
 */
function columns(items, form, value) {
  const of = shape(items, form.root);
  const names = Object.keys(of.schema.properties ?? {});
  if (of.kind !== "object" || !names.length || names.length > MOST_COLUMNS) return null;
  const isPlain = (/** @type {string} */ name) => {
    const inner = shape(of.schema.properties?.[name] ?? {}, form.root);
    return PLAIN.has(inner.kind) && !(inner.kind === "string" && (inner.schema.maxLength ?? 0) > 200);
  };
  const fits = (/** @type {Json} */ item) => isObject(item) && Object.keys(item).every((key) => names.includes(key));
  return names.every(isPlain) && value.every(fits) ? { names, schema: of.schema } : null;
}

/**
 * A small table: one row for each object, one column for each field.
 *
 * @param {import("./control.js").Of & { value: Json[] | undefined }} of
 * @param {{ names: string[], schema: Schema }} table
 */
function grid({ form, kind: { schema }, value, path, name, id, emit }, { names, schema: item }) {
  let items = [...(value ?? [])];
  const required = new Set(item.required ?? []);
  const body = h("tbody");
  // A checkbox column is as narrow as its name.
  const isTick = (/** @type {string} */ key) =>
    key.length <= SHORT_NAME && shape(item.properties?.[key] ?? {}, form.root).kind === "boolean";
  const head = h(
    "tr",
    null,
    names.map((one) =>
      h(
        isTick(one) ? "th.tick" : "th",
        { scope: "col", title: one },
        one,
        required.has(one) ? h("span.star", { title: "required" }, " *") : null,
      ),
    ),
    h("th.narrow", null, h("span.outside", null, "Remove")),
  );
  const table = h("table.mini", { "aria-labelledby": `${id}-label` }, h("thead", null, head), body);
  const count = h("span.count");
  const change = (/** @type {Json[]} */ next) => {
    items = next;
    emit(items);
    draw();
  };
  const cell = (/** @type {number} */ index, /** @type {string} */ key) =>
    h(
      "td",
      null,
      field({
        form,
        name: `${name} ${index + 1} ${key}`,
        schema: { ...(item.properties?.[key] ?? {}), description: undefined },
        value: /** @type {JsonObject} */ (items[index])[key],
        path: pointer(pointer(path, index), key),
        isItem: true,
        isCell: true,
        emit: (next) => {
          const { [key]: _, ...rest } = /** @type {JsonObject} */ (items[index]);
          items = items.with(index, next === undefined ? rest : { ...rest, [key]: next });
          emit(items);
        },
      }),
    );
  const draw = () => {
    table.hidden = !items.length;
    count.textContent = schema.maxItems === undefined ? "" : `${items.length} of ${schema.maxItems}`;
    body.replaceChildren(
      ...items.map((_, index) =>
        h(
          "tr",
          null,
          names.map((key) => cell(index, key)),
          h(
            "td.narrow",
            null,
            button(`Remove item ${index + 1}`, () => change(items.toSpliced(index, 1)), {
              picture: "close",
              quiet: true,
              look: "bare",
            }),
          ),
        ),
      ),
    );
  };
  const add = () => {
    const made = initial(schema.items ?? {}, form.root);
    change([...items, isObject(made) ? made : {}]);
    focusOn(body.querySelector("tr:last-child input, tr:last-child textarea"));
  };
  draw();
  return h("div.items", null, table, h("div.line", null, addButton(path, add, false), count));
}

/**
 * A name for the list at a path. If the list is an item of another list, the name includes the item's number.
 *
 * @param {string} path
 */
function listName(path) {
  const [, name, numbers] = /([^/]*)((?:\/\d+)*)$/.exec(path) ?? ["", "", ""];
  const words = numbers.split("/").map((number, index) => (index ? Number(number) + 1 : ""));
  return `${name.replaceAll("~1", "/").replaceAll("~0", "~")}${words.join(" ")}`;
}

/**
 * A button that adds an item to the list at a path. The buttons of nested lists are next to each other, so their text
 * includes the name of the list.
 *
 * @param {string} path
 * @param {() => void} add
 * @param {boolean} isOfGroups
 */
function addButton(path, add, isOfGroups) {
  const whole = `Add item to ${listName(path)}`;
  const isInList = /\/\d+(\/|$)/.test(path);
  const words = isOfGroups || isInList ? whole : "Add item";
  return button(words, add, { picture: "plus", look: "bare", "aria-label": whole });
}

/** @param {import("./control.js").Of & { value: Json[] | undefined }} of */
export function array(of) {
  const {
    form,
    kind: { schema },
    value,
    path,
    emit,
  } = of;
  const table = isObject(schema.items) && !schema.prefixItems ? columns(schema.items, form, value ?? []) : null;
  if (table) return grid(of, table);
  let items = [...(value ?? [])];
  let shown = BATCH;
  const inside = shape(schema.items && isObject(schema.items) ? schema.items : {}, form.root);
  const isGroups = GROUPS.has(inside.kind);
  const box = h(`div.items${isGroups ? ".groups" : ""}`);
  const schemaOf = (/** @type {number} */ index) =>
    schema.prefixItems?.[index] ?? (schema.items && isObject(schema.items) ? schema.items : {});
  const change = (/** @type {Json[]} */ next) => {
    items = next;
    emit(items);
    draw();
  };
  const swap = (/** @type {number} */ one, /** @type {number} */ other) => {
    const next = [...items];
    [next[one], next[other]] = [next[other], next[one]];
    change(next);
    box.children[other]?.querySelector("button")?.focus();
  };
  const draw = () => {
    const rows = items.slice(0, shown).map((item, index) =>
      h(
        "div.item",
        null,
        field({
          form,
          name: String(index + 1),
          schema: schemaOf(index),
          value: item,
          path: pointer(path, index),
          isItem: true,
          emit: (next) => {
            items = items.with(index, next ?? empty(schemaOf(index), form));
            emit(items);
          },
        }),
        h(
          "div.moves",
          null,
          button(`Move item ${index + 1} up`, () => swap(index, index - 1), {
            picture: "up",
            quiet: true,
            look: "bare",
            disabled: index === 0,
          }),
          button(`Move item ${index + 1} down`, () => swap(index, index + 1), {
            picture: "down",
            quiet: true,
            look: "bare",
            disabled: index === items.length - 1,
          }),
          button(`Remove item ${index + 1}`, () => change(items.toSpliced(index, 1)), {
            picture: "close",
            quiet: true,
            look: "bare",
          }),
        ),
      ),
    );
    box.replaceChildren(...rows);
    if (items.length > shown) {
      box.append(
        button(`${items.length - shown} more items`, () => {
          shown += BATCH;
          draw();
        }),
      );
    }
    box.append(
      addButton(
        path,
        () => {
          shown = Math.max(shown, items.length + 1);
          change([...items, initial(schemaOf(items.length), form.root) ?? empty(schemaOf(items.length), form)]);
          const last = [...box.querySelectorAll(":scope > .item")].at(-1);
          focusOn(last?.querySelector("input, textarea"));
        },
        isGroups,
      ),
    );
  };
  draw();
  return box;
}

/**
 * The value of an item whose box is empty. The item exists for as long as its row does.
 *
 * @param {Schema} schema
 * @param {import("./field.js").Form} form
 */
const empty = (schema, form) => (shape(schema, form.root).kind === "string" ? "" : null);

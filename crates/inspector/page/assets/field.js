// One field of a form: its label, its control, what is wrong with it, and the way to leave it out.
//
// A field holds a JSON value, or `undefined` when it is left out: absent, null and "" are three.

import { button, focusOn, h, plural } from "./element.js";
import { control } from "./control.js";
import { about } from "./prose.js";
import { initial, shape } from "./schema.js";

const NESTED = new Set(["object", "map", "array", "union"]);
let made = 0;

/** A form's shared parts: the root schema, the fields by path, and completion where there is one. */
export class Form {
  /** @type {Map<string, { row: HTMLElement, message: HTMLElement, target: () => HTMLElement | null }>} */
  fields = new Map();
  /** @type {Map<string, Schema>} the variant that a person chose, by the path of the union */
  chosen = new Map();
  /**
   * @param {Schema} root
   * @param {Complete} [complete]
   */
  constructor(root, complete) {
    this.root = root;
    this.complete = complete;
  }
  id() {
    return `f${(made += 1)}`;
  }
  /**
   * Shows problems under their fields, or under the nearest one around; gives those without a place.
   *
   * @param {Problem[]} problems
   */
  mark(problems) {
    for (const { message, row, target } of this.fields.values()) {
      message.replaceChildren();
      row.classList.remove("wrong");
      target()?.removeAttribute("aria-invalid");
    }
    const lost = [];
    for (const problem of problems) {
      let path = problem.path;
      while (path && !this.isShown(path)) path = path.slice(0, path.lastIndexOf("/"));
      const shown = this.fields.get(path);
      if (!shown) {
        lost.push(problem);
        continue;
      }
      const rest = problem.path.slice(path.length + 1);
      shown.message.append(h("div", null, `${rest ? `${rest}: ` : ""}${problem.message}`));
      shown.row.classList.add("wrong");
      shown.target()?.setAttribute("aria-invalid", "true");
    }
    return lost;
  }
  /** @param {string} path */
  isShown(path) {
    return this.fields.get(path)?.row.isConnected ?? false;
  }
  /**
   * Puts the cursor into the field at a path, or into the nearest one around it.
   *
   * @param {string} path
   */
  focus(path) {
    let at = path;
    while (at && !this.isShown(at)) at = at.slice(0, at.lastIndexOf("/"));
    const shown = this.fields.get(at);
    focusOn(shown?.target() ?? shown?.row.querySelector("button, input, textarea"));
  }
}

/**
 * @typedef {object} Drawn a field that is to be drawn
 * @property {Form} form
 * @property {string} name
 * @property {Schema} schema
 * @property {Field} value
 * @property {string} path
 * @property {boolean} [isItem]
 * @property {boolean} [isRequired]
 * @property {(next: Field) => void} emit
 */

/**
 * Draws a field. `emit` hears each new value. An item is there as long as its row is, which no star has to say.
 *
 * @param {Drawn} of
 */
export function field({ form, name, schema, value, path, isItem = false, isRequired = isItem, emit }) {
  const id = form.id();
  const kind = shape(schema, form.root);
  let current = value;
  const message = h("div.problem", { id: `${id}-problem` });
  const place = h("div.control");
  const out = button(`Leave out ${name}`, () => set(undefined), { picture: "close", quiet: true, look: "bare" });
  const isNested = NESTED.has(kind.kind) || (kind.kind === "nullable" && NESTED.has(shape(kind.inner, form.root).kind));
  const labelled = h(
    "div.label",
    null,
    h(
      isNested || kind.kind === "nullable" || kind.kind === "enum" || kind.kind === "boolean" ? "span" : "label",
      isNested ? { id: `${id}-label` } : { id: `${id}-label`, for: id },
      name,
      isRequired && !isItem && kind.kind !== "const" ? h("span.star", { title: "required" }, " *") : null,
    ),
    out,
  );
  const row = h(
    `div.field.${isNested ? "nested" : "flat"}`,
    { "data-path": path },
    labelled,
    h("div.body", null, place, describe(name, kind.schema, schema), message),
  );
  const show = () => {
    out.hidden = isRequired || current === undefined || (kind.kind === "nullable" && !isNested);
    row.classList.toggle("absent", current === undefined);
  };
  const hear = (/** @type {Field} */ next) => {
    current = next;
    show();
    emit(next);
  };
  const set = (/** @type {Field} */ next) => {
    current = next;
    emit(next);
    draw();
    (target() ?? place.querySelector("button"))?.focus();
  };
  const draw = () => {
    forget(form, path);
    if (isNested && current === undefined && !(isRequired && kind.kind === "union")) {
      place.replaceChildren(
        button(`Add ${name}`, () => set(initial(schema, form.root) ?? start(kind)), { picture: "plus" }),
      );
    } else {
      place.replaceChildren(
        control({
          form,
          kind,
          value: current,
          path,
          id,
          name,
          isRequired,
          emit: hear,
        }),
      );
    }
    show();
  };
  const target = () =>
    /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement | null} */ (
      place.querySelector("input, textarea, select")
    );
  draw();
  form.fields.set(path, { row, message, target });
  return row;
}

/**
 * The fields inside a path that is drawn anew.
 *
 * @param {Form} form
 * @param {string} path
 */
function forget(form, path) {
  for (const known of form.fields.keys()) {
    if (known.startsWith(`${path}/`)) form.fields.delete(known);
  }
}

/** @type {Record<string, Field>} */
const STARTS = { array: [], map: {}, object: {}, nullable: null };
const start = (/** @type {Kind} */ { kind }) => STARTS[kind];

/** Limits of integer types say nothing to a person. */
const isTelling = (/** @type {number | Digits | undefined} */ limit) =>
  limit !== undefined && Math.abs(Number(limit)) < 2 ** 31 - 1;

/**
 * @param {number | Digits | undefined} given
 * @param {number | Digits | undefined} limit
 * @param {string} word
 */
function between(given, limit, word) {
  const least = isTelling(given) && !(word && Number(given) === 0) ? given : undefined;
  const most = isTelling(limit) ? limit : undefined;
  const counted = (/** @type {number | Digits} */ count) => (word ? plural(Number(count), word) : String(count));
  if (least !== undefined && most !== undefined) return `${least} to ${counted(most)}`;
  if (least !== undefined) return `at least ${counted(least)}`;
  return most === undefined ? null : `at most ${counted(most)}`;
}

/**
 * @param {string} name
 * @param {Schema} resolved
 * @param {Schema} [given]
 */
function describe(name, resolved, given) {
  const words = given?.description ?? resolved.description;
  const title = given?.title ?? resolved.title;
  const rules = [
    between(resolved.minimum, resolved.maximum, ""),
    between(resolved.minLength, resolved.maxLength, "character"),
    between(resolved.minItems, resolved.maxItems, "item"),
    resolved.format && resolved.format !== "password" ? resolved.format : null,
  ];
  // A title that only repeats the name says nothing.
  const isNews =
    title && title.toLowerCase().replaceAll(/[\s_-]/g, "") !== name.toLowerCase().replaceAll(/[\s_-]/g, "");
  const all = [isNews ? title : null, words, ...rules].filter(Boolean);
  return all.length ? about(all.join(" · ")) : null;
}

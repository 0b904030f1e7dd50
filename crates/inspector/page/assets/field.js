// One field of a form: its label, its control, its problems, and a way to leave it out.
//
// A field holds a JSON value, or `undefined` when it is empty. `undefined`, null and "" are three different values.

import { button, focusOn, h, plural } from "./element.js";
import { fine } from "./icon.js";
import { LONGEST_CHECK, control, isTelling } from "./control.js";
import { print } from "./json.js";
import { about } from "./prose.js";
import { initial, shape } from "./schema.js";

const NESTED = new Set(["object", "map", "array", "union"]);
let made = 0;

/** The state that a form's fields share: the root schema, the fields by path, and completion if available. */
export class Form {
  /** @type {Map<string, { row: HTMLElement, message: HTMLElement, target: () => HTMLElement | null }>} */
  fields = new Map();
  /** @type {Map<string, Schema>} the variants that the user chose, by the paths of their unions */
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
   * Shows problems under their fields, or under the nearest field that contains them. Returns those without a field.
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
      // The message starts with a name, so it is not capitalized.
      const words = rest ? `${rest}: ${problem.message}` : sentenceOf(problem.message);
      shown.message.append(h("div", null, fine("alert"), words));
      shown.row.classList.add("wrong");
      shown.target()?.setAttribute("aria-invalid", "true");
    }
    return lost;
  }
  /**
   * Changes the path of a field and of the fields inside it.
   *
   * @param {string} from
   * @param {string} to
   */
  move(from, to) {
    if (from === to) return;
    const moved = [...this.fields].filter(([path]) => path === from || path.startsWith(`${from}/`));
    for (const [path] of moved) this.fields.delete(path);
    for (const [path, shown] of moved) {
      const next = `${to}${path.slice(from.length)}`;
      shown.row.setAttribute("data-path", next);
      this.fields.set(next, shown);
    }
  }
  /** @param {string} path */
  isShown(path) {
    return this.fields.get(path)?.row.isConnected ?? false;
  }
  /**
   * Focuses the field at a path, or the nearest field that contains it.
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
 * @typedef {object} Drawn the parts of a field
 * @property {Form} form
 * @property {string} name
 * @property {Schema} schema
 * @property {Field} value
 * @property {string} path
 * @property {boolean} [isItem]
 * @property {boolean} [isCell] whether it is in a table, which has the name in its head
 * @property {boolean} [isRequired]
 * @property {(next: Field) => void} emit
 */

/**
 * Draws a field. `emit` gets each new value. An item of a list is required by default, but has no star.
 *
 * @param {Drawn} of
 */
export function field({ form, name, schema, value, path, isItem = false, isCell = false, isRequired = isItem, emit }) {
  const id = form.id();
  const kind = shape(schema, form.root);
  let current = value;
  const message = h("div.problem", { id: `${id}-problem` });
  const place = h("div.control");
  const out = button(`Clear ${name}`, () => set(undefined), {
    picture: "close",
    quiet: true,
    look: "bare.clear",
    title: `Do not send ${name}`,
  });
  const isNested = NESTED.has(kind.kind) || (kind.kind === "nullable" && NESTED.has(shape(kind.inner, form.root).kind));
  const labelled = h(
    "div.label",
    null,
    h(
      isNested || kind.kind === "enum" ? "span" : "label",
      isNested || kind.kind === "enum" ? { id: `${id}-label` } : { id: `${id}-label`, for: id },
      h("span", null, wrapping(name)),
      isRequired && !isItem && kind.kind !== "const" ? h("span.star", { title: "required" }, " *") : null,
    ),
    isNested ? out : null,
  );
  const row = h(
    `div.field.${isNested ? "nested" : "flat"}`,
    { "data-path": path },
    labelled,
    h("div.body", null, place, describe(name, kind.schema, schema, isRequired), message),
  );
  const show = () => {
    // The user can empty a text box, but a choice needs a button for it.
    const isText = !isNested && !["enum", "boolean", "const", "null"].includes(kind.kind);
    out.hidden = isItem || isRequired || current === undefined || isText;
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
    (target() ?? place.querySelector("button:not([hidden])"))?.focus();
  };
  const draw = () => {
    forget(form, path);
    // The variants of a union are shown at once, because the first value depends on the chosen variant.
    if (isNested && current === undefined && kind.kind !== "union") {
      place.replaceChildren(
        button(`Add ${name}`, () => set(initial(schema, form.root) ?? start(kind)), { picture: "plus", look: "bare" }),
      );
    } else {
      place.replaceChildren(
        kind.kind === "object" || (isItem && isNested) ? summary(kind) : "",
        control({
          form,
          kind,
          value: current,
          path,
          id,
          name,
          isRequired,
          isCell,
          emit: hear,
        }),
        isNested ? "" : out,
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
 * A name that can wrap between its words: `shipping_` and `address`.
 *
 * @param {string} name
 */
const wrapping = (name) =>
  name.split(/(?<=[_.-])(?=[^_.-])|(?<=[a-z])(?=[A-Z])/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));

/**
 * A summary of a group's content, beside its name.
 *
 * @param {Kind} kind
 */
function summary({ kind, schema }) {
  const words = kind === "object" ? plural(Object.keys(schema.properties ?? {}).length, "field") : SUMMARIES[kind];
  return h("span.summary", null, words);
}
/** @type {Record<string, string>} */
const SUMMARIES = { array: "list", map: "entries", union: "one of several kinds", nullable: "may be null" };

/**
 * Forgets the fields inside a path before the path is drawn again.
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
 * @param {Schema} given
 * @param {boolean} isRequired
 */
function describe(name, resolved, given, isRequired) {
  const text = given?.description ?? resolved.description;
  // A short description is shown beside the checkbox.
  const isBeside = resolved.type === "boolean" && text && text.length <= LONGEST_CHECK;
  const words = isBeside ? null : text;
  // Without a description, the title is shown there.
  const title = resolved.type === "boolean" && !isBeside ? undefined : (given?.title ?? resolved.title);
  const isInBox = resolved.default === undefined && isTelling(resolved.minimum) && isTelling(resolved.maximum);
  const rules = [
    isInBox ? null : between(resolved.minimum, resolved.maximum, ""),
    between(resolved.minLength, resolved.maxLength, "character"),
    between(resolved.minItems, resolved.maxItems, "item"),
    resolved.format && resolved.format !== "password" ? resolved.format : null,
    // A text box shows the default as its placeholder. A choice has no placeholder.
    resolved.enum && resolved.default !== undefined && !isRequired ? `default ${brief(resolved.default)}` : null,
  ];
  // A title that repeats the name is left out.
  const isNews =
    title && title.toLowerCase().replaceAll(/[\s_-]/g, "") !== name.toLowerCase().replaceAll(/[\s_-]/g, "");
  const limits = rules.filter(Boolean).join(", ");
  const said = [isNews ? title : null, words].filter(Boolean).join(". ");
  const all = [said, limits && !said ? `${limits[0].toUpperCase()}${limits.slice(1)}` : limits].filter(Boolean);
  return all.length ? about(all.join(said.endsWith(".") ? " " : ", ")) : null;
}

const brief = (/** @type {Json} */ value) => (typeof value === "string" ? value : print(value, 0, 60));

/** A message as a sentence. */
const sentenceOf = (/** @type {string} */ text) => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;

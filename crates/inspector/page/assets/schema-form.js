// A form for an object's schema. The value can be edited as fields or as JSON.

import { View, h } from "./element.js";
import { Form } from "./field.js";
import { control } from "./control.js";
import { JsonError, isObject, parse, print } from "./json.js";
import { jsonEditor } from "./json-editor.js";
import { initial, resolve, shape } from "./schema.js";
import { validate } from "./validate.js";

export class SchemaForm extends View {
  /** @type {Schema} */
  schema;
  /** @type {any} matches the schema, unless the user entered something else */
  value;
  /** @type {Form} */
  form;
  /** @type {Problem[]} the problems that the binary found */
  further = [];
  /** @type {{ text: string, error: string } | null} text of the JSON view that is not JSON */
  draft = null;
  touched = false;
  /** @type {"form" | "json"} */
  view = "form";
  label = "Arguments";
  /** @type {HTMLElement | undefined} */
  lost;
  /**
   * @typedef {object} Options
   * @property {Schema | undefined} schema
   * @property {any} [value]
   * @property {"form" | "json"} [view]
   * @property {Complete} [complete]
   * @property {() => void} [changed] is called when the value changed
   * @property {string} [label]
   */
  /** @param {Options} options */
  setup({ schema, value, view = "form", complete, changed, label = "Arguments" }) {
    this.schema = schema && isObject(schema) ? schema : { type: "object" };
    this.value = value ?? initial(this.schema, this.schema) ?? {};
    this.view = view;
    this.complete = complete;
    this.changed = changed;
    this.label = label;
    return this;
  }
  start() {
    this.draw();
  }
  /**
   * Sets the value and draws it.
   *
   * @param {unknown} value
   */
  set(value) {
    this.value = value;
    this.draft = null;
    this.further = [];
    this.draw();
    this.changed?.();
  }
  /** @param {"form" | "json"} view */
  see(view) {
    this.view = view;
    this.draw();
  }
  draw() {
    this.form = new Form(this.schema, this.complete);
    if (this.view === "json") this.drawJson();
    else this.drawForm();
    this.mark();
  }
  drawForm() {
    const kind = shape(this.schema, this.schema);
    const emit = (/** @type {Field} */ next) => {
      this.value = next ?? {};
      this.draft = null;
      this.heard();
    };
    const isPlain =
      (kind.kind === "object" && Object.keys(kind.schema.properties ?? {}).length === 0) ||
      (kind.kind === "map" && kind.schema.additionalProperties === undefined && !kind.schema.patternProperties);
    const isEmpty = isPlain && isObject(this.value) && !Object.keys(this.value).length;
    const id = this.form.id();
    const body = isEmpty
      ? h("p.dim", null, "No arguments.")
      : control({
          form: this.form,
          kind,
          value: this.value,
          path: "",
          id,
          name: this.label,
          isRequired: true,
          emit,
        });
    this.lost = h("div.problem");
    const held =
      this.draft === null
        ? null
        : h(
            "div.note",
            null,
            `The JSON view holds text that is not JSON (${this.draft.error}). This form shows the last value that was.`,
          );
    this.replaceChildren(
      h(
        "div.schemaform",
        { role: "group", "aria-label": this.label },
        h("span", { hidden: true, id: `${id}-label` }, this.label),
        held,
        body,
        this.lost,
      ),
    );
  }
  drawJson() {
    const note = h("div.problem", { id: "json-problem", role: "status" });
    const { element, area } = jsonEditor({
      text: this.draft?.text ?? print(this.value, 2),
      schema: this.schema,
      label: this.label,
      heard: (text) => {
        try {
          this.value = parse(text);
          this.draft = null;
          tell();
        } catch (error) {
          if (!(error instanceof JsonError)) throw error;
          this.draft = { text, error: error.message };
          tell(error.message);
        }
        this.heard();
      },
    });
    const tell = (/** @type {string} */ error = "") => {
      note.textContent = error;
      area.toggleAttribute("aria-invalid", error !== "");
    };
    tell(this.draft?.error);
    this.lost = h("div.problem");
    this.replaceChildren(h("div.schemaform", null, element, note, this.lost));
  }
  heard() {
    this.further = [];
    this.mark();
    this.changed?.();
  }
  /** The problems found by the page, and by the binary once it has answered. */
  get problems() {
    if (this.draft) return [{ path: "", message: `the JSON breaks: ${this.draft.error}` }];
    const own = validate(this.value, this.schema, this.view === "json" ? undefined : this.form?.chosen);
    const known = new Set(own.map((problem) => problem.path));
    return [...own, ...this.further.filter((problem) => !known.has(problem.path))];
  }
  mark() {
    const isFresh = !this.touched;
    const problems = this.problems.filter((problem) => !isFresh || !problem.isMissing);
    const lost = this.form.mark(problems);
    const shown = this.draft ? [] : this.view === "json" ? problems : lost;
    this.lost?.replaceChildren(
      ...shown.map((problem) => h("div", null, `${problem.path || "value"}: ${problem.message}`)),
    );
  }
  focusFirst() {
    this.touched = true;
    this.mark();
    const [first] = this.problems;
    if (this.view === "json") this.querySelector("textarea")?.focus();
    else if (first) this.form.focus(first.path);
  }
}
customElements.define("tb-form", SchemaForm);

/**
 * Whether a schema has a field for a secret.
 *
 * @param {Schema} schema
 */
export function hasSecret(schema) {
  return Object.values(resolve(schema, schema).properties ?? {}).some(
    (one) => one?.format === "password" || one?.writeOnly,
  );
}

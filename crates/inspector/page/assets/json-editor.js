// An editor for JSON: colours, formatting, and completions from the schema.

import { button, h } from "./element.js";
import { asList, isObject, parse, print } from "./json.js";
import { resolve } from "./schema.js";

/** Longer text is not coloured: colouring would take longer than a frame after each key press. */
const LONGEST_COLOURED = 60_000;
/** The most completions shown at once. */
const MOST_CHOICES = 50;
const TOKEN = /("(?:[^"\\\n]|\\.)*"?)(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b|([{}[\],:])/g;

/** @typedef {{ text: string, about: string }} Choice a completion at the cursor */
/** @typedef {{ path: (string | number)[], isKey: boolean, from: number, word: string, keys: string[] }} At */

/**
 * @typedef {object} Editor
 * @property {HTMLElement} element
 * @property {HTMLTextAreaElement} area
 */

/**
 * @param {{ text: string, schema: Schema, label: string, heard: (text: string) => void }} options
 * @returns {Editor}
 */
export function jsonEditor({ text, schema, label, heard }) {
  const area = h("textarea.code.whole", {
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": `${label} as JSON`,
    "aria-describedby": "json-problem",
    "aria-autocomplete": "list",
    value: text,
  });
  const under = h("pre.under", { "aria-hidden": "true" });
  const box = h("div.editor", null, under, area);
  const list = h("div.choices", { role: "listbox", "aria-label": "Completions", id: "json-choices", hidden: true });
  /** @type {{ at: At, choices: Choice[], chosen: number } | null} */
  let open = null;
  const colour = () => {
    const isLong = area.value.length > LONGEST_COLOURED;
    box.classList.toggle("plaintext", isLong);
    under.replaceChildren(...(isLong ? [] : coloured(area.value)), "\n");
  };
  const changed = () => {
    colour();
    heard(area.value);
  };
  const close = () => {
    open = null;
    list.hidden = true;
    area.removeAttribute("aria-activedescendant");
  };
  const draw = () => {
    if (!open) return close();
    const { choices, chosen } = open;
    list.replaceChildren(
      ...choices.map((choice, index) =>
        h(
          "div",
          {
            role: "option",
            id: `json-choice-${index}`,
            "aria-selected": String(index === chosen),
            onmousedown: (/** @type {MouseEvent} */ event) => {
              event.preventDefault();
              if (open) open.chosen = index;
              take();
            },
          },
          h("code", null, choice.text),
          h("span.dim.small.cut", null, choice.about),
        ),
      ),
    );
    list.hidden = false;
    area.setAttribute("aria-activedescendant", `json-choice-${chosen}`);
    place();
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
    return undefined;
  };
  /** Places the list below the cursor. The coloured text gives the cursor's position. */
  const place = () => {
    const before = h("span", null, area.value.slice(0, open?.at.from ?? 0));
    const point = h("span", null, "\u200b");
    const ruler = h("pre.under", null, before, point);
    box.append(ruler);
    const left = Math.min(point.offsetLeft, Math.max(0, box.clientWidth - 180));
    list.style.left = `${left}px`;
    list.style.top = `${point.offsetTop + point.offsetHeight + 4}px`;
    ruler.remove();
  };
  const suggest = (isAsked = false) => {
    if (area.selectionStart !== area.selectionEnd) return close();
    const at = cursor(area.value, area.selectionStart);
    if (!at || (!isAsked && !at.word)) return close();
    const low = at.word.replaceAll('"', "").toLowerCase();
    const choices = offered(schema, at)
      .filter((one) => one.text.replaceAll('"', "").toLowerCase().startsWith(low) && one.text !== at.word)
      .slice(0, MOST_CHOICES);
    if (!choices.length) return close();
    open = { at, choices, chosen: 0 };
    return draw();
  };
  const take = () => {
    if (!open) return;
    const { at, choices, chosen } = open;
    const rest = area.value.slice(area.selectionStart).replace(/^[\w"-]*/, (word) => (/^"?$/.test(word) ? "" : word));
    const suffix = at.isKey && !/^\s*:/.test(rest) ? ": " : "";
    const head = area.value.slice(0, at.from) + choices[chosen].text + suffix;
    area.value = head + rest;
    area.setSelectionRange(head.length, head.length);
    close();
    changed();
    if (at.isKey) suggest(true);
  };
  area.addEventListener("input", () => {
    changed();
    suggest();
  });
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      return suggest(true);
    }
    if (!open) return indent(event, area, changed);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      open.chosen = (open.chosen + step + open.choices.length) % open.choices.length;
      return draw();
    }
    if (event.key === "Enter" || event.key === "Tab") {
      if (event.ctrlKey || event.metaKey) return close();
      event.preventDefault();
      return take();
    }
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      return close();
    }
    return undefined;
  });
  const layOut = () => {
    try {
      area.value = print(parse(area.value), 2);
      changed();
    } catch {
      // The line below the editor already shows the error.
    }
    area.focus();
  };
  box.append(list);
  colour();
  const tools = h(
    "div.editortools",
    null,
    h("span.dim.small.onlykeys", null, "Ctrl+Space completes"),
    button("Lay out", layOut, { look: "bare", title: "Break and indent the lines" }),
  );
  return { element: h("div", null, tools, box), area };
}

/**
 * Makes Enter keep the indentation, and increase it after a bracket.
 *
 * @param {KeyboardEvent} event
 * @param {HTMLTextAreaElement} area
 * @param {() => void} changed
 */
function indent(event, area, changed) {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { selectionStart: at, value } = area;
  const line = value.slice(value.lastIndexOf("\n", at - 1) + 1, at);
  const depth = /^ */.exec(line)?.[0] ?? "";
  const isOpen = /[{[]\s*$/.test(line);
  const isClosed = /^\s*[}\]]/.test(value.slice(at));
  const after = isOpen && isClosed ? `\n${depth}` : "";
  const inside = `\n${depth}${isOpen ? "  " : ""}`;
  area.setRangeText(inside + after, at, area.selectionEnd, "end");
  area.setSelectionRange(at + inside.length, at + inside.length);
  changed();
}

/**
 * The tokens of a text, each in its colour.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
function coloured(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [whole, string, colon, number, literal] = found;
    if (found.index > last) parts.push(text.slice(last, found.index));
    if (string !== undefined) {
      parts.push(h(colon ? "span.token.key" : "span.token.string", null, string));
      if (colon) parts.push(h("span.token.sign", null, colon));
    } else if (number !== undefined) parts.push(h("span.token.number", null, number));
    else if (literal !== undefined) parts.push(h("span.token.literal", null, literal));
    else parts.push(h("span.token.sign", null, whole));
    last = found.index + whole.length;
  }
  parts.push(text.slice(last));
  return parts;
}

/**
 * The path to the value around the cursor, and the word before the cursor. The text may be invalid JSON.
 *
 * @param {string} text
 * @param {number} end
 * @returns {At | null}
 */
function cursor(text, end) {
  /** @typedef {{ isArray: boolean, key: string | null, index: number, keys: string[] }} Level */
  /** @type {Level[]} */
  const levels = [];
  let isKey = true;
  let from = end;
  let word = "";
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found && found.index < end; found = TOKEN.exec(text)) {
    const [whole, string, colon, number, literal, sign] = found;
    const stop = found.index + whole.length;
    const level = levels.at(-1);
    const isOpen =
      string !== undefined && !colon && stop >= end && !(string.length > 1 && string.endsWith('"') && stop === end);
    from = end;
    word = "";
    if (isOpen || (stop >= end && (number ?? literal) !== undefined)) {
      from = found.index;
      word = text.slice(from, end);
    } else if (string !== undefined && level && !level.isArray && isKey) {
      if (colon) {
        level.key = unquoted(string);
        level.keys.push(level.key);
        isKey = false;
      }
    } else if (sign === "{" || sign === "[") {
      levels.push({ isArray: sign === "[", key: null, index: 0, keys: [] });
      isKey = sign === "{";
    } else if (sign === "}" || sign === "]") {
      levels.pop();
      isKey = false;
    } else if (sign === "," && level) {
      level.index += 1;
      isKey = !level.isArray;
    } else if (sign === ":") isKey = false;
  }
  const bare = /[A-Za-z]+$/.exec(text.slice(from === end ? 0 : end, end));
  if (!word && bare) {
    word = bare[0];
    from = end - word.length;
  }
  if (!word) {
    const typed = /[A-Za-z_]+$/.exec(text.slice(0, end));
    if (typed) {
      word = typed[0];
      from = end - word.length;
    }
  }
  const level = levels.at(-1);
  if (!level) return null;
  const path = levels.slice(0, isKey && !level.isArray ? -1 : undefined);
  return {
    path: path.map((one) => (one.isArray ? one.index : (one.key ?? ""))),
    isKey: isKey && !level.isArray,
    from,
    word,
    keys: level.keys,
  };
}

/** @param {string} text */
function unquoted(text) {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replaceAll('"', "");
  }
}

/**
 * The completions that the schema has at a place: names of members, or values.
 *
 * @param {Schema} root
 * @param {At} at
 * @returns {Choice[]}
 */
function offered(root, { path, isKey, keys }) {
  const here = path.reduce((schemas, key) => schemas.flatMap((one) => below(one, key, root)), variants(root, root));
  if (isKey) {
    /** @type {Map<string, Choice>} */
    const found = new Map();
    for (const schema of here) {
      for (const [name, own] of Object.entries(schema.properties ?? {})) {
        if (keys.includes(name)) continue;
        const { type, description } = resolve(own, root);
        const needed = schema.required?.includes(name) ? "required" : "";
        const about = [asList(type ?? []).join(" or "), needed, (description ?? "").split("\n", 1)[0].slice(0, 40)];
        found.set(name, { text: JSON.stringify(name), about: about.filter(Boolean).join(", ") });
      }
    }
    return [...found.values()];
  }
  /** @type {Map<string, Choice>} */
  const values = new Map();
  for (const schema of here) {
    const add = (/** @type {Json | undefined} */ value, /** @type {string} */ about) => {
      if (value !== undefined) values.set(print(value), { text: print(value), about });
    };
    if ("const" in schema) add(schema.const, schema.title ?? "");
    for (const one of schema.enum ?? []) add(one, "");
    add(schema.default, "default");
    const types = asList(schema.type ?? []);
    if (types.includes("boolean")) [true, false].forEach((one) => add(one, ""));
    if (types.includes("null")) add(null, "");
    if (types.includes("object")) add({}, "object");
    if (types.includes("array")) add([], "array");
  }
  return [...values.values()];
}

/**
 * A schema and its variants.
 *
 * @param {Schema} given
 * @param {Schema} root
 * @returns {Schema[]}
 */
function variants(given, root, depth = 0) {
  const schema = resolve(given, root);
  const inner = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  return depth > 4 ? [schema] : [schema, ...inner.flatMap((one) => variants(one, root, depth + 1))];
}

/**
 * @param {Schema} schema
 * @param {string | number} key
 * @param {Schema} root
 * @returns {Schema[]}
 */
function below(schema, key, root) {
  if (typeof key === "number") {
    const own = schema.prefixItems?.[key] ?? schema.items;
    return own ? variants(own, root) : [];
  }
  const { additionalProperties: others } = schema;
  const own = schema.properties?.[key] ?? (isObject(others) ? /** @type {Schema} */ (others) : null);
  return own ? variants(own, root) : [];
}

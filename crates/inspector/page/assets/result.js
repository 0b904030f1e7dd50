// The result of a call: its content in order, its structured content, and the raw result.

import { button, bytes, h, plural, save, setWords, tabs } from "./element.js";
import { coded } from "./failure.js";
import { fine } from "./icon.js";
import { asList, isObject, kindOf, parse, print, same } from "./json.js";
import { longText } from "./long-text.js";
import { looksMarked, markdown } from "./markdown.js";
import { about } from "./prose.js";
import { displayName } from "./subject.js";
import { columnsOf, table } from "./table.js";
import { tree } from "./tree.js";
import { openApp } from "./app-frame.js";

/**
 * A content block whose members have the specified types. `role` is the role of its message.
 *
 * @typedef {object} Block
 * @property {string} [type]
 * @property {string} [role]
 * @property {unknown} [annotations]
 * @property {string} [text]
 * @property {string} [data]
 * @property {string} [blob]
 * @property {string} [mimeType]
 * @property {string} [uri]
 * @property {string} [name]
 * @property {string} [title]
 * @property {string} [description]
 * @property {Block} [resource]
 */

/** Longer text is not compared with the structured content. */
const COMPARED = 200_000;

/**
 * The result of an exchange, with tabs. `look` is the current tab; `see` is called with another.
 *
 * @param {Exchange} exchange
 * @param {string} look
 * @param {(look: string) => void} see
 */
export function result(exchange, look, see) {
  const value = exchange.result ?? {};
  const blocks = blocksOf(value);
  const structured = value.structuredContent;
  /** @type {[string, string][]} */
  const choices = [];
  if (blocks) choices.push(["content", "Answer"]);
  if (structured !== undefined) choices.push(["structured", "Structured"]);
  if (!blocks) choices.push(["structured", "Value"]);
  choices.push(["raw", "Raw"]);
  const app = appOf(exchange);
  if (app) choices.push(["app", "App"]);
  const chosen = choices.some(([id]) => id === look) ? look : choices[0][0];
  /** @type {Record<string, () => HTMLElement>} */
  const bodies = {
    content: () =>
      h("div.content.answer", null, oddity(exchange), violations(exchange), contentOf(blocks ?? [], structured)),
    structured: () => h("div.content", null, oddity(exchange), violations(exchange), tree(structured ?? value)),
    raw: () => longText((most) => print(value, 2, most)),
    app: () => openApp(exchange, app ?? ""),
  };
  return h("div.result", null, tabs("Result", choices, chosen, see, check(exchange)), bodies[chosen]());
}

/** @param {Exchange} exchange */
function appOf(exchange) {
  const { ui } = /** @type {{ ui?: { resourceUri?: string } }} */ (exchange.result?._meta ?? {});
  return ui?.resourceUri ?? exchange.app ?? null;
}

/**
 * @param {JsonObject} value
 * @returns {unknown[] | null}
 */
function blocksOf(value) {
  if (Array.isArray(value.content)) return value.content;
  if (Array.isArray(value.contents)) return value.contents.map((resource) => ({ type: "resource", resource }));
  if (Array.isArray(value.messages)) {
    return value.messages
      .filter(isObject)
      .flatMap((message) =>
        asList(message.content).map((block) => ({ .../** @type {JsonObject} */ (block), role: message.role })),
      );
  }
  return null;
}

/**
 * @param {unknown[]} blocks
 * @param {Field} structured
 */
function contentOf(blocks, structured) {
  // If text and structured content are the same data, only one of them is shown.
  const twin = structured === undefined ? null : sameData(blocks, structured);
  if (twin === "structure") return structure(structured ?? null);
  if (twin === "text") return blocks.map((block) => contentBlock(block));
  /** @type {HTMLElement[]} */
  const shown = blocks.map((block) => contentBlock(block));
  if (!blocks.length && structured === undefined) shown.push(h("p.dim", null, "No content."));
  if (structured !== undefined) shown.push(...structure(structured));
  return shown;
}

/**
 * Structured content: lists of objects as tables, everything else as a tree.
 *
 * @param {Json} value
 * @returns {HTMLElement[]}
 */
function structure(value) {
  const columns = columnsOf(value);
  if (columns) return [table("items", /** @type {JsonObject[]} */ (value), columns)];
  if (!isObject(value)) return [tree(value)];
  /** @type {HTMLElement[]} */
  const tables = [];
  /** @type {JsonObject} */
  const rest = {};
  for (const [key, one] of Object.entries(value)) {
    const own = columnsOf(one);
    if (own) tables.push(table(key, /** @type {JsonObject[]} */ (/** @type {unknown} */ (one)), own));
    else rest[key] = one;
  }
  if (!tables.length) return [tree(value)];
  return Object.keys(rest).length ? [tree(rest), ...tables] : tables;
}

/**
 * Which of the two to show if text and structured content are the same data, otherwise null. Structured content must be
 * an object, so servers wrap a text in an object with one member, and send each item of a list as a separate text.
 *
 * @param {unknown[]} blocks
 * @param {Json} structured
 * @returns {"text" | "structure" | null}
 */
function sameData(blocks, structured) {
  const texts = blocks.map((block) => (isObject(block) && block.type === "text" ? block.text : undefined));
  const [said] = texts;
  if (texts.length === 1 && saysSame(said, structured)) return "structure";
  const members = isObject(structured) ? Object.values(structured) : [];
  const [inner] = members;
  if (members.length !== 1 || inner === undefined) return null;
  if (texts.length === 1 && (inner === said || saysSame(said, inner))) {
    return isObject(inner) || Array.isArray(inner) ? "structure" : "text";
  }
  const isList = Array.isArray(inner) && inner.length > 0 && inner.length === texts.length;
  return isList && inner.every((one, at) => one === texts[at] || saysSame(texts[at], one)) ? "structure" : null;
}

/**
 * @param {unknown} said
 * @param {Json} structured
 */
function saysSame(said, structured) {
  if (typeof said !== "string" || said.length > COMPARED) return false;
  try {
    return same(parse(said), structured);
  } catch {
    return false;
  }
}

/** @type {Record<string, string>} the member that a result must have, by the method */
const MEMBERS = { "tools/call": "content", "prompts/get": "messages", "resources/read": "contents" };

/**
 * The reason why a value is not a valid result of its method, or null.
 *
 * @param {Exchange} exchange
 */
export function misshape({ method, result: value, status }) {
  const key = MEMBERS[method];
  if (!key || status !== "done") return null;
  if (!isObject(value)) return `The result is ${kindWords(value)} and not an object.`;
  const { [key]: member, resultType = "complete" } = value;
  // The result of a call that became a task is in the task.
  if (Array.isArray(member) || value.task !== undefined || resultType !== "complete") return null;
  return member === undefined
    ? `The result has no member ${key}, which the specification requires.`
    : `The member ${key} is ${kindWords(member)} and not a list.`;
}

/** @param {unknown} value */
function kindWords(value) {
  const kind = kindOf(value);
  return kind === "null" ? kind : `${/^[ao]/.test(kind) ? "an" : "a"} ${kind}`;
}

/** @param {Exchange} exchange */
function oddity(exchange) {
  const words = misshape(exchange);
  return words ? h("div.violations", null, h("p", null, words)) : null;
}

/** @param {Exchange} exchange */
function check({ outputCheck }) {
  if (!outputCheck) return null;
  const { ok } = outputCheck;
  return h(
    `p.verdict.${ok ? "ok" : "warn"}`,
    null,
    fine(ok ? "check" : "alert"),
    ok ? "Matches the output schema" : "Breaks the output schema",
  );
}

/** @param {Exchange} exchange */
function violations({ outputCheck }) {
  if (!outputCheck || outputCheck.ok) return null;
  return h(
    "div.violations",
    null,
    h(
      "p",
      null,
      `The structured content does not match the output schema: ${plural(outputCheck.problems.length, "problem")}`,
    ),
    h(
      "ul",
      null,
      outputCheck.problems.map((one) =>
        h("li", null, coded(typeof one === "string" ? one : `${one.path}: ${one.message}`)),
      ),
    ),
  );
}

/**
 * One content block. Any other value is shown as JSON.
 *
 * @param {unknown} block
 */
export function contentBlock(block) {
  const box = h("div.block");
  if (!isBlock(block)) {
    box.append(h("div.kind", null, "unknown kind of content"), tree(block ?? null, { search: false }));
    return box;
  }
  if (block.role) box.append(h("div.kind", null, block.role));
  const marks = annotations(block.annotations);
  if (marks) box.append(h("div.kind", null, marks));
  const draw = BLOCKS[block.type ?? ""] ?? ((one) => tree(one, { search: false }));
  box.append(...asList(draw(block)));
  return box;
}

/**
 * @param {unknown} block
 * @returns {block is Block}
 */
function isBlock(block) {
  const isText = (/** @type {unknown} */ value) => value === undefined || typeof value === "string";
  if (!isObject(block)) return false;
  const of = block.type === "resource" ? block.resource : block;
  return isObject(of) && [of.text, of.data, of.blob, of.mimeType, of.uri].every(isText);
}

/** @type {Record<string, (block: Block) => Node | string | (Node | string)[]>} */
const BLOCKS = {
  text: (block) => text(block.text ?? "", block.mimeType),
  image: (block) => media("image", block.data, block.mimeType),
  audio: (block) => media("audio", block.data, block.mimeType),
  resource: ({ resource = {} }) => {
    const head = h(
      "div.kind",
      null,
      `${resource.uri ?? "resource"}${resource.mimeType ? ` · ${resource.mimeType}` : ""}`,
    );
    if (typeof resource.blob === "string") {
      return [
        head,
        media(/^(image|audio)/.exec(resource.mimeType ?? "")?.[0], resource.blob, resource.mimeType, resource.uri),
      ];
    }
    return [head, text(resource.text ?? "", resource.mimeType)];
  },
  resource_link: (block) => [
    h("div.kind", null, "link to a resource"),
    h("div", null, h("code", null, block.uri), ` ${displayName(block)}`),
    block.description ? about(block.description) : "",
  ],
};

/** @param {unknown} given */
function annotations(given) {
  if (!isObject(given)) return null;
  const parts = [
    given.audience && `for ${asList(given.audience).join(" and ")}`,
    given.priority !== undefined && `priority ${given.priority}`,
    given.lastModified,
  ].filter(Boolean);
  return parts.length ? parts.join(" · ") : null;
}

/**
 * @param {string} value
 * @param {string} [type]
 */
function text(value, type) {
  const isMarked = type === "text/markdown" || (!type && looksMarked(value));
  if (!isMarked) return json(value, type) ?? longText(value);
  const place = h("div");
  let isSource = false;
  const swap = button(
    "Source",
    () => {
      isSource = !isSource;
      draw();
    },
    { look: "link" },
  );
  const draw = () => {
    place.replaceChildren(isSource ? longText(value) : markdown(value));
    setWords(swap, isSource ? "Rendered" : "Source");
  };
  draw();
  return h("div.marked", null, swap, place);
}

/**
 * Text that is JSON, shown as structured content. Null for other text.
 *
 * @param {string} value
 * @param {string} [type]
 */
function json(value, type) {
  if (value.length > 6_000_000 || !(/json/.test(type ?? "") || /^\s*[[{]/.test(value))) return null;
  try {
    return h("div.content", null, structure(parse(value)));
  } catch {
    return null;
  }
}

/**
 * @param {string | undefined} kind
 * @param {string} [data]
 * @param {string} [type]
 * @param {string} [name]
 */
function media(kind, data, type, name) {
  const size = Math.floor(((data?.length ?? 0) * 3) / 4);
  const facts = h(
    "div.kind.file",
    null,
    `${kind ?? "binary"} · ${type ?? "unknown type"} · ${bytes(size)} `,
    button("Save", () => save(fileName(name, type), bytesOf(data ?? ""), type), { picture: "save", look: "link" }),
  );
  const from = `data:${type};base64,${data}`;
  const odd = (/** @type {Event} */ { target }) => {
    if (target instanceof Element) target.replaceWith(h("p.dim", null, `The browser cannot show this as ${type}.`));
  };
  if (kind === "image") {
    return h(
      "figure",
      null,
      h("img", { src: from, alt: `image of type ${type}`, loading: "lazy", onerror: odd }),
      facts,
    );
  }
  if (kind === "audio") return h("figure", null, h("audio", { src: from, controls: true, onerror: odd }), facts);
  return facts;
}

const fileName = (/** @type {string | undefined} */ name, /** @type {string | undefined} */ type) =>
  name?.split("/").at(-1) || `content.${(type ?? "").split("/").at(-1)?.split("+")[0] || "bin"}`;

/**
 * @param {string} data
 * @returns {BlobPart}
 */
function bytesOf(data) {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    return data;
  }
}

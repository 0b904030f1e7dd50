// What a call came to: its content in order, its structured part, and the raw result.

import { button, bytes, copyButton, h, plural, save, tabs } from "./element.js";
import { isObject, parse, print, same } from "./json.js";
import { longText } from "./long-text.js";
import { looksMarked, markdown } from "./markdown.js";
import { about } from "./prose.js";
import { tree } from "./tree.js";
import { openApp } from "./app-frame.js";

/** Text longer than this is not compared with the structured part. */
const COMPARED = 200_000;

/** The result of an exchange, with tabs. `look` is the tab, `see` hears that another is wanted. */
export function result(exchange, look, see) {
  const value = exchange.result;
  const blocks = blocksOf(value);
  const structured = value.structuredContent;
  const choices = [];
  if (blocks) choices.push(["content", "Content"]);
  if (structured !== undefined) choices.push(["structured", "Structured"]);
  if (!blocks) choices.push(["structured", "Value"]);
  choices.push(["raw", "Raw"]);
  const app = appOf(exchange);
  if (app) choices.push(["app", "App"]);
  const chosen = choices.some(([id]) => id === look) ? look : choices[0][0];
  const tools = h(
    "div.tools",
    null,
    copyButton("Copy the result", () => print(value, 2), { quiet: true, look: "bare" }),
    button("Save the result", () => save(`${exchange.object ?? "result"}-${exchange.n}.json`, print(value, 2)), {
      picture: "save",
      quiet: true,
      look: "bare",
    }),
  );
  const body = {
    content: () => h("div.content", null, contentOf(blocks, structured), check(exchange)),
    structured: () => h("div.content", null, tree(structured ?? value), check(exchange)),
    raw: () => longText((most) => print(value, 2, most)),
    app: () => openApp(exchange, app),
  }[chosen]();
  return h("div.result", null, tabs("Result", choices, chosen, see, tools), body);
}

function appOf(exchange) {
  return exchange.result?._meta?.ui?.resourceUri ?? exchange.app ?? null;
}

function blocksOf(value) {
  if (Array.isArray(value.content)) return value.content;
  if (Array.isArray(value.contents)) return value.contents.map((resource) => ({ type: "resource", resource }));
  if (Array.isArray(value.messages)) {
    return value.messages
      .filter(isObject)
      .flatMap((message) => [].concat(message.content).map((block) => ({ ...block, role: message.role })));
  }
  return null;
}

function contentOf(blocks, structured) {
  const says =
    structured !== undefined &&
    blocks.length === 1 &&
    blocks[0]?.type === "text" &&
    saysSame(blocks[0].text, structured);
  if (says) {
    return [tree(structured), h("p.dim.small", null, "The text content says the same as the structured content.")];
  }
  const shown = blocks.map((block) => contentBlock(block));
  if (!blocks.length) shown.push(h("p.dim", null, "No content."));
  if (structured !== undefined) {
    shown.push(h("div.block", null, h("div.kind", null, "structured content"), tree(structured)));
  }
  return shown;
}

function saysSame(text, structured) {
  if (typeof text !== "string" || text.length > COMPARED) return false;
  try {
    return same(parse(text), structured);
  } catch {
    return false;
  }
}

function check({ outputCheck }) {
  if (!outputCheck) return null;
  if (outputCheck.ok) return h("p.verdict.ok", null, "The structured content fits the output schema.");
  return h(
    "div.verdict.error",
    null,
    h("p", null, `The structured content breaks the output schema: ${plural(outputCheck.problems.length, "problem")}`),
    h(
      "ul",
      null,
      outputCheck.problems.map((one) => h("li", null, one)),
    ),
  );
}

/** One block of content; what is none is shown as it came. */
export function contentBlock(block) {
  const box = h("div.block");
  if (!isBlock(block)) {
    box.append(h("div.kind", null, "no kind of content that is known"), tree(block ?? null, { search: false }));
    return box;
  }
  if (block.role) box.append(h("div.kind", null, block.role));
  const marks = annotations(block.annotations);
  if (marks) box.append(h("div.kind", null, marks));
  box.append(...[].concat((BLOCKS[block.type] ?? ((one) => tree(one, { search: false })))(block)));
  return box;
}

function isBlock(block) {
  const isText = (value) => value === undefined || typeof value === "string";
  if (!isObject(block)) return false;
  const of = block.type === "resource" ? block.resource : block;
  return isObject(of) && [of.text, of.data, of.blob, of.mimeType, of.uri].every(isText);
}

const BLOCKS = {
  text: (block) => text(block.text ?? "", block.mimeType),
  image: (block) => media("image", block.data, block.mimeType),
  audio: (block) => media("audio", block.data, block.mimeType),
  resource: ({ resource }) => {
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
    h("div", null, h("code", null, block.uri), block.name ? ` ${block.title ?? block.name}` : ""),
    block.description ? about(block.description) : "",
  ],
};

function annotations(given) {
  if (!isObject(given)) return null;
  const parts = [
    given.audience && `for ${[].concat(given.audience).join(" and ")}`,
    given.priority !== undefined && `priority ${given.priority}`,
    given.lastModified,
  ].filter(Boolean);
  return parts.length ? parts.join(" · ") : null;
}

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
    swap.lastChild.textContent = isSource ? "Rendered" : "Source";
  };
  draw();
  return h("div.marked", null, swap, place);
}

/** Text that is JSON is shown as a tree, with its source a click away. */
function json(value, type) {
  if (value.length > 6_000_000 || !(/json/.test(type ?? "") || /^\s*[[{]/.test(value))) return null;
  try {
    return h("div", null, tree(parse(value)));
  } catch {
    return null;
  }
}

function media(kind, data, type, name) {
  const size = Math.floor(((data?.length ?? 0) * 3) / 4);
  const about = h(
    "div.kind.file",
    null,
    `${kind ?? "binary"} · ${type ?? "unknown type"} · ${bytes(size)} `,
    button("Save", () => save(fileName(name, type), bytesOf(data), type), { picture: "save", look: "link" }),
  );
  const from = `data:${type};base64,${data}`;
  const odd = (event) => event.target.replaceWith(h("p.dim", null, `The browser cannot show this as ${type}.`));
  if (kind === "image") {
    return h(
      "figure",
      null,
      h("img", { src: from, alt: `image of type ${type}`, loading: "lazy", onerror: odd }),
      about,
    );
  }
  if (kind === "audio") return h("figure", null, h("audio", { src: from, controls: true, onerror: odd }), about);
  return about;
}

const fileName = (name, type) =>
  name?.split("/").at(-1) || `content.${(type ?? "").split("/").at(-1)?.split("+")[0] || "bin"}`;

function bytesOf(data) {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    return data;
  }
}

// Markdown as elements. The text is untrusted: it is never parsed as HTML, parsing takes linear time, and the depth of
// nested quotes is limited.

import { h } from "./element.js";
import { inline } from "./markdown-inline.js";

/** Longer text is shown as source. */
export const MARKDOWN_MOST = 100_000;
/** Deeper nested quotes are shown as source. */
const DEEPEST = 8;

/**
 * Whether a text looks as if it were written in Markdown.
 *
 * @param {string} text
 */
export const looksMarked = (text) =>
  text.length <= MARKDOWN_MOST &&
  /^#{1,6} |^[-*] |^\d+\. |```|\*\*[^*]+\*\*|\[[^\][]+\]\([^()\s]|^\|.+\|$|^> /m.test(text);

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  const box = h("div.prose");
  blocks(box, text.replaceAll("\r\n", "\n").split("\n"), 0);
  return box;
}

/**
 * @param {HTMLElement} box
 * @param {string[]} lines
 * @param {number} depth the number of quotes around them
 */
function blocks(box, lines, depth) {
  let at = 0;
  while (at < lines.length) at = block(box, lines, at, depth);
}

/** @typedef {(box: HTMLElement, lines: string[], at: number, found: RegExpExecArray, depth: number) => number} Make */
/** @type {[RegExp, Make][]} */
const BLOCKS = [
  [/^\s*$/, (_box, _lines, at) => at + 1],
  [/^\s*(```|~~~)/, fence],
  [
    /^(#{1,6})\s+(.*)/,
    (box, _, at, found) => {
      // A heading in a server's text must not become a heading of the page.
      box.append(h(`p.heading.level${found[1].length}`, null, inline(withoutEnd(found[2]))));
      return at + 1;
    },
  ],
  [
    /^\s*([-*_])(\s*\1){2,}\s*$/,
    (box, _, at) => {
      box.append(h("hr"));
      return at + 1;
    },
  ],
  [
    /^>/,
    (box, lines, at, _, depth) => {
      const end = until(lines, at, (line) => !line.startsWith(">"));
      const quoted = lines.slice(at, end).map((line) => line.replace(/^> ?/, ""));
      const quote = h("blockquote");
      if (depth < DEEPEST) blocks(quote, quoted, depth + 1);
      else quote.append(h("p", null, quoted.join("\n")));
      box.append(quote);
      return end;
    },
  ],
  [/^\s*([-*+]|\d+[.)])\s+/, list],
  [/^\|.*\|\s*$/, table],
];

/**
 * @param {HTMLElement} box
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 */
function block(box, lines, at, depth) {
  for (const [pattern, make] of BLOCKS) {
    const found = pattern.exec(lines[at]);
    if (found) return make(box, lines, at, found, depth);
  }
  const end = until(lines, at + 1, (line) => BLOCKS.some(([pattern]) => pattern.test(line)));
  box.append(h("p", null, inline(lines.slice(at, end).join("\n"))));
  return end;
}

/**
 * A heading without the number signs after it.
 *
 * @param {string} text
 */
function withoutEnd(text) {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  const words = text.slice(0, end).trimEnd();
  return words.length < end ? words : text;
}

/**
 * @param {string[]} lines
 * @param {number} from
 * @param {(line: string) => boolean} isEnd
 */
function until(lines, from, isEnd) {
  let at = from;
  while (at < lines.length && !isEnd(lines[at])) at += 1;
  return at;
}

/** @type {Make} */
function fence(box, lines, at, found) {
  const end = until(lines, at + 1, (line) => line.trim().startsWith(found[1]));
  box.append(h("pre", { tabindex: "0" }, h("code", null, lines.slice(at + 1, end).join("\n"))));
  return end + 1;
}

/** @type {Make} */
function list(box, lines, at, found) {
  const isNumbered = /\d/.test(found[1]);
  const made = h(isNumbered ? "ol" : "ul");
  const end = until(lines, at, (line) => !/^\s*([-*+]|\d+[.)])\s+/.test(line) && !/^\s{2,}\S/.test(line));
  for (const line of lines.slice(at, end)) {
    const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)/.exec(line);
    if (item) made.append(h("li", null, inline(item[1])));
    else for (const part of [" ", ...inline(line.trim())]) made.lastElementChild?.append(part);
  }
  box.append(made);
  return end;
}

/**
 * @param {HTMLElement} box
 * @param {string[]} lines
 * @param {number} at
 */
function table(box, lines, at) {
  const end = until(lines, at, (line) => !/^\|.*\|\s*$/.test(line));
  const rows = lines.slice(at, end).map((line) =>
    line
      .trim()
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  const hasHead = rows.length > 1 && rows[1].every((cell) => /^:?-+:?$/.test(cell));
  const made = h("table");
  rows.forEach((row, index) => {
    if (hasHead && index === 1) return;
    made.append(
      h(
        "tr",
        null,
        row.map((cell) => h(hasHead && index === 0 ? "th" : "td", null, inline(cell))),
      ),
    );
  });
  box.append(h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Table" }, made));
  return end;
}

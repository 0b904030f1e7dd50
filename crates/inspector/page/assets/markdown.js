// Markdown as elements. Nothing in it becomes HTML: every piece is made as an element or a text.

import { h } from "./element.js";

/** Longer text is shown as its source. */
export const MARKDOWN_MOST = 100_000;

/**
 * Whether a text looks as if it were written in Markdown.
 *
 * @param {string} text
 */
export const looksMarked = (text) =>
  text.length <= MARKDOWN_MOST &&
  /^#{1,6} |^[-*] |^\d+\. |```|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\)|^\|.+\|$|^> /m.test(text);

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  const box = h("div.prose");
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  let at = 0;
  while (at < lines.length) at = block(box, lines, at);
  return box;
}

/** @typedef {(box: HTMLElement, lines: string[], at: number, found: RegExpExecArray) => number} Make */
/** @type {[RegExp, Make][]} */
const BLOCKS = [
  [/^\s*$/, (_box, _lines, at) => at + 1],
  [/^\s*(```|~~~)/, fence],
  [
    /^(#{1,6})\s+(.*)/,
    (box, _, at, found) => {
      // A heading of a text is not a heading of the page.
      box.append(h(`p.heading.level${found[1].length}`, null, inline(found[2].replace(/\s+#+$/, ""))));
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
    (box, lines, at) => {
      const end = until(lines, at, (line) => !line.startsWith(">"));
      const quote = markdown(
        lines
          .slice(at, end)
          .map((line) => line.replace(/^> ?/, ""))
          .join("\n"),
      );
      box.append(h("blockquote", null, ...quote.childNodes));
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
 */
function block(box, lines, at) {
  for (const [pattern, make] of BLOCKS) {
    const found = pattern.exec(lines[at]);
    if (found) return make(box, lines, at, found);
  }
  const end = until(lines, at + 1, (line) => BLOCKS.some(([pattern]) => pattern.test(line)));
  box.append(h("p", null, inline(lines.slice(at, end).join("\n"))));
  return end;
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
    else made.lastElementChild?.append(" ", ...inline(line.trim()));
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

const INLINE =
  /`([^`]+)`|\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\n]+)\*|!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)|(https?:\/\/[^\s<>)]+)/g;

/**
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
function inline(text) {
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(from, found.index));
    from = found.index + found[0].length;
    const [, code, strong, strong2, soft, words, to, bare] = found;
    if (code) parts.push(h("code", null, code));
    else if (strong || strong2) parts.push(h("strong", null, inline(strong ?? strong2)));
    else if (soft) parts.push(h("em", null, inline(soft)));
    else parts.push(link(bare ?? to, words || bare || to));
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
}

/**
 * A link that leads to the web in a window of its own; any other is left as text that says where it would.
 *
 * @param {string} to
 * @param {string} words
 */
function link(to, words) {
  if (!/^https?:\/\//i.test(to)) return h("span.nowhere", { title: to }, words);
  return h("a", { href: to, target: "_blank", rel: "noopener noreferrer", title: to }, words);
}

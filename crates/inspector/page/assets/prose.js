// What servers say about things, however much it is: the first part at once, and all of it on demand.

import { button, h } from "./element.js";
import { longText } from "./long-text.js";
import { MARKDOWN_MOST, markdown } from "./markdown.js";

/** Characters and lines of instructions that are shown at once: two screens. */
const FIRST = { characters: 4000, lines: 80 };
/** Of a description, above a form that should stay in sight. */
const FIRST_OF_DESCRIPTION = { characters: 700, lines: 12 };
/** Below a field. */
const FIRST_OF_FIELD = { characters: 600, lines: 6 };
/** Characters of a title. */
const LONGEST_LINE = 300;

/** @param {string} text */
const marked = (text) => (text.length <= MARKDOWN_MOST ? markdown(text) : longText(text));

/**
 * Instructions, and a description, as the Markdown that they usually are.
 *
 * @param {string} text
 */
export const prose = (text) => cut(text, FIRST, marked);
/** @param {string} text */
export const description = (text) => cut(text, FIRST_OF_DESCRIPTION, marked);

/**
 * What is said below a field.
 *
 * @param {string} text
 */
export const about = (text) =>
  cut(text, FIRST_OF_FIELD, (some) => (some.length <= MARKDOWN_MOST ? h("div.about", null, some) : longText(some)));

/**
 * A title or a name, which should be a line.
 *
 * @param {string} text
 */
export const brief = (text) => (text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text);

/**
 * Draws the text, or its first part with a button for all of it.
 *
 * @param {string} text
 * @param {{ characters: number, lines: number }} first
 * @param {(text: string) => HTMLElement} draw
 */
function cut(text, { characters, lines }, draw) {
  const line = endOfLine(text, lines);
  // A few words more are no reason to hide them.
  if (text.length <= characters * 1.5 && endOfLine(text, lines * 1.5) >= text.length) return draw(text);
  const end =
    line <= characters
      ? line
      : Math.max(text.lastIndexOf("\n", characters), text.lastIndexOf(" ", characters), characters / 2);
  const box = h("div.cut", { tabindex: "-1" });
  const all = button(
    `Show all (${text.length.toLocaleString("en")} characters)`,
    () => {
      box.replaceChildren(draw(text));
      box.focus();
    },
    { look: "link" },
  );
  box.append(draw(`${text.slice(0, end).trimEnd()} …`), all);
  return box;
}

/**
 * Where a line ends, or the text if it has fewer.
 *
 * @param {string} text
 * @param {number} count
 */
function endOfLine(text, count) {
  let at = -1;
  for (let line = 0; line < count; line += 1) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return text.length;
  }
  return at;
}

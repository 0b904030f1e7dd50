// Texts of servers, of any length: the first part at once, the rest on demand.

import { button, h } from "./element.js";
import { longText } from "./long-text.js";
import { MARKDOWN_MOST, markdown } from "./markdown.js";

/** The characters and lines of instructions shown at once: about two screens. */
const FIRST = { characters: 4000, lines: 80 };
/** The same for a description. The form below it should stay visible. */
const FIRST_OF_DESCRIPTION = { characters: 700, lines: 12 };
/** The same for the text below a field. */
const FIRST_OF_FIELD = { characters: 600, lines: 6 };
/** The most characters of a title. */
const LONGEST_LINE = 300;

/** @param {string} text */
const marked = (text) => (text.length <= MARKDOWN_MOST ? markdown(text) : longText(text));

/**
 * Instructions, shown as Markdown.
 *
 * @param {string} text
 */
export const prose = (text) => cut(text, FIRST, marked);
/** @param {string} text */
export const description = (text) => cut(text, FIRST_OF_DESCRIPTION, marked);

/**
 * The text below a field.
 *
 * @param {string} text
 */
export const about = (text) =>
  cut(text, FIRST_OF_FIELD, (some) => (some.length <= MARKDOWN_MOST ? h("div.about", null, some) : longText(some)));

/**
 * A title or a name, shortened to a line.
 *
 * @param {string} text
 */
export const brief = (text) => (text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text);

/**
 * Draws the text, or its first part with a button for the whole text.
 *
 * @param {string} text
 * @param {{ characters: number, lines: number }} first
 * @param {(text: string) => HTMLElement} draw
 */
function cut(text, { characters, lines }, draw) {
  const line = endOfLine(text, lines);
  // Text that is only a little longer is shown completely.
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
 * The end of line number `count`, or the end of the text if it has fewer lines.
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

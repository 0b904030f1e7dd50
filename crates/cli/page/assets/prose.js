// What servers say about things, however much it is: the first part at once, and all of it on demand.

import { button, h } from "./element.js";
import { longText } from "./long-text.js";
import { MARKDOWN_MOST, markdown } from "./markdown.js";

/** Characters of a description or of instructions that are shown at once: two screens. */
const FIRST = 4000;
/** Characters that are shown at once below a field. */
const FIRST_OF_FIELD = 600;
/** Characters of a title. */
const LONGEST_LINE = 300;

/** A description, as the Markdown that it usually is. */
export const prose = (text) => cut(text, FIRST, (some) => (some.length <= MARKDOWN_MOST ? markdown(some) : longText(some)));

/** What is said below a field. */
export const about = (text) => cut(text, FIRST_OF_FIELD, (some) => (some.length <= MARKDOWN_MOST ? h("div.about", null, some) : longText(some)));

/** A title or a name, which should be a line. */
export const brief = (text) => (text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text);

/** Draws the text, or its first part with a button for all of it. */
function cut(text, most, draw) {
  // A few words more are no reason to hide them.
  if (text.length <= most * 1.5) return draw(text);
  const end = Math.max(text.lastIndexOf("\n", most), text.lastIndexOf(" ", most), most / 2);
  const box = h("div.cut", { tabindex: "-1" });
  const all = button(`Show all (${text.length.toLocaleString("en")} characters)`, () => {
    box.replaceChildren(draw(text));
    box.focus();
  }, { look: "link" });
  box.append(draw(`${text.slice(0, end).trimEnd()} …`), all);
  return box;
}

// Text of any length: the first part at once, more on demand, and a search.

import { bytes, button, h, setWords, visible } from "./element.js";

/** Characters shown at once. */
const WINDOW = 32_000;

/**
 * `source(most)` returns at least `most` characters, or the whole text if it is shorter.
 *
 * @param {string | ((most: number) => string)} source
 */
export function longText(source) {
  const whole = typeof source === "string" ? () => source : source;
  // Text in columns keeps its lines.
  const isLaidOut = typeof source !== "string" || /\n[ \t]+\S|\S {2,}\S|\t/.test(source.slice(0, 4000));
  const pre = h(`pre.text${isLaidOut ? ".lines" : ""}`);
  const box = h("div.longtext", null, pre);
  let shown = WINDOW;
  const draw = () => {
    const text = whole(shown);
    pre.textContent = visible(text.slice(0, shown));
    more.hidden = text.length <= shown;
    if (!more.hidden && typeof source === "string") {
      setWords(more, `Show more (${bytes(text.length - shown)} left)`);
    }
  };
  const more = button("Show more", () => {
    shown *= 2;
    draw();
  });
  box.append(more);
  draw();
  if (typeof source === "string" && source.length > WINDOW / 8) box.prepend(searchIn(source, pre, more));
  return box;
}

/**
 * @param {string} text
 * @param {HTMLElement} pre
 * @param {HTMLElement} more
 */
function searchIn(text, pre, more) {
  const box = h("input.search", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search in this text",
  });
  const state = h("span.dim", { role: "status" });
  let at = -1;
  const find = (/** @type {number} */ from) => {
    if (!box.value) return;
    at = text.indexOf(box.value, from);
    if (at < 0 && from > 0) at = text.indexOf(box.value);
    if (at < 0) return (state.textContent = "not found");
    state.textContent = `at ${at.toLocaleString("en")}`;
    const start = Math.max(0, at - WINDOW / 2);
    const hit = h("mark", null, box.value);
    pre.replaceChildren(
      start ? "…" : "",
      visible(text.slice(start, at)),
      hit,
      visible(text.slice(at + box.value.length, at + WINDOW / 2)),
    );
    more.hidden = true;
    hit.scrollIntoView({ block: "center" });
    return undefined;
  };
  box.addEventListener("input", () => find(0));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") find(at + 1);
  });
  return h("div.bar", null, box, state);
}

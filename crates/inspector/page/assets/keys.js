// Keyboard shortcuts: / ↑ ↓ Enter, Ctrl+Enter, Esc, w, ?, Ctrl+K.

import { button, focusOn, h, isNarrow } from "./element.js";
import { openPalette } from "./palette.js";
import { place, set, go } from "./router.js";
import { answerNext } from "./waiting-line.js";

const KEYS = [
  ["/", "filter the list"],
  ["↑ ↓", "move in a list"],
  ["Enter", "open"],
  ["Ctrl+Enter", "run the call, or accept a question"],
  ["Esc", "cancel the run, or close"],
  ["w", "open or close the messages"],
  ["n", "go to the next question"],
  ["Ctrl+K", "search anything, or connect to a server"],
  ["?", "this help"],
];

export function openHelp() {
  if (document.querySelector("dialog[open]")) return;
  const back = document.activeElement;
  /** @type {HTMLDialogElement} */
  const dialog = h(
    "dialog.help",
    { "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keyboard"),
    h(
      "dl.given",
      null,
      KEYS.flatMap(([key, does]) => [h("dt", null, h("kbd", null, key)), h("dd", null, does)]),
    ),
    h("h2", null, "Filter of the messages"),
    h(
      "p",
      null,
      h("code", null, "method:tools -ping >100ms"),
      " — also ",
      h("code", null, "object: status: kind: call: id: dir: >10kb"),
    ),
    h(
      "div.actions",
      null,
      button("Close", () => dialog.close(), { look: "main" }),
    ),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    focusOn(back);
  });
  document.body.append(dialog);
  dialog.showModal();
}

const isTyping = (/** @type {EventTarget | null} */ element) =>
  element instanceof Element && element.matches("input:not([type=radio], [type=checkbox]), textarea, select");

export function listenToKeys() {
  addEventListener("keydown", (event) => {
    const isControl = event.ctrlKey || event.metaKey;
    if (isControl && event.key.toLowerCase() === "k") return take(event, () => openPalette());
    if (document.querySelector("dialog[open]")) return undefined;
    if (isControl && event.key === "Enter") return take(event, () => document.querySelector("tb-panel")?.run());
    if (event.key === "Escape") return escape(event);
    if (isControl || event.altKey || isTyping(event.target)) return undefined;
    if (event.key === "/") {
      return take(event, () =>
        focusOn(document.querySelector("tb-offers .filter, tb-logs .filter, tb-home .filter, tb-wire .filter")),
      );
    }
    if (event.key === "w") return take(event, () => set("wire", place().query.has("wire") ? "" : "1"));
    if (event.key === "n") return take(event, answerNext);
    if (event.key === "?") return take(event, openHelp);
    return undefined;
  });
}

/**
 * @param {Event} event
 * @param {() => unknown} act
 */
function take(event, act) {
  event.preventDefault();
  act();
}

/** @param {KeyboardEvent} event */
function escape(event) {
  const run = document.querySelector("tb-run");
  const { target } = event;
  if (target instanceof HTMLInputElement && target.type === "search" && target.value) return undefined;
  if (run?.isOpen) return take(event, () => run.cancel());
  const close = document.querySelector("tb-wire-detail .closemessage");
  if (close instanceof HTMLElement) return take(event, () => close.click());
  if (target instanceof HTMLElement && isTyping(target)) return take(event, () => target.blur());
  if (place().query.has("wire")) return take(event, () => set("wire", ""));
  if (place().object && isNarrow()) return take(event, () => go({}));
  return undefined;
}

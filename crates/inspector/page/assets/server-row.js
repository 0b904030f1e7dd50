// A row in the list of servers: its state, lists and latency, and the next action.

import { post } from "./api.js";
import { button, h, plural, span } from "./element.js";
import { svg } from "./icon.js";
import { middle } from "./latency.js";
import { address, go } from "./router.js";
import { state } from "./store.js";
import { condition, label, tile } from "./tile.js";

/** The size of the latency chart, in px, and the number of responses in it. */
const SPARK = { width: 52, height: 20, count: 14 };
/** Slower responses are marked, in ms. */
const SLOW = 300;

/**
 * @typedef {object} Acts
 * @property {() => unknown} connect
 * @property {() => void} log
 * @property {(error: unknown) => void} failed
 */

/**
 * A key of what a row shows. The row is drawn again when it changes.
 *
 * @param {Server} server
 * @param {number[]} times
 */
export function rowKey(server, times) {
  const offer = state.offers.get(server.id);
  const asks = [...state.asks.values()].filter((ask) => ask.server === server.id).length;
  const { name, status, isDown, isMissing: isGone, revision, transport, error, blocked, inputs } = server;
  const counts = offer ? [offer.tools.length, offer.prompts.length, offer.resources.length] : null;
  return JSON.stringify([
    [
      name,
      status,
      isDown,
      isGone,
      revision,
      transport,
      error?.message,
      blocked,
      inputs,
      label(server),
      Boolean(server.stderr?.length),
    ],
    [counts, asks, times.slice(-SPARK.count), state.connection],
  ]);
}

/**
 * @param {Server} server
 * @param {number[]} times
 * @param {Acts} acts
 */
export function serverRow(server, times, acts) {
  const [look, word] = condition(server);
  const offer = state.offers.get(server.id);
  const more = offer
    ? [
        offer.prompts.length ? plural(offer.prompts.length, "prompt") : null,
        offer.resources.length ? plural(offer.resources.length, "resource") : null,
      ].filter(Boolean)
    : [];
  const none = () => h("span.dim", { "aria-label": "unknown" }, "–");
  return h(
    "article.server",
    { "data-look": look, "aria-label": `${label(server)}, ${word}`, "data-id": server.id },
    tile(server, { dot: true }),
    h(
      "div.what",
      null,
      h(
        "h3.line",
        null,
        h("a.cut", { href: address({ server: server.name, tab: "tools" }) }, label(server)),
        flag(server),
        h("span.outside", null, word),
      ),
      h("p.code.dim.cut", { title: server.target }, server.target),
    ),
    h(
      "div.revision",
      null,
      h("p", null, server.revision ?? h("span.dim", null, look === "closed" ? "Not started" : "Unknown")),
      h("p.small.dim", null, server.transport ?? (/^https?:/.test(server.target) ? "HTTP" : "stdio")),
    ),
    h(
      "div.offers",
      null,
      h("p", null, offer ? plural(offer.tools.length, "tool") : none()),
      h("p.small.dim", null, more.join(", ")),
    ),
    h("div.latency.line", null, times.length ? [spark(times), h("span.nums", null, span(middle(times)))] : none()),
    actions(server, acts),
    why(server, acts),
  );
}

/** Whether a server's program does not exist and was not started yet. */
const isMissing = (/** @type {Server} */ { isMissing: is, status, blocked }) =>
  is === true && status === "closed" && !blocked;

/** @param {Server} server */
function flag(server) {
  const asks = [...state.asks.values()].filter((ask) => ask.server === server.id).length;
  if (asks) return h("span.pill.asked", null, plural(asks, "question"));
  const { kind } = server.blocked ?? {};
  if (kind === "inputs") return h("span.pill.warn", null, "Input missing");
  if (kind === "untrusted") return h("span.pill.warn", null, "Not trusted");
  if (kind === "unusable") return h("span.pill.warn", null, "Cannot be used");
  if (kind === "shadowed") return h("span.pill", null, "Not used");
  if (kind === "disabled") return h("span.pill", null, "Off");
  if (server.status === "connecting") return h("span.pill.running", null, "Connecting");
  if (isMissing(server)) return h("span.pill.warn", null, "Program not found");
  if (server.error?.who === "authorization") return h("span.pill.warn", null, "Sign-in required");
  return null;
}

/**
 * @param {Server} server
 * @param {Acts} acts
 */
function actions(server, { connect, log, failed }) {
  const name = label(server);
  const send = (/** @type {string} */ path) => () => post(`servers/${server.id}/${path}`).catch(failed);
  const isOpen = server.status === "open";
  const act = (/** @type {string} */ words, /** @type {() => unknown} */ does, look = "plain") =>
    button(words, does, { look, "aria-label": `${words} ${name}`, "data-act": "first" });
  const first = () => {
    if (isOpen) return act("Open", () => go({ server: server.name, tab: "tools" }));
    if (server.error?.who === "authorization") return act("Sign in", () => signIn(server, failed), "main");
    if (server.status === "connecting") return act("Open", () => go({ server: server.name, tab: "tools" }));
    if (server.blocked) return h("span");
    return act(server.status === "failed" ? "Retry" : "Connect", connect);
  };
  const small = (
    /** @type {string} */ words,
    /** @type {string} */ picture,
    /** @type {() => unknown} */ does,
    /** @type {string} */ what,
  ) =>
    button(words, does, {
      picture,
      quiet: true,
      look: "bare",
      "aria-label": `${words} ${name}`,
      title: `${words} ${name}`,
      "data-act": what,
    });
  return h(
    "div.acts",
    null,
    first(),
    small("Log of", "log", log, "log"),
    isOpen ? small("Restart", "again", connect, "restart") : h("span"),
    isOpen || server.status === "connecting"
      ? small("Stop", "stop", send("close"), "stop")
      : small("More about", "more", () => go({ server: server.name, tab: "server" }), "more"),
  );
}

/**
 * Starts the sign-in and opens the tab with its steps.
 *
 * @param {Server} server
 * @param {(error: unknown) => void} failed
 */
function signIn(server, failed) {
  go({ server: server.name, tab: "server" });
  return post(`servers/${server.id}/login`).catch(failed);
}

/**
 * The problem of a server, shown below its row, with an action that solves it.
 *
 * @param {Server} server
 * @param {Acts} acts
 */
function why(server, { log, failed }) {
  const { blocked, error, inputs = [] } = server;
  if (blocked?.kind === "inputs") return inputForm(server, inputs, failed);
  if (blocked?.kind === "untrusted") {
    return h(
      "div.why.warn",
      null,
      h(
        "span",
        null,
        "The project's file ",
        h("code", null, blocked.file),
        " starts programs. Use it only if you trust it.",
      ),
      h("span.spring"),
      button("Trust this file", () => post(`servers/${server.id}/trust`).catch(failed)),
    );
  }
  if (blocked?.kind === "unusable") return h("div.why.warn", null, h("span", null, blocked.message));
  if (blocked?.kind === "shadowed") {
    return h(
      "div.why",
      null,
      h("span", null, "Its name is taken by ", h("code", null, blocked.by), ", which is read first."),
      h("span.spring"),
      renameForm(server, failed),
    );
  }
  if (isMissing(server)) {
    return h(
      "div.why.warn",
      null,
      h("span", null, "The program does not exist: check its name, the PATH and the folder."),
    );
  }
  if (server.status !== "failed" || !error || error.who === "authorization") return null;
  const printed = server.stderr?.findLast((line) => line.trim() !== "");
  return h(
    "div.why.error",
    null,
    h("strong.c", null, brief(printed ? withoutPrint(error.message) : error.message)),
    h("code.cut", null, printed ?? error.causes?.at(-1) ?? ""),
    h("span.spring"),
    server.stderr?.length ? button("Show log", log, { look: "link" }) : null,
  );
}

/** A message without the server's name, which the row shows. */
function brief(/** @type {string} */ message) {
  const said = message.replace(/^server `[^`]*` /, "").replace("its process ended with exit status:", "exit code");
  return `${said[0]?.toUpperCase() ?? ""}${said.slice(1)}`.replaceAll("`", "");
}

/** A message without the lines that the program printed, which are in its log. */
const withoutPrint = (/** @type {string} */ message) =>
  message.split("\n", 1)[0].replace(/; its standard error ended with:$/, "");

/**
 * @param {Server} server
 * @param {Input[]} inputs
 * @param {(error: unknown) => void} failed
 */
function inputForm(server, inputs, failed) {
  const missing = inputs.filter((input) => !input.hasValue);
  const fields = missing.map((input) => ({ input, control: inputControl(input, `${server.id}-${input.id}`) }));
  const give = () => {
    const given = Object.fromEntries(fields.map(({ input, control }) => [input.id, control.value]));
    return post(`servers/${server.id}/inputs`, given).catch(failed);
  };
  return h(
    "form.why.warn",
    {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void give();
      },
    },
    fields.map(({ input, control }) =>
      h(
        "div.input",
        null,
        h("label", { for: control.id }, h("code", null, input.id), " "),
        h("span.small", null, input.description === input.id ? "" : input.description),
        h("span.spring"),
        control,
      ),
    ),
    h("button.plain", { type: "submit" }, "Set"),
  );
}

/**
 * A form for another name, so that a server can be used beside one with the same name.
 *
 * @param {Server} server
 * @param {(error: unknown) => void} failed
 */
function renameForm(server, failed) {
  const control = h("input", {
    id: `name-${server.id}`,
    type: "text",
    autocomplete: "off",
    value: server.name,
    "aria-label": `Other name for ${label(server)}`,
    "data-act": "name",
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void post(`servers/${server.id}/rename`, { name: control.value }).catch(failed);
  };
  return h(
    "form.line",
    { onsubmit: submit },
    control,
    h("button.plain", { type: "submit", "aria-label": `Rename ${label(server)}` }, "Rename"),
  );
}

/**
 * @param {Input} input
 * @param {string} id
 */
export function inputControl(input, id) {
  if (input.options.length) {
    return h(
      "select",
      { id },
      input.options.map((one) => h("option", { value: one }, one)),
    );
  }
  return h("input", {
    id,
    type: input.isSecret ? "password" : "text",
    autocomplete: "off",
    value: input.default ?? "",
  });
}

/**
 * The latest response times as a small chart.
 *
 * @param {number[]} times
 */
export function spark(times) {
  const shown = times.slice(-SPARK.count);
  const most = Math.max(...shown, 1);
  const step = SPARK.width / Math.max(1, shown.length - 1);
  const at = (/** @type {number} */ ms) => (SPARK.height - 2 - (ms / most) * (SPARK.height - 5)).toFixed(1);
  const points = shown.map((ms, index) => `${(index * step).toFixed(1)},${at(ms)}`);
  if (points.length === 1) points.push(`${SPARK.width},${at(shown[0])}`);
  const picture = svg("svg", {
    class: middle(times) > SLOW ? "spark warn" : "spark",
    width: SPARK.width,
    height: SPARK.height,
    viewBox: `0 0 ${SPARK.width} ${SPARK.height}`,
    "aria-hidden": "true",
  });
  picture.append(svg("polyline", { points: points.join(" ") }));
  return picture;
}

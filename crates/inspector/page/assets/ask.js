// A question of the server to the user, in the timeline of its call.

import { post } from "./api.js";
import { View, button, bytes, h, messageOf } from "./element.js";
import { asList, isObject, parse, print } from "./json.js";
import { contentBlock } from "./result.js";
import { filledIn } from "./schema.js";
import { state } from "./store.js";
import { label } from "./tile.js";
import { tree } from "./tree.js";
import "./schema-form.js";

/** @typedef {{ messages?: { role: string, content: JsonObject | JsonObject[] }[], systemPrompt?: string }} Sampling */

/** The sampling reply that the user chose to reuse, for as long as this page is open. */
const canned = { text: "", isKept: false };

export class Ask extends View {
  /** @type {Question} */
  ask;
  /** @type {HTMLElement} */
  problem;
  /** @type {HTMLElement} */
  order;
  /** @param {Question} ask */
  setup(ask) {
    this.ask = ask;
    return this;
  }
  start() {
    if (this.firstChild) return;
    const { ask } = this;
    this.className = "card asked";
    const server = state.servers.get(ask.server);
    const from = server ? label(server) : ask.server;
    const [kind, about] = kindOfAsk(ask, from);
    const held = ask.stateBytes ? `server state (${bytes(ask.stateBytes)})` : null;
    this.problem = h("div.problem", { role: "alert" });
    this.order ??= h("span.count");
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", `${kind}: ${about}`);
    this.append(
      h(
        "header",
        null,
        h("span.pill.asked", null, kind),
        h("span.dim.small.cut", null, [about, held].filter(Boolean).join(", ")),
        h("span.spring"),
        this.order,
      ),
      h("div.inside", null, ...this.body(), this.problem),
    );
  }
  /**
   * Shows the question's position among the open questions.
   *
   * @param {[number, number]} of
   */
  count([at, count]) {
    this.order ??= h("span.count");
    this.order.textContent = count > 1 ? `${at} of ${count}` : "";
  }
  /** @returns {(Node | string)[]} */
  body() {
    try {
      return this.known();
    } catch {
      // The parameters do not fit the method: show them as JSON, and answer with JSON.
      return this.anything();
    }
  }
  /** @returns {(Node | string)[]} */
  known() {
    const { method, params } = this.ask;
    if (method === "elicitation/create") return params.mode === "url" ? this.visit() : this.form();
    if (method === "sampling/createMessage") return this.sample();
    if (method === "roots/list") return this.roots();
    return this.anything();
  }
  /** @param {object} body */
  async answer(body) {
    try {
      for (const one of this.querySelectorAll("button")) one.disabled = true;
      await post(`asks/${this.ask.id}`, body);
    } catch (error) {
      this.problem.textContent = messageOf(error);
      for (const one of this.querySelectorAll("button")) one.disabled = false;
    }
  }
  /**
   * @param {() => unknown} act
   * @param {string} about
   */
  actions(act, about) {
    const accept = button("Accept", act, { look: "main", title: about });
    accept.append(h("kbd", null, "Ctrl Enter"));
    return h(
      "div.actions",
      null,
      accept,
      button("Decline", () => this.answer({ refuse: "decline" }), {
        title: "Says no; the server is told that you declined",
      }),
      button("Cancel", () => this.answer({ refuse: "cancel" }), {
        look: "bare",
        title: "Closes the question without an answer; the server is told that you cancelled",
      }),
    );
  }
  form() {
    const params = /** @type {{ message: string, requestedSchema?: Schema }} */ (
      /** @type {unknown} */ (this.ask.params)
    );
    const form = document.createElement("tb-form").setup({
      schema: params.requestedSchema,
      // The server proposes these answers. They are sent unless the user changes them.
      value: filledIn(params.requestedSchema),
      label: "Answer",
    });
    const submit = () => {
      if (form.problems.length) return form.focusFirst();
      return this.answer({ result: { action: "accept", content: form.value } });
    };
    this.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      submit();
    });
    return [
      h("h2.message", null, params.message),
      form,
      this.actions(submit, "Sends these values to the server"),
      h("p.dim.small", null, "Decline tells the server no. Cancel leaves the question without an answer."),
    ];
  }
  visit() {
    const params = /** @type {{ message: string, url: string }} */ (/** @type {unknown} */ (this.ask.params));
    let host = params.url;
    let isSafe = false;
    /** @type {string[]} */
    let warnings = [];
    try {
      const url = new URL(params.url);
      host = url.host;
      isSafe = /^https?:$/.test(url.protocol);
      warnings = warningsOf(url);
    } catch {
      // The URL is invalid: it is shown as text, without a link.
    }
    return [
      h("p.host", null, host),
      h("p.url", null, h("code", null, params.url)),
      ...warnings.map((words) => h("p.note", null, words)),
      h("h2.message", null, params.message),
      isSafe
        ? h(
            "p",
            null,
            h("a.plain", { href: params.url, target: "_blank", rel: "noopener noreferrer" }, "Open it in a new tab"),
          )
        : h("p.problem", null, "This is not a web address, so the page does not offer to open it."),
      this.actions(
        () => this.answer({ result: { action: "accept" } }),
        "Tells the server that you agreed to visit the address",
      ),
      h("p.dim.small", null, "Nothing opens by itself. What you do there stays between you and that host."),
    ];
  }
  sample() {
    const { messages = [], systemPrompt, ...rest } = /** @type {Sampling} */ (/** @type {unknown} */ (this.ask.params));
    const reply = h("textarea.long", {
      rows: 3,
      "aria-label": "Reply of the model",
      value: canned.text,
      placeholder: "Write the model's reply",
    });
    const model = h("input", { type: "text", "aria-label": "Name of the model", value: "by-hand" });
    const keep = h("input", { type: "checkbox", checked: canned.isKept });
    const send = () => {
      Object.assign(canned, { isKept: keep.checked, text: keep.checked ? reply.value : "" });
      return this.answer({
        result: {
          role: "assistant",
          content: { type: "text", text: reply.value },
          model: model.value,
          stopReason: "endTurn",
        },
      });
    };
    const said = messages.flatMap((message) => asList(message.content).map((block) => ({ role: message.role, block })));
    return [
      h(
        "dl.given",
        null,
        h("dt", null, "System prompt"),
        h("dd", null, systemPrompt === undefined ? h("span.dim", null, "none") : h("pre.text", null, systemPrompt)),
        said.flatMap(({ role, block }) => [
          h("dt", null, role === "user" ? "User" : role === "assistant" ? "Assistant" : role),
          h("dd", null, contentBlock(block)),
        ]),
        Object.entries(rest).flatMap(([name, value]) => [
          h("dt", null, name),
          h("dd", null, isObject(value) || Array.isArray(value) ? tree(value, { search: false }) : print(value)),
        ]),
        h("dt", null, "Model"),
        h("dd", null, model),
      ),
      reply,
      h("label.check", null, keep, "Offer this reply again until the page is closed"),
      h(
        "div.actions",
        null,
        button("Send reply", send, { look: "main" }),
        button("Refuse", () => this.answer({ error: { code: -1, message: "User rejected sampling request" } }), {
          look: "bare",
          title: "Answers with an error: you do not allow it",
        }),
      ),
    ];
  }
  roots() {
    const area = h("textarea.long", {
      rows: 3,
      value: state.roots.map((root) => root.uri).join("\n"),
      "aria-label": "Roots, one URI a line",
      placeholder: "file:///home/you/project",
    });
    const send = () =>
      this.answer({
        result: {
          roots: area.value
            .split("\n")
            .map((line) => line.trim())
            .filter(Boolean)
            .map((uri) => ({ uri })),
        },
      });
    return [
      h("h2.message", null, "Which folders may it work in?"),
      area,
      h(
        "div.actions",
        null,
        button("Share these roots", send, { look: "main" }),
        button("Refuse", () => this.answer({ error: { code: -1, message: "User rejected the request" } }), {
          look: "bare",
        }),
      ),
    ];
  }
  anything() {
    const area = h("textarea.code.whole", { "aria-label": "Result as JSON", value: "{}" });
    const send = () => {
      try {
        return this.answer({ result: parse(area.value) });
      } catch (error) {
        return (this.problem.textContent = messageOf(error));
      }
    };
    return [
      h("h2.message", null, this.ask.method),
      tree(this.ask.params ?? null),
      area,
      h(
        "div.actions",
        null,
        button("Answer", send, { look: "main" }),
        button("Refuse", () => this.answer({ error: { code: -32601, message: "not supported" } }), { look: "bare" }),
      ),
    ];
  }
}
customElements.define("tb-ask", Ask);

/**
 * Warnings about a URL before the user opens it.
 *
 * @param {URL} url
 */
function warningsOf(url) {
  const isHere = /^(localhost|127\.|\[::1\])/.test(url.hostname);
  return [
    /(^|\.)xn--/.test(url.hostname) ? "The host is written in Punycode: it may look like another." : "",
    url.username ? "The text before the @ is not the host." : "",
    url.protocol === "http:" && !isHere ? "The connection is not encrypted." : "",
  ].filter(Boolean);
}

/**
 * The kind of a question, and who asks it.
 *
 * @param {Question} ask
 * @param {string} from
 * @returns {[string, string]}
 */
function kindOfAsk({ method, params }, from) {
  if (method === "sampling/createMessage") return ["Sampling", `${from} wants a model's reply`];
  if (method === "roots/list") return ["Roots", `${from} wants the roots`];
  if (method !== "elicitation/create") return ["Question", `${method} from ${from}`];
  return params?.mode === "url" ? ["Visit", `URL elicitation from ${from}`] : ["Form", `Elicitation from ${from}`];
}

/** Elements by question: a question keeps its element and its input when it moves to its call. */
/** @type {Map<string, Ask>} */
const shown = new Map();
/**
 * @param {Question} ask
 * @param {[number, number]} of the question's position and the number of questions
 */
export function askElement(ask, of) {
  for (const id of shown.keys()) if (!state.asks.has(id)) shown.delete(id);
  const known = shown.get(ask.id) ?? document.createElement("tb-ask").setup(ask);
  shown.set(ask.id, known);
  known.count(of);
  return known;
}

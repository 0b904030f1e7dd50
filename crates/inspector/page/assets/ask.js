// A question of the server, in the timeline of the call that it belongs to.

import { post } from "./api.js";
import { View, button, bytes, h, messageOf } from "./element.js";
import { asList, parse } from "./json.js";
import { brief } from "./prose.js";
import { contentBlock } from "./result.js";
import { state } from "./store.js";
import { tree } from "./tree.js";
import "./schema-form.js";

/** @typedef {{ messages?: { role: string, content: JsonObject | JsonObject[] }[], systemPrompt?: string }} Sampling */

/** Replies that somebody wished to give again, for as long as this page is open. */
const canned = { text: "", isKept: false };

export class Ask extends View {
  /** @type {Question} */
  ask;
  /** @type {HTMLElement} */
  problem;
  /** @param {Question} ask */
  setup(ask) {
    this.ask = ask;
    return this;
  }
  start() {
    if (this.firstChild) return;
    const { ask } = this;
    this.className = "ask";
    const server = state.servers.get(ask.server);
    const round = ask.round ? `round ${ask.round}` : null;
    const opaque = ask.stateBytes ? `${bytes(ask.stateBytes)} of opaque state` : null;
    this.problem = h("div.problem", { role: "alert" });
    this.append(
      h(
        "div.askhead",
        null,
        h("span.pill.asked", null, "asks you"),
        h("strong", null, server?.name ?? ask.server),
        h("span.dim", null, [round, opaque].filter(Boolean).join(" · ")),
      ),
      ...this.body(),
      this.problem,
    );
  }
  /** @returns {(Node | string)[]} */
  body() {
    try {
      return this.known();
    } catch {
      // It is not what its method says: it is shown and answered as it is.
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
   * @param {string} words
   * @param {() => unknown} act
   * @param {string} about
   */
  actions(words, act, about) {
    return h(
      "div.actions",
      null,
      button(words, act, { look: "main", title: about }),
      button("Decline", () => this.answer({ refuse: "decline" }), {
        title: "Says no; the server hears that you declined",
      }),
      button("Cancel", () => this.answer({ refuse: "cancel" }), {
        title: "Closes the question without an answer; the server hears that you cancelled",
      }),
    );
  }
  form() {
    const params = /** @type {{ message: string, requestedSchema?: Schema }} */ (
      /** @type {unknown} */ (this.ask.params)
    );
    const form = document.createElement("tb-form").setup({ schema: params.requestedSchema, label: "Answer" });
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
      h("p.message", null, params.message),
      form,
      this.actions("Submit", submit, "Sends these values to the server"),
      h("p.dim.small", null, "Submit sends the values. Decline says no. Cancel leaves the question unanswered."),
    ];
  }
  visit() {
    const params = /** @type {{ message: string, url: string }} */ (/** @type {unknown} */ (this.ask.params));
    let host = params.url;
    let isSafe = false;
    try {
      const url = new URL(params.url);
      host = url.host;
      isSafe = /^https?:$/.test(url.protocol);
    } catch {
      // It is shown as it came, and cannot be opened.
    }
    return [
      h("p.message", null, params.message),
      h("p.host", null, host),
      h("p.url", null, h("code", null, params.url)),
      isSafe
        ? h(
            "p",
            null,
            h("a.plain", { href: params.url, target: "_blank", rel: "noopener noreferrer" }, "Open it in a new tab"),
          )
        : h("p.problem", null, "This is not a web address, so the page does not offer to open it."),
      this.actions(
        "I agree",
        () => this.answer({ result: { action: "accept" } }),
        "Tells the server that you agreed to visit the address",
      ),
      h("p.dim.small", null, "Nothing opens by itself. What you do there stays between you and that host."),
    ];
  }
  sample() {
    const { messages = [], systemPrompt, ...rest } = /** @type {Sampling} */ (/** @type {unknown} */ (this.ask.params));
    const reply = h("textarea.long", {
      rows: 4,
      "aria-label": "Reply of the model",
      value: canned.text,
      placeholder: "the model's reply",
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
    return [
      h("p.message", null, "wants a reply from your model"),
      systemPrompt !== undefined
        ? h("div.block", null, h("div.kind", null, "system prompt"), h("pre.text", null, systemPrompt))
        : h("p.dim.small", null, "No system prompt."),
      ...messages.flatMap((message) =>
        asList(message.content).map((block) => contentBlock({ ...block, role: message.role })),
      ),
      Object.keys(rest).length
        ? h("div.block", null, h("div.kind", null, "limits, hints and tools"), tree(rest, { search: false }))
        : "",
      h("div.pair", null, h("span.dim", null, "Model"), model),
      reply,
      h("label.check", null, keep, "Offer this reply again until the page is closed"),
      h(
        "div.actions",
        null,
        button("Send the reply", send, { look: "main" }),
        button("Refuse", () => this.answer({ error: { code: -1, message: "User rejected sampling request" } }), {
          title: "Answers with an error: you do not allow it",
        }),
      ),
    ];
  }
  roots() {
    const area = h("textarea.long", {
      rows: 3,
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
      h("p.message", null, "wants to know which folders it may work in"),
      area,
      h(
        "div.actions",
        null,
        button("Send these roots", send, { look: "main" }),
        button("Refuse", () => this.answer({ error: { code: -1, message: "User rejected the request" } })),
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
      h("p.message", null, this.ask.method),
      tree(this.ask.params ?? null),
      area,
      h(
        "div.actions",
        null,
        button("Answer", send, { look: "main" }),
        button("Refuse", () => this.answer({ error: { code: -32601, message: "not supported" } })),
      ),
    ];
  }
}
customElements.define("tb-ask", Ask);

/**
 * A question in a line.
 *
 * @param {Question} ask
 */
export function askWords({ method, params }) {
  if (method === "sampling/createMessage") return "a reply from your model";
  return method === "elicitation/create" && typeof params?.message === "string" ? brief(params.message) : method;
}

/** A question keeps its element, and what was filled in, when it moves to the call it belongs to. */
/** @type {Map<string, Ask>} */
const shown = new Map();
/** @param {Question} ask */
export function askElement(ask) {
  for (const id of shown.keys()) if (!state.asks.has(id)) shown.delete(id);
  const known = shown.get(ask.id) ?? document.createElement("tb-ask").setup(ask);
  shown.set(ask.id, known);
  return known;
}

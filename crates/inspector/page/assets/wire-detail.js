// One message as it was sent: its body, its HTTP, its times; copied, or sent again with edits.

import { get } from "./api.js";
import { View, button, bytes, clock, copyButton, h, messageOf, span, tabs } from "./element.js";
import { quote } from "./command-line.js";
import { longText } from "./long-text.js";
import { parse, print } from "./json.js";
import { start, state } from "./store.js";
import { tree } from "./tree.js";

export class WireDetail extends View {
  /** @type {WireMessage} */
  row;
  look = "message";
  /**
   * @typedef {object} Options
   * @property {number} seq
   * @property {string} server
   * @property {() => void} close
   * @property {(n: number) => void} only shows the messages of one call alone
   */
  /** @type {Options} */
  options;
  /** @param {Options} options */
  setup(options) {
    this.options = options;
    return this;
  }
  async start() {
    this.replaceChildren(h("p.dim", null, "Reading…"));
    try {
      this.row = await get(`wire/${this.options.seq}`);
      if (this.isConnected) this.draw();
    } catch (error) {
      this.replaceChildren(
        h("p.problem", null, messageOf(error)),
        button("Close the message", this.options.close, { picture: "close" }),
      );
    }
  }
  draw() {
    const { row } = this;
    const over = row.http;
    const { command } = this.exchange ?? {};
    const isRequest = row.message?.method !== undefined && row.direction === "out";
    /** @type {[string, string][]} */
    const choices = [
      ["message", "Message"],
      ["raw", "Raw"],
      .../** @type {[string, string][]} */ (over ? [["http", "HTTP"]] : []),
      ["time", "Timing"],
      .../** @type {[string, string][]} */ (isRequest ? [["again", "Replay"]] : []),
    ];
    /** @type {Record<string, () => Child>} */
    const bodies = {
      message: () => (row.message === null ? h("p.dim", null, "No body.") : tree(row.message)),
      raw: () => longText((most) => print(row.message, 2, most)),
      http: () => over && http(over),
      time: () => timing(row),
      again: () => this.replay(),
    };
    this.replaceChildren(
      tabs(
        "Message",
        choices,
        this.look,
        (look) => {
          this.look = look;
          this.draw();
        },
        h(
          "div.tools",
          null,
          button("Close the message", this.options.close, { picture: "close", quiet: true, look: "bare" }),
        ),
      ),
      h("div.detailbody", { tabindex: "0", role: "region", "aria-label": "Message" }, bodies[this.look]()),
      h(
        "div.actions",
        null,
        copyButton("JSON-RPC", () => print(row.message, 2)),
        over && row.direction === "out" ? copyButton("cURL", () => curl(over, row.message)) : null,
        command ? copyButton("turnbuckle", command) : null,
        row.exchange ? button("Only this call", () => this.options.only(Number(row.exchange))) : null,
      ),
    );
  }
  get exchange() {
    return state.exchanges.get(this.row.exchange ?? -1);
  }
  replay() {
    const { message } = this.row;
    const { _meta, ...params } = message?.params ?? {};
    const method = h("input", { type: "text", value: message?.method, "aria-label": "Method" });
    const area = h("textarea.code.whole", {
      "aria-label": "Parameters as JSON",
      spellcheck: "false",
      value: print(params, 2),
    });
    const note = h("div.problem", { role: "status" });
    const send = async () => {
      try {
        const n = await start(this.options.server, method.value, parse(area.value));
        note.textContent = `sent as call ${n}`;
        this.options.only(n);
      } catch (error) {
        note.textContent = messageOf(error);
      }
    };
    return h(
      "div.replay",
      null,
      method,
      area,
      note,
      button("Send", send, { look: "main" }),
      _meta ? h("p.dim.small", null, "What the protocol itself puts into `_meta` is made anew.") : null,
    );
  }
}
customElements.define("tb-wire-detail", WireDetail);

/** @param {HttpExchange} of */
function http(of) {
  const list = (/** @type {string} */ label, /** @type {[string, string][]} */ headers = []) => [
    h("p.kind", null, label),
    h(
      "dl.headers",
      null,
      headers.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
    ),
  ];
  return h(
    "div",
    null,
    h("p", null, h("strong", null, of.method), " ", h("code", null, of.url), ` ${of.status ?? ""}`),
    list("request", of.requestHeaders),
    list("response", of.responseHeaders),
  );
}

/** @param {WireMessage} row */
function timing(row) {
  const facts = [
    ["time", clock(row.time)],
    ["answered after", row.ms === null || row.ms === undefined ? "–" : span(row.ms)],
    ["first byte after", row.http?.firstByteMs ? span(row.http.firstByteMs) : "–"],
    ["size", bytes(row.bytes ?? 0)],
    ["call", row.exchange ?? "–"],
    ["round", row.round ?? "–"],
    ["sequence", row.seq],
  ];
  return h(
    "dl.headers",
    null,
    facts.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, String(value))]),
  );
}

/**
 * Masked headers stay masked: the line says where a secret belongs.
 *
 * @param {HttpExchange} of
 * @param {WireMessage["message"]} message
 */
function curl(of, message) {
  const headers = (of.requestHeaders ?? []).filter(
    ([name]) => !/^(host|content-length|connection|accept-encoding)$/i.test(name),
  );
  return [
    "curl",
    "-sS",
    "-X",
    of.method,
    quote(of.url),
    ...headers.flatMap(([name, value]) => ["-H", quote(`${name}: ${value}`)]),
    ...(message ? ["--data-raw", quote(print(message))] : []),
  ].join(" ");
}

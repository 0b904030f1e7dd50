// One exchange as it was sent: request and response, headers and times. It can be copied, or edited and sent again.

import { get } from "./api.js";
import { View, button, bytes, clock, copyButton, h, messageOf, span, tabs } from "./element.js";
import { quote } from "./command-line.js";
import { icon } from "./icon.js";
import { longText } from "./long-text.js";
import { parse, print } from "./json.js";
import { address } from "./router.js";
import { start, state } from "./store.js";
import { tile } from "./tile.js";
import { tree } from "./tree.js";
import { seek } from "./wire-pairs.js";
import { lookOf, nameOf, statusOf } from "./wire-row.js";

export class WireDetail extends View {
  /** @type {WireMessage} the request, or the only message */
  row;
  /** @type {WireMessage | null} */
  answer = null;
  look = "message";
  /**
   * @typedef {object} Options
   * @property {number} seq
   * @property {() => void} close
   * @property {(n: number) => void} only shows the messages of one call
   */
  /** @type {Options} */
  options;
  /** @param {Options} options */
  setup(options) {
    this.options = options;
    return this;
  }
  async start() {
    this.replaceChildren(h("p.empty", null, "Reading…"));
    await this.load();
    this.watch("wire", (keys) => !this.answer && keys.has(this.options.seq) && this.load());
  }
  async load() {
    try {
      this.row = await get(`wire/${this.options.seq}`);
      const { answer } = this.pair ?? {};
      this.answer = answer ? await get(`wire/${answer}`) : null;
      if (this.isConnected) this.draw();
    } catch (error) {
      this.replaceChildren(
        h("p.problem", null, messageOf(error)),
        button("Close the message", this.options.close, { picture: "close" }),
      );
    }
  }
  /** The row of the list, which has the response's number. */
  get pair() {
    const pair = state.pairs[seek(state.pairs, this.options.seq)];
    return pair?.seq === this.options.seq ? pair : undefined;
  }
  draw() {
    const { row } = this;
    const over = row.http;
    const isRequest = row.message?.method !== undefined && row.direction === "out";
    /** @type {[string, string][]} */
    const choices = [
      ["message", "Messages"],
      .../** @type {[string, string][]} */ (over ? [["http", "Headers"]] : []),
      ["time", "Timing"],
      ["raw", "Raw"],
      .../** @type {[string, string][]} */ (isRequest ? [["again", "Resend"]] : []),
    ];
    /** @type {Record<string, () => Child>} */
    const bodies = {
      message: () => this.messages(),
      raw: () => [row, this.answer].map((one) => one && longText((most) => print(one.message, 2, most))),
      http: () => over && http(over),
      time: () => this.timing(),
      again: () => this.replay(),
    };
    const see = (/** @type {string} */ look) => {
      this.look = look;
      this.draw();
    };
    this.replaceChildren(
      this.head(),
      tabs("Message", choices, this.look, see),
      h("div.scroll.detailbody", { tabindex: "0", role: "region", "aria-label": "Message" }, bodies[this.look]()),
      this.foot(),
    );
  }
  head() {
    const { row } = this;
    const pair = this.pair ?? row;
    const server = state.servers.get(row.server);
    const facts = [
      row.id === null || row.id === undefined ? null : `id ${print(row.id)}`,
      pair.ms ? span(pair.ms) : null,
    ];
    return h(
      "div.bar",
      null,
      h(
        "div.who",
        null,
        h("p.cut", null, h("code", null, nameOf(row)), " ", h("code", null, h("strong", null, row.object ?? ""))),
        h(
          "p.line.small.dim",
          null,
          server ? tile(server, { tiny: true }) : null,
          h("span.cut", null, facts.filter(Boolean).join(", ")),
          h(`strong.status.${lookOf(pair) || "plain"}`, null, statusOf(pair)),
        ),
      ),
      h("span.spring"),
      button("Close the message", this.options.close, { picture: "close", quiet: true, look: "bare.closemessage" }),
    );
  }
  messages() {
    const { row, answer } = this;
    const part = (/** @type {string} */ words, /** @type {WireMessage} */ one) =>
      h(
        "section.stack",
        null,
        h(
          "h2.line.kind",
          null,
          icon(one.direction),
          words,
          h("span.spring"),
          h(
            "span.count",
            null,
            [one.http?.status ? `HTTP ${one.http.status}` : null, bytes(one.bytes ?? 0)].filter(Boolean).join(", "),
          ),
        ),
        one.message === null ? h("p.dim", null, "No body.") : tree(one.message),
      );
    const words = row.kind === "notification" ? "Notification" : row.kind === "response" ? "Response" : "Request";
    const call = state.exchanges.get(row.exchange ?? -1);
    const isWaiting = call?.status === "asked";
    return [
      part(words, row),
      answer ? part("Response", { ...answer, http: row.http }) : null,
      isWaiting
        ? h(
            "p.line.quote",
            null,
            icon("ask"),
            "Part of a call that is still waiting.",
            h("span.spring"),
            h(
              "a",
              {
                href: address({
                  server: state.servers.get(row.server)?.name,
                  tab: "tools",
                  object: call.object,
                  query: { run: call.n, wire: "" },
                }),
              },
              "Open the call",
            ),
          )
        : null,
    ];
  }
  foot() {
    const { row } = this;
    const over = row.http;
    const { command } = state.exchanges.get(row.exchange ?? -1) ?? {};
    return h(
      "footer.foot",
      null,
      h(
        "div.actions",
        null,
        copyButton("JSON-RPC", () => print(row.message, 2)),
        over && row.direction === "out" ? copyButton("cURL", () => curl(over, row.message)) : null,
        command ? copyButton("turnbuckle", command) : null,
        row.exchange ? button("Only this call", () => this.options.only(Number(row.exchange)), { look: "bare" }) : null,
      ),
    );
  }
  timing() {
    const { row } = this;
    const { ms } = this.pair ?? row;
    const facts = [
      ["time", clock(row.time)],
      ["answered after", ms === null || ms === undefined ? "–" : span(ms)],
      ["first byte after", row.http?.firstByteMs ? span(row.http.firstByteMs) : "–"],
      ["request", bytes(row.bytes ?? 0)],
      ["response", this.answer ? bytes(this.answer.bytes ?? 0) : "–"],
      ["call", row.exchange ?? "–"],
      ["step", row.round ?? "–"],
      ["sequence", row.seq],
    ];
    return h(
      "dl.given",
      null,
      facts.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, String(value))]),
    );
  }
  replay() {
    const { message } = this.row;
    const { _meta, ...params } = message?.params ?? {};
    const method = h("input.code", { type: "text", value: message?.method, "aria-label": "Method" });
    const area = h("textarea.code.whole", {
      "aria-label": "Parameters as JSON",
      spellcheck: "false",
      value: print(params, 2),
    });
    const note = h("div.problem", { role: "status" });
    const send = async () => {
      try {
        const n = await start(this.row.server, method.value, parse(area.value));
        note.textContent = `sent as call ${n}`;
        this.options.only(n);
      } catch (error) {
        note.textContent = messageOf(error);
      }
    };
    return h(
      "div.stack.replay",
      null,
      method,
      area,
      note,
      h("div.actions", null, button("Send", send, { look: "main" })),
      _meta ? h("p.dim.small", null, "The members that the protocol adds to `_meta` are set again.") : null,
    );
  }
}
customElements.define("tb-wire-detail", WireDetail);

/** @param {HttpExchange} of */
function http(of) {
  const list = (/** @type {string} */ label, /** @type {[string, string][]} */ headers = []) => [
    h("h2.kind", null, label),
    h(
      "dl.given",
      null,
      headers.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
    ),
  ];
  return h(
    "div.stack",
    null,
    h("p", null, h("strong", null, of.method), " ", h("code", null, of.url), ` ${of.status ?? ""}`),
    list("request", of.requestHeaders),
    list("response", of.responseHeaders),
  );
}

/**
 * A `curl` command. Masked headers stay masked, so the user has to fill in the secrets.
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

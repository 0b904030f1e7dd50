// One message as it was sent: its body, its HTTP, its times; copied, or sent again with edits.

import { get } from "./api.js";
import { View, button, bytes, clock, copyButton, h, span, tabs } from "./element.js";
import { quote } from "./command-line.js";
import { longText } from "./long-text.js";
import { parse, print } from "./json.js";
import { start, state } from "./store.js";
import { tree } from "./tree.js";

export class WireDetail extends View {
  setup(of) {
    Object.assign(this, of);
    this.look = "message";
    return this;
  }
  async start() {
    this.replaceChildren(h("p.dim", null, "Reading…"));
    try {
      this.row = await get(`wire/${this.seq}`);
      if (this.isConnected) this.draw();
    } catch (error) {
      this.replaceChildren(
        h("p.problem", null, error.message),
        button("Close the message", this.close, { picture: "close" }),
      );
    }
  }
  draw() {
    const { row } = this;
    const isRequest = row.message?.method !== undefined && row.direction === "out";
    const choices = [
      ["message", "Message"],
      ["raw", "Raw"],
      ...(row.http ? [["http", "HTTP"]] : []),
      ["time", "Timing"],
      ...(isRequest ? [["again", "Replay"]] : []),
    ];
    const body = {
      message: () => (row.message === null ? h("p.dim", null, "No body.") : tree(row.message)),
      raw: () => longText((most) => print(row.message, 2, most)),
      http: () => http(row.http),
      time: () => timing(row),
      again: () => this.replay(),
    }[this.look]();
    this.replaceChildren(
      tabs(
        "Message",
        choices,
        this.look,
        (look) => {
          this.look = look;
          this.draw();
        },
        h("div.tools", null, button("Close the message", this.close, { picture: "close", quiet: true, look: "bare" })),
      ),
      h("div.detailbody", { tabindex: "0", role: "region", "aria-label": "Message" }, body),
      h(
        "div.actions",
        null,
        copyButton("JSON-RPC", () => print(row.message, 2)),
        row.http && row.direction === "out" ? copyButton("cURL", () => curl(row)) : null,
        this.exchange?.command ? copyButton("turnbuckle", () => this.exchange.command) : null,
        row.exchange ? button("Only this call", () => this.only(row.exchange)) : null,
      ),
    );
  }
  get exchange() {
    return state.exchanges.get(this.row.exchange);
  }
  replay() {
    const { message } = this.row;
    const { _meta, ...params } = message.params ?? {};
    const method = h("input", { type: "text", value: message.method, "aria-label": "Method" });
    const area = h("textarea.code.whole", {
      "aria-label": "Parameters as JSON",
      spellcheck: "false",
      value: print(params, 2),
    });
    const note = h("div.problem", { role: "status" });
    const send = async () => {
      try {
        const n = await start(this.server, method.value, parse(area.value));
        note.textContent = `sent as call ${n}`;
        this.only(n);
      } catch (error) {
        note.textContent = error.message;
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

function http(of) {
  const list = (label, headers) => [
    h("p.kind", null, label),
    h(
      "dl.headers",
      null,
      (headers ?? []).flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
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

/** Masked headers stay masked: the line says where a secret belongs. */
function curl(row) {
  const headers = (row.http.requestHeaders ?? []).filter(
    ([name]) => !/^(host|content-length|connection|accept-encoding)$/i.test(name),
  );
  return [
    "curl",
    "-sS",
    "-X",
    row.http.method,
    quote(row.http.url),
    ...headers.flatMap(([name, value]) => ["-H", quote(`${name}: ${value}`)]),
    ...(row.message ? ["--data-raw", quote(print(row.message))] : []),
  ].join(" ");
}

// A fake binary: the inspector's API with answers of any size, for the page's tests.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";

import { listen } from "../../../scripts/child.mjs";
import { offer, server, dead, everything, RESULTS } from "./fake-offer.mjs";

const PAGE = new URL("../page/", import.meta.url);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "media-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
export const TOKEN = "fake-token";

/** Starts it. `tools` and `rows` are numbers, `more` are additional tools, `servers` are the known servers. */
export async function serveFake({ tools = 0, more = [], rows = 0, servers = [server(), dead()], gateway = null } = {}) {
  const fake = new Fake(tools, rows, servers);
  fake.offer.tools.push(...more);
  fake.gateway = gateway;
  const http = createServer((request, response) =>
    fake.answer(request, response).catch((error) => response.writeHead(500).end(String(error.stack))),
  );
  return {
    url: `http://127.0.0.1:${await listen(http)}/`,
    fake,
    close: () => (http.closeAllConnections(), http.close()),
  };
}

class Fake {
  constructor(tools, rows, servers) {
    this.listeners = new Set();
    this.told = [];
    this.exchanges = new Map();
    this.asks = new Map();
    this.sent = [];
    this.roots = [];
    this.files = [];
    this.gateway = null;
    this.servers = servers;
    this.offer = offer(tools);
    this.rows = [];
    const start = Date.now() - rows * 10;
    for (let seq = 1; seq <= rows; seq += 1) this.rows.push(row(seq, start + seq * 10));
  }
  emit(name, data) {
    if (name === "wire") this.rows.push(data);
    const body = typeof data === "string" ? data : JSON.stringify(data);
    const text = `event: ${name}\nid: ${this.told.length + 1}\ndata: ${body}\n\n`;
    this.told.push(text);
    for (const response of this.listeners) response.write(text);
  }
  async answer(request, response) {
    const url = new URL(request.url, "http://fake");
    if (!url.pathname.startsWith("/api/")) return file(url.pathname, response);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return response.writeHead(401).end("{}");
    let body = "";
    for await (const chunk of request) body += chunk;
    if (url.pathname === "/api/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": hello\n\n");
      for (const text of this.told.slice(Number(url.searchParams.get("after")))) response.write(text);
      this.listeners.add(response);
      request.on("close", () => this.listeners.delete(response));
      return undefined;
    }
    if (body) this.sent.push({ path: url.pathname, body });
    const value = this.api(request.method, url, body ? JSON.parse(body) : {}, body);
    response.writeHead(value === undefined ? 404 : 200, { "content-type": "application/json" });
    return response.end(JSON.stringify(value ?? { message: "not known" }));
  }
  api(method, url, body, text) {
    const [, , room, id, act] = url.pathname.split("/");
    if (room === "state") {
      return {
        version: "0.1.0",
        event: this.told.length,
        servers: this.servers,
        exchanges: [...this.exchanges.values()].slice(-200),
        roots: this.roots,
        files: this.files,
        hasGateway: Boolean(this.gateway),
      };
    }
    if (room === "gateway") return this.gateway?.answer(id, act, body);
    if (room === "wire" && !id) {
      const after = Number(url.searchParams.get("after"));
      const rows = this.rows.filter((one) => one.seq > after).slice(0, Number(url.searchParams.get("limit")));
      const last = rows.at(-1)?.seq;
      return { rows, next: last === this.rows.at(-1)?.seq ? null : last };
    }
    if (room === "wire" && id === "export") return { recording: true };
    if (room === "wire") return detail(this.rows.find((one) => one.seq === Number(id)));
    if (room === "asks") return this.answered(id, body);
    if (room === "config") return { ok: true };
    if (room === "roots") {
      this.roots = body.roots;
      this.emit("roots", body.roots);
      return { ok: true };
    }
    if (room === "exchanges") return this.cancel(Number(id));
    if (room === "servers" && act === "offer") return this.offer;
    if (room === "servers" && act === "check") {
      return { problems: body.arguments?.who === "Bob" ? [{ path: "/who", message: "Bob is not welcome" }] : [] };
    }
    if (room === "servers" && act === "exchanges") return { exchange: this.start(id, body, text) };
    if (room === "servers" && act === "login") return this.login(id);
    if (room === "servers" && !id) {
      return { ...dead(), id: "s9", name: body.name || body.target, target: body.target ?? body.name };
    }
    return room === "servers"
      ? act === "listen"
        ? { ok: true }
        : this.servers.find((one) => one.id === id)
      : undefined;
  }
  login(id) {
    for (const [step, state, more] of [
      ["protected resource metadata", "done", "http://127.0.0.1/.well-known/oauth-protected-resource"],
      ["authorization server metadata", "done", "https://issuer.example"],
      ["registration", "done", "by metadata document"],
      ["sign-in in the browser", "doing", null],
    ]) {
      this.emit("auth", { server: id, step, state, detail: more });
    }
    return { ok: true };
  }
  start(id, { method, params }, text) {
    const n = this.exchanges.size + 1;
    const object = params?.name ?? params?.uri ?? null;
    const exchange = {
      n,
      server: id,
      method,
      object,
      params,
      started: Date.now(),
      ended: null,
      status: "running",
      rounds: 1,
      progress: null,
      asks: [],
      result: null,
      error: null,
      bytes: 0,
      outputCheck: null,
      taskId: null,
      command: `turnbuckle call lab ${object}`,
    };
    this.exchanges.set(n, exchange);
    this.wire(n, "out", "request", method, object, null);
    this.emit("exchange", exchange);
    setTimeout(() => this.play(exchange, text), 5);
    return n;
  }
  wire(n, direction, kind, method, object, ms, round = 1) {
    this.emit("wire", {
      seq: (this.rows.at(-1)?.seq ?? 0) + 1,
      server: "s1",
      exchange: n,
      time: Date.now(),
      direction,
      kind,
      method,
      object,
      id: n,
      status: kind === "response" ? "200 · complete" : null,
      ms,
      bytes: 412,
      round,
    });
  }
  play(exchange, text) {
    const act =
      RESULTS[exchange.object] ??
      RESULTS[exchange.method] ??
      (() => ({ result: { content: [{ type: "text", text: "ok" }] } }));
    const outcome = act(exchange, text);
    if (outcome.asks) return this.ask(exchange, outcome);
    if (outcome.progress) {
      exchange.progress = outcome.progress;
      this.log(exchange.n, "working on it");
      return this.emit("exchange", exchange);
    }
    return this.end(exchange, outcome);
  }
  /** Sends a log line, with or without a call. */
  log(exchange, data) {
    this.emit("log", { server: "s1", exchange, level: "info", logger: "slow", data, time: Date.now() });
  }
  /**
   * @param {Exchange} exchange
   * @param {Partial<Exchange> & { raw?: string }} outcome
   */
  end(exchange, { result = null, error = null, status = error ? "failed" : "done", raw, outputCheck = null }) {
    const ended = Date.now();
    Object.assign(exchange, {
      ended,
      status,
      result,
      error,
      outputCheck,
      bytes: raw?.length ?? JSON.stringify(result ?? error).length,
    });
    this.wire(exchange.n, "in", "response", null, exchange.object, ended - exchange.started);
    const shown = JSON.stringify(raw ? { ...exchange, result: "@@" } : exchange);
    this.emit("exchange", raw ? shown.replace('"@@"', () => raw) : shown);
  }
  ask(exchange, { asks }) {
    exchange.status = "asked";
    exchange.asks = asks.map((ask, index) => ({
      id: `a${exchange.n}-${index}`,
      exchange: exchange.n,
      server: "s1",
      round: 1,
      stateBytes: 412,
      ...ask,
    }));
    for (const ask of exchange.asks) {
      this.asks.set(ask.id, ask);
      this.emit("ask", ask);
    }
    this.emit("exchange", exchange);
  }
  answered(id, body) {
    const ask = this.asks.get(id);
    this.asks.delete(id);
    this.emit("ask-gone", { id });
    const exchange = this.exchanges.get(ask.exchange);
    exchange.asks = [];
    exchange.rounds = 2;
    this.wire(exchange.n, "out", "request", exchange.method, exchange.object, null, 2);
    this.end(exchange, { result: { content: [{ type: "text", text: `heard ${JSON.stringify(body)}` }] } });
    return { ok: true };
  }
  cancel(n) {
    const exchange = this.exchanges.get(n);
    for (const ask of exchange.asks) {
      this.asks.delete(ask.id);
      this.emit("ask-gone", { id: ask.id });
    }
    exchange.asks = [];
    this.wire(n, "out", "notification", "notifications/cancelled", null, null);
    this.end(exchange, {
      status: "cancelled",
      error: { who: "transport", code: null, message: "you cancelled it", causes: [], hint: null },
    });
    return { ok: true };
  }
}

const METHODS = [
  ["tools/call", "echo"],
  ["ping", null],
  ["resources/read", "demo://clock"],
  ["tools/list", null],
];
function row(seq, time) {
  const id = (seq + 1) >> 1;
  const [method, object] = METHODS[id % METHODS.length];
  const isOut = seq % 2 === 1;
  return {
    seq,
    server: "s1",
    exchange: id,
    time,
    direction: isOut ? "out" : "in",
    kind: isOut ? "request" : "response",
    method: isOut ? method : null,
    object,
    id,
    status: isOut ? null : "200 · complete",
    ms: isOut ? null : seq % 200,
    bytes: 200 + (seq % 3000),
    round: 1,
  };
}

function detail(one) {
  const message = {
    jsonrpc: "2.0",
    id: one.id,
    method: one.method ?? undefined,
    params: { name: one.object, arguments: { message: "hi" }, _meta: { progressToken: 3 } },
  };
  return {
    ...one,
    message,
    http: {
      method: "POST",
      url: "http://127.0.0.1:7250/mcp",
      status: 200,
      requestHeaders: [
        ["authorization", "Bearer ****"],
        ["mcp-method", "tools/call"],
      ],
      responseHeaders: [["content-type", "application/json"]],
      firstByteMs: 3,
    },
  };
}

async function file(path, response) {
  const name = path === "/" ? "index.html" : path.slice(1);
  if (name.includes("..")) return response.writeHead(404).end();
  try {
    const bytes = await readFile(new URL(name, PAGE));
    return response
      .writeHead(200, { "content-type": TYPES[extname(name)] ?? "text/plain", "content-security-policy": POLICY })
      .end(bytes);
  } catch {
    return response.writeHead(404).end();
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { url } = await serveFake({ tools: Number(process.argv[2] ?? 0), rows: Number(process.argv[3] ?? 0) });
  console.log(`${url}#token=${TOKEN}`);
}
export { everything };

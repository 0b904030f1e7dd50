// Serves a stdio server over HTTP, so that the suite can run all scenarios that are not about HTTP itself.
//
//   node stdio.mjs COMMAND [ARGUMENT…]
//
// Listens at a port that the system chooses, and prints its URL.
//
// Each session has its own process; modern requests share one. Ids and progress tokens are made unique
// on the way in and restored on the way out, because the suite's clients all use the same ones.
// Nothing is checked, added or answered here: every message is the server's. Requests to a process
// that has ended are answered with 502.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

import { listen } from "../scripts/child.mjs";

const [command, ...args] = process.argv.slice(2);
const VERSION = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const isRequest = (message) => "method" in message && "id" in message;

/** A process, and the requests that wait for its messages. */
class Server {
  constructor() {
    this.child = spawn(command, [...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.calls = new Map();
    this.child.on("error", (error) => this.ended(error.message));
    this.child.on("close", (code, signal) => this.ended(signal ?? `exit code ${code}`));
    // `ended` answers requests that are written to a process that has ended.
    this.child.stdin.on("error", () => {});
    this.standing = undefined;
    this.last = 0;
    createInterface({ input: this.child.stdout }).on("line", (line) => this.heard(JSON.parse(line)));
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends a request. `say` gets all messages of the request, the answer last. `fail` is called if the process ends. */
  call(message, say, fail) {
    const id = (this.last += 1);
    const { _meta: meta, ...params } = message.params ?? {};
    const token = meta?.progressToken;
    const call = { id: message.id, token, say, fail, method: message.method };
    this.calls.set(id, call);
    const own = meta && { ...meta, ...(token !== undefined && { progressToken: `p${id}` }) };
    this.send({ ...message, id, ...(message.params && { params: { ...params, ...(own && { _meta: own }) } }) });
    return id;
  }

  ended(how) {
    this.isOver = true;
    for (const call of this.calls.values()) call.fail(how);
    this.calls.clear();
  }

  /** The client disconnected, which stdio needs a message for. */
  forget(id) {
    if (!this.calls.delete(id)) return;
    this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  }

  heard(message) {
    if (!("method" in message)) {
      const call = this.calls.get(message.id);
      this.calls.delete(message.id);
      const meta = message.result?._meta;
      if (meta && SUBSCRIPTION in meta) meta[SUBSCRIPTION] = call.id;
      return call?.say({ ...message, id: call.id }, true);
    }
    const { params } = message;
    const listener = this.calls.get(params?._meta?.[SUBSCRIPTION]);
    if (listener) params._meta[SUBSCRIPTION] = listener.id;
    const reported = this.calls.get(Number(String(params?.progressToken).slice(1)));
    if (reported) params.progressToken = reported.token;
    // No other field identifies the call, so the message goes to the newest call, if there is one.
    const running = [...this.calls.values()].filter(({ method }) => method !== "subscriptions/listen");
    const owner = listener ?? reported ?? running.at(-1);
    const isChange = /\/(list_changed|updated)$/.test(message.method);
    if (owner && (listener || !isChange)) owner.say(message, false);
    else this.standing?.(message);
  }
}

const sessions = new Map();
let modern;

function stream(response, status, headers = {}) {
  response.writeHead(status, { "content-type": "text/event-stream", ...headers });
  return (message) => response.write(`data: ${JSON.stringify(message)}\n\n`);
}

/** Answers with JSON, or with a stream if other messages come before the answer. */
function asked(server, message, response, headers) {
  let say;
  const id = server.call(
    message,
    (said, isLast) => {
      if (!isLast || say) (say ??= stream(response, 200, headers))(said);
      if (isLast && !say) response.writeHead(200, { "content-type": "application/json", ...headers });
      if (isLast) response.end(say ? undefined : JSON.stringify(said));
    },
    (how) => {
      console.error(`the server over stdio ended (${how}) before it answered \`${message.method}\``);
      if (say) response.destroy();
      else response.writeHead(502).end();
    },
  );
  response.on("close", () => server.forget(id));
}

function post(message, session, response) {
  if (message.params?._meta?.[VERSION] !== undefined) {
    if (!modern || modern.isOver) modern = new Server();
    if (isRequest(message)) return asked(modern, message, response);
    modern.send(message);
    return response.writeHead(202).end();
  }
  if (message.method === "initialize") {
    const id = randomUUID();
    sessions.set(id, new Server());
    return asked(sessions.get(id), message, response, { "mcp-session-id": id });
  }
  const server = sessions.get(session);
  if (!server || server.isOver) return response.writeHead(404).end();
  if (isRequest(message)) return asked(server, message, response);
  server.send(message);
  response.writeHead(202).end();
}

const relay = createServer(async (request, response) => {
  const session = request.headers["mcp-session-id"];
  const server = sessions.get(session);
  if (request.method === "GET" && server) {
    const say = stream(response, 200);
    response.flushHeaders();
    server.standing = say;
    return;
  }
  if (request.method === "DELETE" && server) {
    server.child.stdin.end();
    sessions.delete(session);
    return response.writeHead(204).end();
  }
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  for await (const part of request) body += part;
  post(JSON.parse(body), session, response);
});
console.log(`listening at http://127.0.0.1:${await listen(relay)}/mcp`);

// HTTP for the TypeScript servers.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";

/** Listens at any free port, and prints the URL with `path`. */
export async function listen(path, answer) {
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`listening at http://127.0.0.1:${address.port}${path}`);
}

/** HTTP+SSE: a session is a stream, and POSTs with its id. */
export function httpSse(SSEServerTransport, connect) {
  const sessions = new Map();
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      response.on("close", () => sessions.delete(transport.sessionId));
      return connect(transport);
    }
    const session = request.method === "POST" && sessions.get(searchParams.get("sessionId"));
    return session ? session.handlePostMessage(request, response) : void response.writeHead(404).end();
  };
}

/** Streamable HTTP with sessions, whose streams can be resumed. */
export function streamableHttp(StreamableHTTPServerTransport, connect) {
  const sessions = new Map();
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = sessions.get(id);
    if (known) return known.handleRequest(request, response);
    if (id) return void response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (own) => sessions.set(own, transport),
      eventStore: eventStore(),
      // Clients reconnect after some milliseconds.
      retryInterval: 50,
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await connect(transport);
    return transport.handleRequest(request, response);
  };
}

/** Stores all events of a session in order. */
function eventStore() {
  const events = [];
  return {
    async storeEvent(stream, message) {
      return String(events.push({ stream, message }) - 1);
    },
    async getStreamIdForEventId(id) {
      return events[id]?.stream;
    },
    async replayEventsAfter(last, { send }) {
      const { stream } = events[last];
      for (const [id, event] of events.entries()) {
        const isPriming = Object.keys(event.message).length === 0;
        if (id > last && event.stream === stream && !isPriming) await send(String(id), event.message);
      }
      return stream;
    },
  };
}

/** Converts a handler of web requests and responses for Node.js. */
export function web(handle) {
  return async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const hasBody = incoming.method === "POST";
    const options = {
      method: incoming.method,
      headers: incoming.headers,
      body: hasBody ? Readable.toWeb(incoming) : undefined,
      duplex: "half",
      signal: gone.signal,
    };
    const request = new Request(new URL(incoming.url, `http://${incoming.headers.host}`), options);
    const response = await handle(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (!response.body) return void outgoing.end();
    const body = Readable.fromWeb(response.body);
    body.on("error", () => outgoing.destroy());
    outgoing.on("close", () => body.destroy());
    body.pipe(outgoing);
  };
}

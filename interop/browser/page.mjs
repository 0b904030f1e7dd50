// The page's script: runs a session of 2025-11-25 and calls of 2026-07-28, and shows the results.

const server = new URLSearchParams(location.search).get("server");

/** Sends a message. Returns the answer and all messages before it. */
async function send(message, headers) {
  const response = await fetch(server, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  const session = response.headers.get("mcp-session-id");
  const kind = response.headers.get("content-type");
  const messages = kind === "text/event-stream" ? await events(response) : [await response.text()];
  const parsed = messages.filter(Boolean).map((text) => JSON.parse(text));
  return { status: response.status, session, messages: parsed };
}

/** The data of the events of a stream, read to its end. */
async function events(response) {
  let text = "";
  for await (const piece of pieces(response.body.pipeThrough(new TextDecoderStream()))) text += piece;
  const blocks = text.split(/\r?\n\r?\n/);
  return blocks.map((block) => /^data: ?(.+)$/m.exec(block)?.[1]);
}

async function* pieces(stream) {
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

async function legacy() {
  const clientInfo = { name: "page", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await send({ id: 1, method: "initialize", params });
  const headers = { "mcp-session-id": opened.session, "mcp-protocol-version": "2025-11-25" };
  const initialized = await send({ method: "notifications/initialized" }, headers);
  const call = { name: "add", arguments: { a: 2, b: 40 } };
  const called = await send({ id: 2, method: "tools/call", params: call }, headers);
  const ended = await fetch(server, { method: "DELETE", headers });
  const after = await send({ id: 3, method: "ping" }, headers);
  return {
    revision: opened.messages.at(-1).result.protocolVersion,
    hasSession: Boolean(opened.session),
    initialized: initialized.status,
    sum: called.messages.at(-1).result.structuredContent.sum,
    ended: ended.ok,
    after: after.status,
  };
}

async function modern() {
  const call = (name, args, meta) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "page", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
      ...meta,
    };
    const headers = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    };
    const params = { name, arguments: args, _meta };
    return send({ id: name, method: "tools/call", params }, headers);
  };
  const added = await call("add", { a: 2, b: 40 });
  const counted = await call("count", { to: 3, pause: 5 }, { progressToken: "page" });
  return {
    sum: added.messages.at(-1).result.structuredContent.sum,
    session: added.session,
    reports: counted.messages.slice(0, -1).map(({ params }) => params.progress),
    counted: counted.messages.at(-1).result.content[0].text,
  };
}

const outcome = (promise) => promise.catch((error) => ({ error: error.name }));
const result = { legacy: await outcome(legacy()), modern: await outcome(modern()) };
const shown = /** @type {HTMLElement} */ (document.querySelector("#shown"));
shown.textContent = JSON.stringify(result, null, 2);
shown.dataset.done = "yes";

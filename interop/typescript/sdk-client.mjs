// A client built on @modelcontextprotocol/sdk 1.x, for the demo server, or for a server behind the gateway if
// THROUGH_GATEWAY is in the environment.
//
//   node sdk-client.mjs PACKAGE URL
//   node sdk-client.mjs PACKAGE COMMAND [ARGUMENT…]

import { EventSource } from "eventsource";

import { elicited, rooted, sampled } from "./answers.mjs";
import { behind } from "./behind.mjs";
import { demo } from "./demo.mjs";
import { brokenStreams, notified, reportsOf, transportOf, until } from "./over-http.mjs";
import { relay } from "./relay.mjs";
import { check, holds, same } from "./report.mjs";

const [package_, place, ...args] = process.argv.slice(2);
const { Client } = await import(`${package_}/client/index.js`);
const types = await import(`${package_}/types.js`);

// The first versions expect globals of browsers.
globalThis.EventSource ??= EventSource;

const kind = transportOf(place);
const isThrough = process.env.THROUGH_GATEWAY !== undefined;
const between = kind === "http" ? await relay(place) : undefined;

async function transportTo() {
  if (kind === "stdio") {
    const { StdioClientTransport } = await import(`${package_}/client/stdio.js`);
    return new StdioClientTransport({ command: place, args });
  }
  if (kind === "sse") {
    const { SSEClientTransport } = await import(`${package_}/client/sse.js`);
    return new SSEClientTransport(new URL(place));
  }
  const { StreamableHTTPClientTransport } = await import(`${package_}/client/streamableHttp.js`);
  return new StreamableHTTPClientTransport(new URL(between.url));
}

const transport = await transportTo();
// Forms came with 2025-06-18, URLs with 2025-11-25.
const answers = {
  form: types.LATEST_PROTOCOL_VERSION >= "2025-06-18",
  url: types.LATEST_PROTOCOL_VERSION >= "2025-11-25",
  sampling: true,
  roots: true,
};
const capabilities = { sampling: {}, roots: {} };
if (answers.form) capabilities.elicitation = answers.url ? { form: {}, url: {} } : {};
const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities });
client.setRequestHandler(types.CreateMessageRequestSchema, sampled);
client.setRequestHandler(types.ListRootsRequestSchema, rooted);
if (answers.form) client.setRequestHandler(types.ElicitRequestSchema, elicited);

// The SDK does not expose the negotiated revision.
let revision;
const request = client.request.bind(client);
client.request = async (message, ...rest) => {
  const result = await request(message, ...rest);
  if (message.method === "initialize") revision = result.protocolVersion;
  return result;
};

let strays = 0;
client.onerror = () => (strays += 1);

await check("connect", async () => {
  await client.connect(transport);
  same(revision, types.LATEST_PROTOCOL_VERSION, "the revision");
  same(client.getServerVersion().name, isThrough ? "turnbuckle" : "turnbuckle-demo", "the name");
});
console.log(`revision\t${revision}`);
await check("ping", () => client.ping());

/** Calls as tasks, which are experimental in the SDK. */
function tasksOf({ tasks }) {
  return {
    start: async (name, given) => {
      const options = { task: { ttl: 60_000 } };
      const stream = tasks.callToolStream({ name, arguments: given }, types.CallToolResultSchema, options);
      const { value } = await stream.next();
      same(value.type, "taskCreated", "what comes first");
      return value.task.taskId;
    },
    get: (id) => tasks.getTask(id),
    result: (id) => tasks.getTaskResult(id, types.CallToolResultSchema),
    cancel: (id) => tasks.cancelTask(id),
    canList: client.getServerCapabilities().tasks?.list !== undefined,
    list: () => tasks.listTasks(),
  };
}

const peer = {
  revision,
  tasks: client.experimental && tasksOf(client.experimental),
  notFound: -32002,
  call: (name, given, options) => client.callTool({ name, arguments: given }, types.CallToolResultSchema, options),
  strays: () => strays,
  reports: reportsOf(transport),
  onToolsChanged: (listener) => client.setNotificationHandler(types.ToolListChangedNotificationSchema, listener),
  onUpdated: async (uri, listener) => {
    const handler = ({ params }) => listener(params.uri);
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, handler);
    await client.subscribeResource({ uri });
  },
  logged: async (level, listener) => {
    const handler = ({ params }) => listener(params);
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, handler);
    await client.setLoggingLevel(level);
  },
  answers,
  close: async () => {
    if (kind === "http") await transport.terminateSession();
    await client.close();
  },
};
// The SDK resumes calls in versions that know 2025-11-25.
const resumesCalls = types.LATEST_PROTOCOL_VERSION >= "2025-11-25";
if (kind === "http" && !isThrough) await brokenStreams(peer, between, { resumesCalls });

const headers = { "mcp-session-id": transport.sessionId, "mcp-protocol-version": revision };
const session = kind === "sse" ? [transport._endpoint] : [place, headers];
if (kind !== "stdio") {
  await check("session", async () => {
    holds(kind === "sse" || transport.sessionId, "there is none");
    same(await notified(...session), 202, "the status");
  });
}
await (isThrough ? behind : demo)(peer, client);
if (kind !== "stdio") {
  await check("session ended", () =>
    until(async () => (await notified(...session)) === 404, "the server still knows it"),
  );
}
console.log("done");
process.exit();

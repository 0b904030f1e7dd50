// A client built on @modelcontextprotocol/client 2.x, for the demo server, or for a server behind the gateway if
// THROUGH_GATEWAY is in the environment.
//
//   node v2-client.mjs PACKAGE auto|legacy URL
//   node v2-client.mjs PACKAGE auto|legacy COMMAND [ARGUMENT…]

import { elicited, rooted, sampled } from "./answers.mjs";
import { behind } from "./behind.mjs";
import { demo } from "./demo.mjs";
import { brokenStreams, notified, reportsOf, transportOf, until } from "./over-http.mjs";
import { relay } from "./relay.mjs";
import { check, same } from "./report.mjs";

const [package_, mode, place, ...args] = process.argv.slice(2);
const { Client, LATEST_PROTOCOL_VERSION, SSEClientTransport, StreamableHTTPClientTransport } = await import(package_);
const { StdioClientTransport } = await import(`${package_}/stdio`);

const kind = transportOf(place);
const isThrough = process.env.THROUGH_GATEWAY !== undefined;
const between = kind === "http" ? await relay(place) : undefined;
const transports = {
  stdio: () => new StdioClientTransport({ command: place, args }),
  sse: () => new SSEClientTransport(new URL(place)),
  http: () => new StreamableHTTPClientTransport(new URL(between.url)),
};
const transport = transports[kind]();
const client = new Client(
  { name: "interop", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    versionNegotiation: { mode },
  },
);
client.setRequestHandler("elicitation/create", elicited);
client.setRequestHandler("sampling/createMessage", sampled);
client.setRequestHandler("roots/list", rooted);
const wanted = mode === "legacy" ? LATEST_PROTOCOL_VERSION : "2026-07-28";
const hasSession = kind === "http" && mode === "legacy";

let strays = 0;
client.onerror = () => (strays += 1);

await check("connect", async () => {
  await client.connect(transport);
  same(client.getNegotiatedProtocolVersion(), wanted, "the revision");
  same(client.getServerVersion().name, isThrough ? "turnbuckle" : "turnbuckle-demo", "the name");
});

console.log(`revision\t${client.getNegotiatedProtocolVersion()}`);
const peer = {
  revision: client.getNegotiatedProtocolVersion(),
  // The SDK uses this code for all revisions.
  notFound: -32602,
  call: (name, given, options, _meta) => client.callTool({ name, arguments: given, _meta }, options),
  strays: () => strays,
  reports: reportsOf(transport),
  onToolsChanged: async (listener) => {
    client.setNotificationHandler("notifications/tools/list_changed", listener);
    if (mode !== "legacy") await client.listen({ toolsListChanged: true });
  },
  onUpdated: async (uri, listener) => {
    const handler = ({ params }) => listener(params.uri);
    client.setNotificationHandler("notifications/resources/updated", handler);
    if (mode === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
  },
  logged: async (level, listener) => {
    client.setNotificationHandler("notifications/message", ({ params }) => listener(params));
    if (mode !== "legacy") return { "io.modelcontextprotocol/logLevel": level };
    await client.setLoggingLevel(level);
  },
  answers: { form: true, url: true, sampling: true, roots: true },
  close: async () => {
    if (hasSession) await transport.terminateSession();
    await client.close();
  },
};
if (hasSession && !isThrough) await brokenStreams(peer, between, { resumesCalls: true });

const headers = { "mcp-session-id": transport.sessionId, "mcp-protocol-version": wanted };
if (kind === "http") {
  await check("session", async () => {
    same(transport.sessionId !== undefined, hasSession, "whether there is one");
    if (hasSession) same(await notified(place, headers), 202, "the status");
  });
}
await (isThrough ? behind : demo)(peer, client);
if (hasSession) {
  await check("session ended", () =>
    until(async () => (await notified(place, headers)) === 404, "the server still knows it"),
  );
}
console.log("done");
process.exit();

// A client built on @modelcontextprotocol/client 2.x, against the demo server.
//
//   node v2-client.mjs PACKAGE auto|legacy COMMAND [ARGUMENT…]

import { demo } from "./demo.mjs";
import { check, same } from "./report.mjs";

const [package_, mode, command, ...args] = process.argv.slice(2);
const { Client, LATEST_PROTOCOL_VERSION } = await import(package_);
const { StdioClientTransport } = await import(`${package_}/stdio`);

const client = new Client(
  { name: "interop", version: "1.0.0" },
  { capabilities: {}, versionNegotiation: { mode } },
);
const wanted = mode === "legacy" ? LATEST_PROTOCOL_VERSION : "2026-07-28";

let strays = 0;
client.onerror = () => (strays += 1);

await check("connect", async () => {
  await client.connect(new StdioClientTransport({ command, args }));
  same(client.getNegotiatedProtocolVersion(), wanted, "the revision");
  same(client.getServerVersion().name, "turnbuckle-demo", "the name");
});

await demo(
  {
    revision: client.getNegotiatedProtocolVersion(),
    // The SDK gives every revision's error this code.
    notFound: -32602,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    strays: () => strays,
    onToolsChanged: async (listener) => {
      client.setNotificationHandler("notifications/tools/list_changed", listener);
      if (mode !== "legacy") await client.listen({ toolsListChanged: true });
    },
    close: () => client.close(),
  },
  client,
);
console.log("done");
process.exit();

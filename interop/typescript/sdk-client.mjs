// A client built on @modelcontextprotocol/sdk 1.x, against the demo server.
//
//   node sdk-client.mjs PACKAGE COMMAND [ARGUMENT…]

import { demo } from "./demo.mjs";
import { check, same } from "./report.mjs";

const [package_, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${package_}/client/index.js`);
const { StdioClientTransport } = await import(`${package_}/client/stdio.js`);
const types = await import(`${package_}/types.js`);

const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities: {} });

// The SDK keeps the negotiated revision to itself.
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
  await client.connect(new StdioClientTransport({ command, args }));
  same(revision, types.LATEST_PROTOCOL_VERSION, "the revision");
  same(client.getServerVersion().name, "turnbuckle-demo", "the name");
});
await check("ping", () => client.ping());

await demo(
  {
    revision,
    notFound: -32002,
    call: (name, args, options) =>
      client.callTool({ name, arguments: args }, types.CallToolResultSchema, options),
    strays: () => strays,
    onToolsChanged: (listener) =>
      client.setNotificationHandler(types.ToolListChangedNotificationSchema, listener),
    close: () => client.close(),
  },
  client,
);
console.log("done");
process.exit();

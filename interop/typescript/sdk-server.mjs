// A server built on @modelcontextprotocol/sdk 1.x, for our client.
//
//   node sdk-server.mjs PACKAGE

import { FORM, PLAIN, PROMPTS, RESOURCES, SAMPLE, TEMPLATES, TOOLS } from "./peer.mjs";
import { complete, greet, read, said, slow } from "./peer.mjs";

const [package_] = process.argv.slice(2);
const { Server } = await import(`${package_}/server/index.js`);
const { StdioServerTransport } = await import(`${package_}/server/stdio.js`);
const types = await import(`${package_}/types.js`);

// A line that is no message: clients must live with it.
console.log("starting up");

const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {}, completions: {} };
const server = new Server({ name: "peer", version: "1.0.0" }, { capabilities });
const can = { ask: typeof server.elicitInput === "function" };
const tools = TOOLS.filter((tool) => can[tool.name] ?? true);

server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources: RESOURCES }));
server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }));
server.setRequestHandler(types.ListPromptsRequestSchema, () => ({ prompts: PROMPTS }));
server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => greet(params.arguments));
server.setRequestHandler(types.CompleteRequestSchema, ({ params }) => complete(params.argument));
server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) => {
  const contents = read(params.uri);
  if (!contents) throw new types.McpError(-32002, "not found", { uri: params.uri });
  return contents;
});
server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, { signal }) => {
  const { name, arguments: args, _meta } = params;
  switch (name) {
    case "slow":
      return slow(args, signal, (progress, total) => {
        const progressToken = _meta?.progressToken;
        if (progressToken === undefined) return;
        return server.notification({
          method: "notifications/progress",
          params: { progressToken, progress, total },
        });
      });
    case "ask": {
      const { action, content } = await server.elicitInput(FORM);
      return said(`${action}: ${content?.name}`);
    }
    case "sample":
      return said((await server.createMessage(SAMPLE)).content.text);
    case "places":
      return said((await server.listRoots()).roots.map((root) => root.uri).join(" "));
    case "grow":
      await server.sendToolListChanged();
      return said("told");
    default:
      if (!PLAIN[name]) throw new types.McpError(-32602, `no tool ${name}`);
      return PLAIN[name](args);
  }
});
await server.connect(new StdioServerTransport());

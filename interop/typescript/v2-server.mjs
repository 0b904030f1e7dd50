// A server built on @modelcontextprotocol/server 2.x, for our client.
//
//   node v2-server.mjs PACKAGE stdio|http

import { listen, web } from "./listen.mjs";
import { FORM, LOGGED, PLAIN, PROMPTS, RESOURCES, SAMPLE, TEMPLATES, TOOLS, TOUCHED } from "./peer.mjs";
import { complete, greet, read, said, slow } from "./peer.mjs";

const [package_, kind] = process.argv.slice(2);
const { Server, createMcpHandler, ProtocolError, ResourceNotFoundError, inputRequired } = await import(package_);
const { serveStdio } = await import(`${package_}/stdio`);

/** Asks once; the answer comes with the retry. */
function asking(context, key, request, use) {
  const answer = context.mcpReq.inputResponses?.[key];
  return answer ? use(answer) : inputRequired({ inputRequests: { [key]: request } });
}

const ASKING = {
  ask: (context) =>
    asking(context, "name", inputRequired.elicit(FORM), ({ action, content }) => said(`${action}: ${content?.name}`)),
  sample: (context) =>
    asking(context, "model", inputRequired.createMessage(SAMPLE), ({ content }) => said([content].flat()[0].text)),
  places: (context) =>
    asking(context, "roots", inputRequired.listRoots(), ({ roots }) => said(roots.map((root) => root.uri).join(" "))),
};

// Modern streams cannot be resumed.
const tools = TOOLS.filter((tool) => tool.name !== "hide");

/** Over HTTP each request has its own server. */
function peer() {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true },
    prompts: {},
    completions: {},
    logging: {},
  };
  const server = new Server({ name: "peer", version: "2.0.0" }, { capabilities });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("resources/list", () => ({ resources: RESOURCES }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler("prompts/list", () => ({ prompts: PROMPTS }));
  server.setRequestHandler("prompts/get", ({ params }) => greet(params.arguments));
  server.setRequestHandler("completion/complete", ({ params }) => complete(params.argument));
  server.setRequestHandler("resources/read", ({ params }) => {
    const contents = read(params.uri);
    if (!contents) throw new ResourceNotFoundError(params.uri);
    return contents;
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { name, arguments: args } = params;
    const { signal, notify, _meta } = context.mcpReq;
    if (name === "slow") {
      return slow(args, signal, (progress, total) => {
        const progressToken = _meta?.progressToken;
        if (progressToken === undefined) return;
        return notify({ method: "notifications/progress", params: { progressToken, progress, total } });
      });
    }
    if (name === "grow") {
      await toolsChanged(server);
      return said("told");
    }
    if (name === "log") {
      await context.mcpReq.log(LOGGED.level, LOGGED.data, LOGGED.logger);
      return said("logged");
    }
    if (name === "touch") {
      await readmeChanged(server);
      return said("told");
    }
    if (ASKING[name]) return ASKING[name](context);
    if (!PLAIN[name]) throw new ProtocolError(-32602, `no tool ${name}`);
    return PLAIN[name](args);
  });
  return server;
}

// Notifications to other requests, which a server of one request cannot send itself.
let toolsChanged = (server) => server.sendToolListChanged();
let readmeChanged = (server) => server.sendResourceUpdated(TOUCHED);
if (kind === "http") {
  const handler = createMcpHandler(peer);
  toolsChanged = () => handler.notify.toolsChanged();
  readmeChanged = () => handler.notify.resourceUpdated(TOUCHED.uri);
  await listen("/mcp", web(handler.fetch));
} else {
  serveStdio(peer);
}

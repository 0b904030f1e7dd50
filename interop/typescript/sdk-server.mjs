// A server built on @modelcontextprotocol/sdk 1.x, for our client.
//
//   node sdk-server.mjs PACKAGE stdio|http|sse

import { httpSse, listen, streamableHttp } from "./listen.mjs";
import { FORM, LOGGED, PLAIN, PROMPTS, RESOURCES, SAMPLE, TEMPLATES, TOOLS, TOUCHED } from "./peer.mjs";
import { brew, complete, greet, read, said, slow } from "./peer.mjs";

const [package_, kind] = process.argv.slice(2);
const { Server } = await import(`${package_}/server/index.js`);
const types = await import(`${package_}/types.js`);

// Over stdio this line is not a message. Clients must ignore it.
console.log("starting up");

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};

// Tasks are experimental in 2025-11-25.
const hasTasks = types.LATEST_PROTOCOL_VERSION >= "2025-11-25";
const tasks = hasTasks && (await import(`${package_}/experimental/tasks`));
if (tasks) capabilities.tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/** The call as a task of its session. */
async function begin(args, { taskStore, taskRequestedTtl }) {
  const task = await taskStore.createTask({ ttl: taskRequestedTtl });
  // A cancelled task accepts no result.
  const keep = (result) => taskStore.storeTaskResult(task.taskId, "completed", result).catch(() => {});
  brew(args).then(keep);
  return { task };
}

/** Each session has its own server. */
function connect(transport) {
  const taskStore = tasks && new tasks.InMemoryTaskStore();
  const server = new Server({ name: "peer", version: "1.0.0" }, { capabilities, ...(tasks && { taskStore }) });
  const canHide = kind === "http" && types.LATEST_PROTOCOL_VERSION >= "2025-11-25";
  const can = { ask: typeof server.elicitInput === "function", hide: canHide, brew: hasTasks };
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
  // Older versions do not handle the level themselves.
  server.setRequestHandler(types.SetLevelRequestSchema, () => ({}));
  server.setRequestHandler(types.SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(types.UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args, _meta } = params;
    // If the SDK supports it, reports are sent on the call's stream.
    const notify = extra.sendNotification ?? server.notification.bind(server);
    const report = (progress, total) => {
      const progressToken = _meta?.progressToken;
      if (progressToken === undefined) return;
      return notify({ method: "notifications/progress", params: { progressToken, progress, total } });
    };
    switch (name) {
      case "slow":
        return slow(args, extra.signal, report);
      case "hide":
        return slow({ steps: 10 }, extra.signal, async (step, steps) => {
          await report(step, steps);
          if (step === 3) extra.closeSSEStream();
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
      case "log":
        await notify({ method: "notifications/message", params: LOGGED });
        return said("logged");
      case "brew":
        return params.task ? begin(args, extra) : brew(args);
      case "touch":
        await server.sendResourceUpdated(TOUCHED);
        return said("told");
      default:
        if (!PLAIN[name]) throw new types.McpError(-32602, `no tool ${name}`);
        return PLAIN[name](args);
    }
  });
  return server.connect(transport);
}

switch (kind) {
  case "http": {
    const { StreamableHTTPServerTransport } = await import(`${package_}/server/streamableHttp.js`);
    await listen("/mcp", streamableHttp(StreamableHTTPServerTransport, connect));
    break;
  }
  case "sse": {
    const { SSEServerTransport } = await import(`${package_}/server/sse.js`);
    await listen("/sse", httpSse(SSEServerTransport, connect));
    break;
  }
  default: {
    const { StdioServerTransport } = await import(`${package_}/server/stdio.js`);
    await connect(new StdioServerTransport());
  }
}

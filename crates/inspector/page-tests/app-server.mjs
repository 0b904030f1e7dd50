// A stdio server with an app, and with tools that apps may or may not call: node app-server.mjs

import { createInterface } from "node:readline";

const URI = "ui://tools/view";
const object = { type: "object" };
const tools = [
  { name: "view", inputSchema: object, _meta: { ui: { resourceUri: URI } } },
  { name: "plain", inputSchema: object },
  { name: "safe", inputSchema: object, annotations: { destructiveHint: false } },
  {
    name: "for_apps",
    inputSchema: object,
    annotations: { readOnlyHint: true },
    _meta: { ui: { visibility: ["app"] } },
  },
  { name: "for_models", inputSchema: object, _meta: { ui: { visibility: ["model"] } } },
  { name: "erase", inputSchema: object, annotations: { destructiveHint: true } },
];
const page = { uri: URI, mimeType: "text/html;profile=mcp-app", text: "<!doctype html><p>An app</p>" };

const ANSWERS = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "apps", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `called ${name}` }] }),
  "resources/list": () => ({ resources: [{ uri: URI, name: "view", mimeType: page.mimeType }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": () => ({ contents: [page] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});

// The server for the comparison, built on @modelcontextprotocol/server.
//
//   node server.mjs stdio
//   node server.mjs http PORT

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

// Schemas and handlers are created once, because the modern entry point creates a server for each request.
const echoing = { description: "Returns its text argument", inputSchema: z.object({ text: z.string() }) };
const asking = { description: "Asks once, and returns its text argument", inputSchema: z.object({ text: z.string() }) };
const adding = {
  description: "Adds two integers",
  inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
  outputSchema: z.object({ sum: z.number().int() }),
};
const searching = z.object({
  query: z.string().describe("Search query"),
  limit: z.number().int().min(1).max(100).describe("Maximum number of results").optional(),
  verbose: z.boolean().describe("Verbose output").optional(),
});
const dummies = Array.from({ length: 100 }, (_, index) => {
  const number = String(index).padStart(3, "0");
  const description = `Dummy tool number ${number}, which gives tools/list a realistic payload.`;
  return [`dummy_${number}`, { description, inputSchema: searching }];
});
const QUESTION = inputRequired.elicit({
  message: "Which seat?",
  requestedSchema: {
    type: "object",
    properties: { row: { type: "integer", minimum: 1, maximum: 40, description: "Counted from the front." } },
    required: ["row"],
  },
});

const said = (text) => ({ content: [{ type: "text", text }] });

async function echo({ text }) {
  return said(text);
}

async function ask({ text }, context) {
  const seat = context.mcpReq.inputResponses?.seat;
  if (!seat) return inputRequired({ inputRequests: { seat: QUESTION } });
  if (!(seat.content.row > 0)) throw new Error("no seat");
  return said(text);
}

async function add({ a, b }) {
  const sum = { sum: a + b };
  return { ...said(JSON.stringify(sum)), structuredContent: sum };
}

function peer() {
  const server = new McpServer({ name: "peer-node", version: "0.1.0" });
  server.registerTool("echo", echoing, echo);
  server.registerTool("add", adding, add);
  server.registerTool("ask", asking, ask);
  for (const [name, about] of dummies) server.registerTool(name, about, async () => ({ content: [] }));
  return server;
}

const sessions = new Map();

async function session(request, response) {
  const id = request.headers["mcp-session-id"];
  let transport = sessions.get(id);
  if (!transport && id) {
    response.writeHead(404).end();
    return;
  }
  if (!transport) {
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (own) => sessions.set(own, transport),
    });
    await peer().connect(transport);
  }
  await transport.handleRequest(request, response);
}

function serveHttp(port) {
  const modern = toNodeHandler(createMcpHandler(peer, { legacy: "reject" }));
  const server = createServer(async (request, response) => {
    try {
      const isModern = request.headers["mcp-protocol-version"] === "2026-07-28";
      await (isModern ? modern : session)(request, response);
    } catch (error) {
      console.error(error);
      if (!response.headersSent) response.writeHead(500).end();
    }
  });
  server.listen(port, "127.0.0.1", 4096);
}

const [mode, port] = process.argv.slice(2);
if (mode === "stdio") serveStdio(peer);
else serveHttp(Number(port));

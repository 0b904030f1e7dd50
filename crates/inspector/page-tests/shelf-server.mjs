// A server whose tools return its arguments, environment and roots.

import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name) => ({ name, inputSchema: { type: "object", properties: {} } });
const text = (words) => ({ content: [{ type: "text", text: words }] });
/** @type {Map<string, (result: any) => void>} */
const waiting = new Map();
let asked = 0;

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "shelf", version: "1.0.0", title: process.env.TITLE },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: ["started", "roots", "print", "missing", "die"].map(tool) }),
};
const TOOLS = {
  started: () =>
    text(`${process.argv.slice(2).join(" ")} in ${process.cwd()} with ${process.env.REGION} by ${process.pid}`),
  print: () => {
    process.stderr.write("printed in the middle of a call\n");
    return text("ok");
  },
  missing: () => {
    throw Object.assign(new Error("Resource not found"), { code: -32002, data: { uri: "file:///x" } });
  },
  die: () => process.exit(3),
  roots: async () => {
    const id = `r${(asked += 1)}`;
    send({ id, method: "roots/list" });
    const { roots } = await new Promise((resolve) => waiting.set(id, resolve));
    return text(roots.map((root) => root.uri).join(" ") || "no roots");
  },
};

process.stderr.write(`started with ${process.argv[2] ?? "nothing"}\n`);
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(result);
  if (id === undefined) return undefined;
  if (method === "tools/call") {
    try {
      return send({ id, result: await TOOLS[params.name]() });
    } catch (thrown) {
      const { code, message, data } = /** @type {any} */ (thrown);
      return send({ id, error: { code, message, data } });
    }
  }
  const answer = ANSWERS[method]?.(params);
  return answer ? send({ id, result: answer }) : send({ id, error: { code: -32601, message: `no ${method}` } });
});

// The lists of the fake server, and the results of its tools.

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const server = () => ({
  id: "s1",
  name: "lab",
  target: "http://127.0.0.1:7250/mcp",
  source: "/home/you/.mcp.json",
  status: "open",
  error: null,
  revision: "2026-07-28",
  era: "modern",
  transport: "Streamable HTTP",
  latencyMs: 3.1,
  info: { name: "lab", title: "Modern lab", version: "1.0.0" },
  capabilities: {
    tools: { listChanged: true },
    prompts: {},
    resources: { subscribe: true },
    completions: {},
    logging: {},
  },
  instructions: "# How to use this\n\nCall `echo` first. Then:\n\n- read **the clock**\n- never drop a table\n",
  stderr: ["listening on 127.0.0.1:7250", "ready"],
});

export const dead = () => ({
  id: "s2",
  name: "dead",
  target: "npx nowhere",
  source: "Command line",
  status: "failed",
  revision: null,
  era: null,
  transport: null,
  latencyMs: null,
  info: null,
  capabilities: null,
  instructions: null,
  stderr: [],
  error: {
    who: "transport",
    code: null,
    message: "`npx` ended before it answered",
    causes: ["exit status 1", "npm error 404 Not Found: nowhere"],
    hint: "check the name of the package",
  },
});

/** A server in each condition. */
export function shelf() {
  const closed = { ...dead(), status: "closed", error: null };
  const input = { id: "dsn", description: "Connection string of the staging database", default: null, options: [] };
  return [
    server(),
    dead(),
    {
      ...closed,
      id: "s3",
      name: "postgres",
      source: "~/.cursor/mcp.json",
      target: `uvx mcp-server-postgres $\{input:dsn}`,
      blocked: { kind: "inputs" },
      inputs: [{ ...input, isSecret: true, hasValue: false }],
    },
    {
      ...closed,
      id: "s4",
      name: "issues",
      source: "~/.cursor/mcp.json",
      target: "https://mcp.issues.example/mcp",
      status: "failed",
      error: { who: "authorization", code: null, message: "the server wants a token", causes: [], hint: null },
    },
    { ...closed, id: "s5", name: "time", source: ".vscode/mcp.json", target: "uvx mcp-server-time" },
    {
      ...closed,
      id: "s6",
      name: "issues 2",
      source: ".vscode/mcp.json",
      target: "npx -y issues-mcp",
      blocked: { kind: "shadowed", by: "~/.cursor/mcp.json" },
    },
    {
      ...closed,
      id: "s7",
      name: "project",
      source: ".mcp.json",
      target: "node server.js",
      blocked: { kind: "untrusted", file: "/home/you/work/.mcp.json" },
    },
  ];
}

const text = { type: "string" };
/** @type {Schema} */
export const everything = {
  type: "object",
  required: ["who", "target"],
  properties: {
    who: { type: "string", minLength: 2, description: "Who travels" },
    target: {
      oneOf: [
        {
          title: "City",
          type: "object",
          required: ["kind", "name"],
          properties: { kind: { const: "city" }, name: text },
        },
        {
          title: "Point",
          type: "object",
          required: ["kind", "lat", "lon"],
          properties: {
            kind: { const: "point" },
            lat: { type: "number", minimum: -90, maximum: 90 },
            lon: { type: "number" },
          },
        },
      ],
    },
    nick: { type: ["string", "null"] },
    level: { type: "string", enum: ["low", "mid", "high"] },
    country: { type: "string", enum: ["Austria", "Belgium", "Chile", "Denmark", "Egypt", "Finland", "Ghana"] },
    tags: { type: "array", items: text },
    big: { type: "integer" },
    urgent: { type: "boolean" },
    day: { type: "string", format: "date" },
    mail: { type: "string", format: "email" },
    secret: { type: "string", format: "password" },
    labels: { type: "object", additionalProperties: { type: "integer" } },
    tree: { $ref: "#/$defs/node" },
    anything: {},
  },
  $defs: {
    node: {
      type: "object",
      required: ["value"],
      properties: { value: { type: "integer" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    },
  },
};

const tool = (name, description, more = {}) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  ...more,
});
const bare = { inputSchema: { type: "object", properties: {} } };

export function offer(count) {
  const tools = [
    tool("echo", "Echo a message back", { annotations: { readOnlyHint: true } }),
    tool("tricky", "Takes a union, nullables, nested values, maps, recursion and exact integers.", {
      inputSchema: everything,
    }),
    tool("drop_table", "Drops a table", {
      annotations: { destructiveHint: true },
      inputSchema: { type: "object", required: ["table"], properties: { table: text } },
    }),
    tool("deploy", "Asks first, then deploys", bare),
    tool("visit", "Asks you to visit an address", bare),
    tool("summarize", "Asks your model", bare),
    tool("slow", "Reports progress until it is cancelled", { ...bare, execution: { taskSupport: "optional" } }),
    tool("large", "Answers with five megabytes", bare),
    tool("prose", "Answers in Markdown, with a picture", bare),
    tool("rows", "Answers with a list of objects", bare),
    tool("broken", "Fails on purpose", bare),
    tool("refused", "Is refused by the server", bare),
  ];
  for (let index = tools.length; index < count; index += 1) {
    tools.push(
      tool(
        `generated_tool_${index}`,
        `Does thing number ${index} with ${["users", "orders", "invoices", "files"][index % 4]}`,
      ),
    );
  }
  return {
    tools,
    prompts: [
      {
        name: "review",
        title: "Review",
        description: "Reviews code in a language",
        arguments: [{ name: "language", required: true, description: "of the code" }, { name: "style" }],
      },
    ],
    resources: [
      { uri: "demo://clock", name: "clock", mimeType: "text/plain", description: "The time" },
      { uri: "demo://readme", name: "readme", mimeType: "text/markdown" },
    ],
    resourceTemplates: [{ uriTemplate: "demo://users/{id}{?verbose}", name: "user", description: "A user" }],
    problems: [],
  };
}

function large() {
  const rows = [];
  for (let index = 0; rows.length * 100 < 5_000_000; index += 1) {
    const name = `row number ${index}`;
    rows.push(JSON.stringify({ index, name, value: index * 7, ok: index % 2 === 0, pad: "x".repeat(30) }));
  }
  const structured = `{"exact":9007199254740993,"rows":[${rows.join(",")}]}`;
  return `{"content":[{"type":"text","text":"see the structured content"}],"structuredContent":${structured}}`;
}

const PARTS = ["bolt", "nut", "washer", "hook", "shackle", "wire", "clamp", "ring", "eye", "pin"];

export const RESULTS = {
  rows: () => ({
    result: {
      content: [{ type: "text", text: "Ten parts are in stock." }],
      structuredContent: {
        place: "Hamburg",
        parts: PARTS.map((name, at) => ({
          sku: `${name.toUpperCase()}-M8`,
          name,
          stock: (at * 37) % 100,
          sold: at > 4,
        })),
      },
    },
    outputCheck: { ok: true, problems: [] },
  }),
  echo: ({ params }) => ({ result: { content: [{ type: "text", text: params.arguments?.message ?? "" }] } }),
  tricky: ({ params }, body) => {
    const structured = /"arguments":(.*)}}$/.exec(body)?.[1] ?? JSON.stringify(params);
    return {
      raw: `{"content":[{"type":"text","text":"taken"}],"structuredContent":${structured}}`,
      outputCheck: { ok: true, problems: [] },
    };
  },
  deploy: () => ({
    asks: [
      {
        key: "confirm",
        method: "elicitation/create",
        params: {
          message: "Deploy to prod?",
          requestedSchema: {
            type: "object",
            required: ["really"],
            properties: {
              really: { type: "boolean" },
              reason: { type: "string", minLength: 3 },
              size: {
                type: "string",
                oneOf: [
                  { const: "s", title: "Small" },
                  { const: "m", title: "Medium" },
                ],
              },
            },
          },
        },
      },
    ],
  }),
  visit: () => ({
    asks: [
      {
        key: "go",
        method: "elicitation/create",
        params: { mode: "url", message: "Pay for it", url: "https://pay.example/checkout?id=7", elicitationId: "7" },
      },
    ],
  }),
  summarize: () => ({
    asks: [
      {
        key: "model",
        method: "sampling/createMessage",
        params: {
          systemPrompt: "You are terse.",
          messages: [{ role: "user", content: { type: "text", text: "Summarize the news." } }],
          maxTokens: 200,
          modelPreferences: { hints: [{ name: "small" }], costPriority: 0.9 },
        },
      },
    ],
  }),
  slow: () => ({ progress: { progress: 4, total: 8, message: "step 4" } }),
  large: () => ({ raw: large() }),
  prose: () => ({
    result: {
      content: [
        {
          type: "text",
          text: [
            "# Report\n\nAll **well**, see [the site](https://example.com).\n\n| a | b |\n|---|---|\n| 1 | 2 |",
            "```\nlet x = 1;\n```\n\n<img src=x onerror=alert(1)>",
          ].join("\n\n"),
        },
        { type: "image", data: PIXEL, mimeType: "image/png" },
      ],
    },
  }),
  broken: () => ({ result: { isError: true, content: [{ type: "text", text: "the disk is full" }] } }),
  refused: () => ({
    error: {
      who: "protocol",
      code: -32602,
      message: "`depth` must be at most 5",
      causes: ["/depth: 9 is more than 5"],
      hint: "send a smaller depth",
    },
  }),
  "completion/complete": ({ params }) => ({
    result: { completion: { values: ["rust", "ruby", "go"].filter((one) => one.startsWith(params.argument.value)) } },
  }),
  "prompts/get": () => ({ result: { messages: [] } }),
  review: ({ params }) => ({
    result: {
      messages: [{ role: "user", content: { type: "text", text: `Review this ${params.arguments.language}.` } }],
    },
  }),
  "demo://clock": () => ({ result: { contents: [{ uri: "demo://clock", mimeType: "text/plain", text: "12:00" }] } }),
  "demo://users/7": () => ({
    result: { contents: [{ uri: "demo://users/7", mimeType: "application/json", text: '{"id":7}' }] },
  }),
};

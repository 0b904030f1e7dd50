// The data of a fake gateway, with content for every part of its view.

const POINTS = 60;
const wave = (at, low, high) => low + ((Math.sin(at / 5) + Math.sin(at / 2.3) / 3 + 1.33) / 2.66) * (high - low);
const points = (low, high) => Array.from({ length: POINTS }, (_, at) => wave(at, low, high));

export const CHANGE = {
  server: "issues",
  kind: "tool",
  name: "create_issue",
  what: "changed",
  effect: "breaking",
  changes: [
    { effect: "breaking", path: "/project", what: "is now required" },
    { effect: "breaking", path: "/labels", what: "was removed" },
  ],
  before: { title: "string", labels: "string[]" },
  after: { title: "string", project: "string" },
  isWithheld: true,
};

export class FakeGateway {
  constructor({ lock = true } = {}) {
    this.sent = [];
    this.lock = lock
      ? { mode: "enforce", differences: [CHANGE, { ...CHANGE, name: "close", effect: "wording" }] }
      : null;
    this.overview = overview();
    this.exchanges = exchanges();
  }
  answer(room, id, body) {
    if (room === undefined) return { ...this.overview, lock: this.lock };
    if (room === "messages" && id === undefined) return this.exchanges.map(({ messages, dropped, ...rest }) => rest);
    if (room === "messages") return this.exchanges.find((one) => String(one.number) === id);
    this.sent.push({ room, id, body });
    if (room === "approve" && this.lock) {
      this.lock.differences = this.lock.differences.filter((one) => body.name !== undefined && one.name !== body.name);
    }
    return { ok: true };
  }
}

function overview() {
  const cell = (from, to, calls, asked) => ({ from, to, calls, asked });
  return {
    address: "127.0.0.1:7250",
    version: "0.1.0",
    uptime: 22_320,
    maxWaiting: 1024,
    newest: 3,
    series: {
      step: 15,
      requests: points(2000, 3900).map(Math.round),
      p50: points(2, 4),
      p99: points(9, 19),
      allP50: 3.1,
      allP99: 17,
      denied: 27,
    },
    cells: [
      cell("2024-11-05", "2025-11-25", 310, 0),
      cell("2025-03-26", "2025-11-25", 880, 0),
      cell("2025-06-18", "2025-06-18", 2410, 4),
      cell("2025-11-25", "2025-11-25", 18_400, 88),
      cell("2025-11-25", "2026-07-28", 7211, 46),
      cell("2026-07-28", "2025-11-25", 9127, 57),
      cell("2026-07-28", "2026-07-28", 31_870, 214),
    ],
    servers: [
      up("desk", "https://desk.internal/mcp", "2026-07-28", { calls: 40_749, errors: 41, p50: 2.8 }),
      up("everything", "npx server-everything", "2025-11-25", { calls: 22_118, processes: 2, p50: 1.2 }),
      up("files", "npx server-filesystem ~/work", "2025-11-25", {
        stderr: ["Secure MCP Filesystem Server running on stdio"],
      }),
      {
        ...up("browser", "npx browser-mcp", undefined, { p50: undefined, recent: [], failures: 5, restarts: 4 }),
        state: "failed",
        reason:
          "server `browser` ended before it answered; its process ended with exit status: 1: the server closed it",
        retryIn: 38_000,
        stderr: ["Error: no browser found", "    at start (index.js:12)"],
      },
    ],
    callers: [
      caller("support-bot", "desk-agent 4.1", "2026-07-28", 31_204, 198, 300),
      caller("ada@team", "editor 1.108", "2025-11-25", 18_930, 112, 3000),
      caller("old-dashboard", "python-client 1.2", "2025-03-26", 1096, 0, 120_000),
    ],
    waiting: [
      waits("Which branch should be deployed?", "everything__deploy", "everything", "ada@team", 250, 350, 2),
      { ...waits("Sign in to Issues", "issues__list", "issues", "ci-runner", 60, 540, 1), kind: "url" },
    ],
    denials: [
      {
        name: "files__write_file",
        caller: "ci-runner",
        reason: "deny *__write_*",
        count: 26,
        time: Date.now() - 50_000,
      },
      {
        name: "desk__erase",
        caller: "old-dashboard",
        reason: "not in the list of what is allowed",
        count: 1,
        time: Date.now(),
      },
    ],
  };
}

const up = (id, target, revision, more) => ({
  id,
  target,
  revision,
  state: "ready",
  restarts: 0,
  failures: 0,
  stderr: [],
  processes: 1,
  tools: 12,
  calls: 0,
  errors: 0,
  p50: 0.7,
  recent: points(1, 4).slice(0, 24),
  ...more,
});
const caller = (name, client, revision, calls, asked, ago) => ({ caller: name, client, revision, calls, asked, ago });
const waits = (message, name, server, who, age, expires, step) => ({
  message,
  kind: "elicitation",
  name,
  server,
  caller: who,
  step,
  age,
  expires,
  exchange: 2,
});

function exchanges() {
  const json = (value) => JSON.stringify(value);
  const passed = (hop, part, at, value, method) => ({
    hop,
    part,
    at,
    method,
    text: json(value),
    bytes: json(value).length,
  });
  const first = { time: Date.now() - 9000, caller: "ada@team", client: "editor 1.108", asked: 0, dropped: 0 };
  const called = { name: "everything__echo", arguments: { message: "hello" } };
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  const asks = { message: "Which branch should be deployed?", requestedSchema: { type: "object", properties: {} } };
  return [
    {
      ...first,
      number: 1,
      method: "tools/call",
      name: "everything__echo",
      from: "2026-07-28",
      server: "everything",
      to: "2025-11-25",
      outcome: "ok",
      milliseconds: 3.4,
      messages: [
        passed("client", "request", 0, { ...called, _meta: meta }, "tools/call"),
        passed("server", "request", 0.4, { ...called, name: "echo" }, "tools/call"),
        passed("server", "result", 3, { content: [{ type: "text", text: "hello" }] }),
        passed("client", "result", 3.2, { resultType: "complete", content: [{ type: "text", text: "hello" }] }),
      ],
    },
    {
      ...first,
      number: 2,
      method: "tools/call",
      name: "everything__deploy",
      from: "2026-07-28",
      server: "everything",
      to: "2025-11-25",
      outcome: "asked",
      asked: 1,
      milliseconds: 31,
      messages: [
        passed("client", "request", 0, { name: "everything__deploy", _meta: meta }, "tools/call"),
        passed("server", "request", 0.3, { name: "deploy" }, "tools/call"),
        passed("server", "question", 8, asks, "elicitation/create"),
        passed("client", "result", 30, { resultType: "input_required", inputRequests: { a: { params: asks } } }),
      ],
    },
    {
      ...first,
      number: 3,
      method: "tools/list",
      from: "2025-11-25",
      outcome: "ok",
      milliseconds: 0.2,
      messages: [passed("client", "request", 0, {}, "tools/list"), passed("client", "result", 0.2, { tools: [] })],
    },
  ];
}

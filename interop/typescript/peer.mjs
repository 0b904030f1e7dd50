// The common parts of the TypeScript servers: a small server with every feature that a client may use.

const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

/** The tools. The script of a server with an older revision leaves out what the revision does not have. */
export const TOOLS = [
  { name: "echo", description: "Returns its text.", inputSchema: object({ text: { type: "string" } }) },
  {
    name: "add",
    description: "Adds two numbers.",
    inputSchema: object({ a: { type: "number" }, b: { type: "number" } }),
    outputSchema: object({ sum: { type: "number" } }),
  },
  { name: "fail", description: "Fails.", inputSchema: object({}) },
  {
    name: "slow",
    description: "Takes its time, and says how far it is.",
    inputSchema: object({ steps: { type: "integer" } }),
  },
  { name: "hide", description: "Closes its stream in the middle, and goes on.", inputSchema: object({}) },
  { name: "stopped", description: "How many slow calls were cancelled.", inputSchema: object({}) },
  { name: "ask", description: "Asks for a name.", inputSchema: object({}) },
  { name: "sample", description: "Asks a model.", inputSchema: object({}) },
  { name: "places", description: "Asks for the roots.", inputSchema: object({}) },
  { name: "grow", description: "Says that the list of tools changed.", inputSchema: object({}) },
  { name: "log", description: "Says something to the log of the client.", inputSchema: object({}) },
  { name: "touch", description: "Says that the readme changed.", inputSchema: object({}) },
  {
    name: "brew",
    description: "Brews for some milliseconds, as a task if that is wanted.",
    inputSchema: object({ time: { type: "integer" } }),
    execution: { taskSupport: "optional" },
  },
];

export const FORM = {
  message: "Who are you?",
  requestedSchema: object({ name: { type: "string" } }),
};

export const SAMPLE = {
  messages: [{ role: "user", content: { type: "text", text: "Say hello." } }],
  maxTokens: 10,
};

export const RESOURCES = [{ uri: "peer://readme", name: "readme", mimeType: "text/plain" }];
export const TEMPLATES = [{ uriTemplate: "peer://greeting/{name}", name: "greeting" }];
export const PROMPTS = [{ name: "greet", description: "Greets.", arguments: [{ name: "name", required: true }] }];

export const LOGGED = { level: "warning", logger: "peer", data: "careful" };
export const TOUCHED = { uri: "peer://readme" };

export const said = (text) => ({ content: [{ type: "text", text }] });

export function read(uri) {
  if (uri === "peer://readme") return { contents: [{ uri, mimeType: "text/plain", text: "Read me." }] };
  const name = uri.match(/^peer:\/\/greeting\/(\w+)$/)?.[1];
  return name && { contents: [{ uri, text: `Hello, ${name}!` }] };
}

export const greet = ({ name }) => ({
  messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }],
});

export const complete = ({ value }) => ({
  completion: { values: ["ada", "alan"].filter((name) => name.startsWith(value)) },
});

export async function brew({ time }) {
  await new Promise((resolve) => setTimeout(resolve, time));
  return said("brewed");
}

let stopped = 0;

/** The tools that need no feature of the client. */
export const PLAIN = {
  echo: ({ text }) => said(text),
  add: ({ a, b }) => ({ ...said(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  fail: () => ({ ...said("on purpose"), isError: true }),
  stopped: () => said(String(stopped)),
};

/** Takes `steps` steps of some milliseconds and reports each, until it is cancelled. */
export async function slow({ steps }, signal, report) {
  for (let step = 1; step <= steps; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (signal.aborted) {
      stopped += 1;
      return said("stopped");
    }
    await report(step, steps);
  }
  return said("done");
}

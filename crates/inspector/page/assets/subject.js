// A tool, prompt, resource or resource template, with its method and schema.

import { isObject } from "./json.js";
import { finish } from "./store.js";
import { expand, variables } from "./uri-template.js";

/**
 * The entry with this name in a tab, or null.
 *
 * @param {Server} server
 * @param {Offer | undefined} offer
 * @param {string} tab
 * @param {string} name
 * @returns {Subject | null}
 */
export function subject(server, offer, tab, name) {
  if (!offer || !name) return null;
  if (tab === "tools") {
    const tool = offer.tools.find((one) => one.name === name);
    return tool ? ofTool(tool, server) : null;
  }
  if (tab === "prompts") {
    const prompt = offer.prompts.find((one) => one.name === name);
    return prompt ? ofPrompt(prompt, server) : null;
  }
  const resource = offer.resources.find((one) => one.uri === name);
  if (resource) return ofResource(resource);
  const template = offer.resourceTemplates.find((one) => one.uriTemplate === name);
  return template ? ofTemplate(template, server) : null;
}

/**
 * @param {Tool} tool
 * @param {Server | undefined} server
 */
export function marksOf(tool, server) {
  /** @type {Mark[]} */
  const list = [];
  if (isDestructive(tool)) list.push(["error", "destructive"]);
  if (server && taskSupport(tool, server)) list.push(["plain", "task"]);
  return list;
}

export const isDestructive = (/** @type {Tool} */ tool) =>
  tool.annotations?.destructiveHint === true && tool.annotations.readOnlyHint !== true;

/** Whether a tool may destroy something. The specification's default is that it may. */
export const mayDestroy = (/** @type {Tool} */ tool) =>
  tool.annotations?.destructiveHint !== false && tool.annotations?.readOnlyHint !== true;

/**
 * The display name: the title, the title in a tool's annotations, or the name. The same rule as `display_name` in the
 * crate `turnbuckle-protocol`.
 *
 * @param {{ name?: string, title?: string, annotations?: any }} entry
 * @returns {string}
 */
export const displayName = (entry) => entry.title?.trim() || entry.annotations?.title?.trim() || entry.name || "";

/**
 * Whether a call may become a task. Both the tool and the server must allow it.
 *
 * @param {Tool} tool
 * @param {Server} server
 */
function taskSupport(tool, server) {
  const support = tool.execution?.taskSupport;
  /** @type {any} */
  const offered = server.capabilities ?? {};
  const isOffered = offered.tasks?.requests?.tools?.call ?? offered.extensions?.["io.modelcontextprotocol/tasks"];
  return isOffered && (support === "optional" || support === "required") ? support : undefined;
}

/**
 * @param {Tool} tool
 * @param {Server} server
 * @returns {Subject}
 */
function ofTool(tool, server) {
  return {
    item: tool,
    name: tool.name,
    title: displayName(tool),
    description: tool.description,
    method: "tools/call",
    verb: "call",
    act: "Call",
    object: tool.name,
    schema: tool.inputSchema && isObject(tool.inputSchema) ? tool.inputSchema : { type: "object" },
    marks: marksOf(tool, server),
    isDestructive: isDestructive(tool),
    task: taskSupport(tool, server),
    app: tool._meta?.ui?.resourceUri ?? tool._meta?.["ui/resourceUri"],
    params: (value) => ({ name: tool.name, arguments: value }),
    values: argumentsOf,
  };
}

/** The arguments of a call. */
const argumentsOf = (/** @type {JsonObject | undefined} */ params) =>
  /** @type {JsonObject} */ (params?.arguments ?? {});

/**
 * @param {Prompt} prompt
 * @param {Server} server
 * @returns {Subject}
 */
function ofPrompt(prompt, server) {
  const given = prompt.arguments ?? [];
  /** @type {Schema} */
  const schema = {
    type: "object",
    properties: Object.fromEntries(
      given.map((one) => [one.name, { type: "string", title: one.title, description: one.description }]),
    ),
    required: given.filter((one) => one.required).map((one) => one.name),
    additionalProperties: false,
  };
  return {
    item: prompt,
    name: prompt.name,
    title: displayName(prompt),
    description: prompt.description,
    method: "prompts/get",
    verb: "get",
    act: "Get",
    object: prompt.name,
    schema,
    marks: [],
    complete: completing(server, { type: "ref/prompt", name: prompt.name }),
    params: (value) => ({ name: prompt.name, ...(Object.keys(value).length ? { arguments: value } : {}) }),
    values: argumentsOf,
  };
}

/**
 * @param {Resource} resource
 * @returns {Subject}
 */
function ofResource(resource) {
  return {
    item: resource,
    name: resource.uri,
    title: displayName(resource),
    description: resource.description,
    method: "resources/read",
    verb: "read",
    act: "Read",
    object: resource.uri,
    schema: { type: "object", properties: {}, additionalProperties: false },
    marks: [],
    uri: () => resource.uri,
    about: [resource.mimeType, resource.size !== undefined && `${resource.size} bytes`].filter(Boolean).join(", "),
    params: () => ({ uri: resource.uri }),
    values: () => ({}),
    isFixed: true,
  };
}

/**
 * @param {ResourceTemplate} template
 * @param {Server} server
 * @returns {Subject}
 */
function ofTemplate(template, server) {
  const found = variables(template.uriTemplate);
  const schema = {
    type: "object",
    properties: Object.fromEntries(found.map((name) => [name, { type: "string" }])),
    required: [],
    additionalProperties: false,
  };
  return {
    item: template,
    name: template.uriTemplate,
    title: displayName(template),
    description: template.description,
    method: "resources/read",
    verb: "read",
    act: "Read",
    schema,
    marks: [],
    about: template.mimeType,
    uri: (value) => expand(template.uriTemplate, value),
    complete: completing(server, { type: "ref/resource", uri: template.uriTemplate }),
    params: (value) => ({ uri: expand(template.uriTemplate, value) }),
    values: () => null,
  };
}

/** The pause in typing before the server is asked, in milliseconds. It is too short to notice. */
const PAUSE = 150;

/** How long an answer is kept, in milliseconds: about the time needed to fill in a form. */
const KEPT_FOR = 60_000;

/**
 * Completion by the server, if it has the capability. The server is asked when the typing pauses, and once for the
 * same text.
 *
 * @param {Server} server
 * @param {object} ref
 * @returns {Complete | undefined}
 */
function completing(server, ref) {
  if (!server.capabilities?.completions) return undefined;
  /** @type {Map<string, { values: string[], until: number }>} */
  const kept = new Map();
  let turn = 0;
  return async (/** @type {string} */ name, /** @type {string} */ value) => {
    turn += 1;
    const own = turn;
    const key = JSON.stringify([name, value]);
    const known = kept.get(key);
    if (known && known.until > Date.now()) return known.values;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (own !== turn) return [];
    const done = await finish(server.id, "completion/complete", { ref, argument: { name, value } }).catch(() => null);
    const { completion } = /** @type {{ completion?: { values?: string[] } }} */ (done?.result ?? {});
    const values = completion?.values ?? [];
    if (done) kept.set(key, { values, until: Date.now() + KEPT_FOR });
    return values;
  };
}

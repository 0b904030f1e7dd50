// A call saved as a test: a file that `turnbuckle test` runs, with what came back as what is expected.

import { announce, save } from "./element.js";
import { isObject, print } from "./json.js";
import { state } from "./store.js";

/** Values that are expected, at the most: what changes with every call is taken out by hand. */
const MOST_VALUES = 20;
/** Text that is expected whole; of a longer one, the first line. */
const LONGEST_TEXT = 500;

/** @param {Exchange} exchange */
export function saveAsTest(exchange) {
  const name = `${exchange.object ?? "call"}.test.json`;
  save(name.replaceAll(/[^\w.-]/g, "_"), `${print(testOf(exchange), 2)}\n`);
  announce("saved as a test");
}

/**
 * The file: one server, one call.
 *
 * @param {Exchange} exchange
 */
export function testOf(exchange) {
  const server = state.servers.get(exchange.server);
  const name = (server?.name ?? "server").replaceAll(/[^\w.-]+/g, "-");
  const answers = (exchange.answers ?? []).filter((one) => one.how === "result").map((one) => one.result);
  return {
    turnbuckle: "test/1",
    servers: { [name]: server ? howToReach(server) : {} },
    calls: [
      {
        name: `${exchange.object ?? exchange.method}`,
        server: name,
        method: exchange.method,
        params: exchange.params ?? {},
        ...(answers.length ? { answers } : {}),
        expect: expected(exchange),
      },
    ],
  };
}

/** @param {Server} server */
function howToReach(server) {
  if (server.launch) return server.launch;
  if (/^https?:\/\//.test(server.target)) return { url: server.target };
  return { name: server.name };
}

/** @param {Exchange} exchange */
function expected({ result, error, outputCheck }) {
  if (error && !result) return [{ error: { code: error.code ?? undefined, message: error.message } }];
  /** @type {object[]} */
  const list = [{ isError: result?.isError === true }];
  if (outputCheck) list.push({ outputSchema: true });
  const structured = result?.structuredContent;
  if (structured !== undefined) return [...list, ...values("$.structuredContent", structured)];
  const blocks = Array.isArray(result?.content) ? result.content : [];
  blocks.forEach((block, at) => {
    if (!isObject(block) || typeof block.text !== "string" || at >= MOST_VALUES) return;
    const path = `$.content[${at}].text`;
    if (block.text.length <= LONGEST_TEXT) list.push({ path, equals: block.text });
    else list.push({ path, contains: block.text.split("\n", 1)[0].slice(0, LONGEST_TEXT) });
  });
  return list;
}

/**
 * Each plain value inside of a value, by its path.
 *
 * @param {string} root
 * @param {unknown} whole
 */
function values(root, whole) {
  /** @type {object[]} */
  const found = [];
  const walk = (/** @type {string} */ path, /** @type {unknown} */ value) => {
    if (found.length >= MOST_VALUES) return;
    if (Array.isArray(value)) {
      found.push({ path, count: value.length });
      value.forEach((one, at) => walk(`${path}[${at}]`, one));
    } else if (isObject(value)) {
      for (const [key, one] of Object.entries(value)) walk(`${path}${member(key)}`, one);
    } else {
      found.push({ path, equals: value });
    }
  };
  walk(root, whole);
  return found.slice(0, MOST_VALUES);
}

const member = (/** @type {string} */ key) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

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
 * The file: one call. A server that is a command is named on the command line, after `--`.
 *
 * @param {Exchange} exchange
 */
export function testOf(exchange) {
  const server = state.servers.get(exchange.server);
  const isRemote = /^https?:\/\//.test(server?.target ?? "");
  // The name itself: the command line has it quoted for a shell.
  const named = /** @type {{ name?: string } | undefined} */ (server?.launch)?.name;
  const word = named || (isRemote ? server?.target : undefined);
  const { name, arguments: given } = /** @type {{ name?: string, arguments?: Json }} */ (exchange.params ?? {});
  const hasFailed = exchange.result?.isError === true || !exchange.result;
  return {
    ...(word ? { server: word } : {}),
    calls: [
      {
        name: `${exchange.object ?? exchange.method}`,
        tool: name ?? exchange.object,
        arguments: given ?? {},
        ...(hasFailed ? { error: true } : {}),
        expect: expected(exchange),
      },
    ],
  };
}

/** @param {Exchange} exchange */
function expected({ result }) {
  if (!result) return [];
  const structured = result.structuredContent;
  if (structured !== undefined) return values("$.structuredContent", structured);
  /** @type {object[]} */
  const list = [];
  const blocks = Array.isArray(result.content) ? result.content : [];
  blocks.forEach((block, index) => {
    if (!isObject(block) || typeof block.text !== "string" || index >= MOST_VALUES) return;
    const at = `$.content[${index}].text`;
    if (block.text.length <= LONGEST_TEXT) list.push({ at, equals: block.text });
    else list.push({ at, contains: block.text.split("\n", 1)[0].slice(0, LONGEST_TEXT) });
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
      found.push({ at: `${path}[*]`, count: value.length });
      value.forEach((one, index) => walk(`${path}[${index}]`, one));
    } else if (isObject(value)) {
      for (const [key, one] of Object.entries(value)) walk(`${path}${member(key)}`, one);
    } else {
      found.push({ at: path, equals: value });
    }
  };
  walk(root, whole);
  return found.slice(0, MOST_VALUES);
}

const member = (/** @type {string} */ key) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

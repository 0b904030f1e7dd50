// Saves a call as a file for `turnbuckle test`. The call's result becomes the expected result.

import { announce, save } from "./element.js";
import { isObject, print } from "./json.js";
import { state } from "./store.js";

/** The most expected values. The user deletes those that change with every call. */
const MOST_VALUES = 20;
/** Of a longer text, only the first line is expected. */
const LONGEST_TEXT = 500;

/** @param {Exchange} exchange */
export function saveAsTest(exchange) {
  const name = `${exchange.object ?? "call"}.test.json`;
  save(name.replaceAll(/[^\w.-]/g, "_"), `${print(testOf(exchange), 2)}\n`);
  announce("saved as a test");
}

/**
 * A test file with one call. A server without a name or URL is given on the command line, after `--`.
 *
 * @param {Exchange} exchange
 */
export function testOf(exchange) {
  const server = state.servers.get(exchange.server);
  const isRemote = /^https?:\/\//.test(server?.target ?? "");
  // The plain name, because the name in the command line is quoted for a shell.
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
 * The plain values inside a value, by path.
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

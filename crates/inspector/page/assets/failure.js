// An error: where it happened, its message, and a hint.

import { h } from "./element.js";
import { tree } from "./tree.js";

/** @type {Record<string, string>} */
const WHO = {
  transport: "The connection failed",
  protocol: "The server refused the request",
  tool: "The tool says that it failed",
  authorization: "The server requires authorization",
  validation: "Turnbuckle did not send this",
};
/** JSON-RPC's code of an internal error of the server. */
const INTERNAL = -32603;
const CODES = new Map([
  [-32700, "parse error"],
  [-32600, "invalid request"],
  [-32601, "method not found"],
  [-32602, "invalid params"],
  [-32603, "internal error"],
  [-32002, "resource not found"],
  [-32042, "a URL has to be visited first"],
  [-32020, "headers and body differ"],
  [-32021, "a client capability is missing"],
  [-32022, "revision not supported"],
]);

/**
 * Text in which `names` between backticks become code.
 *
 * @param {string} words
 */
export const coded = (words) =>
  String(words)
    .split(/`([^`\n]+)`/)
    .map((part, at) => (at % 2 ? h("code", null, part) : part));

/**
 * The message, followed by the lines that a program printed.
 *
 * @param {string} message
 */
function said(message) {
  const [first, ...lines] = message.split("\n");
  const printed = lines.map((line) => line.replace(/^ {2}/, "")).join("\n");
  return [
    h("p.what", null, coded(first)),
    printed ? h("pre.text.printed", { tabindex: "0", "aria-label": "Standard error" }, printed) : null,
  ];
}

/** @param {Failure} error */
export function failure(error) {
  const code =
    error.code === null || error.code === undefined
      ? null
      : `${error.code}${CODES.has(error.code) ? ` ${CODES.get(error.code)}` : ""}`;
  return h(
    "div.failure",
    { role: "group", "aria-label": "Error" },
    h(
      "p.who",
      null,
      error.code === INTERNAL ? "The server failed" : (WHO[error.who ?? ""] ?? "It failed"),
      code && h("span.code", null, ` · ${code}`),
    ),
    ...said(error.message),
    error.causes?.length
      ? h(
          "ul.causes",
          null,
          error.causes.map((cause) => h("li", null, coded(cause))),
        )
      : null,
    error.data === undefined || error.data === null
      ? null
      : h("div.block", null, h("div.kind", null, "data"), tree(error.data, { search: false })),
    error.hint ? h("p.hint", null, h("strong", null, "Try this: "), coded(error.hint)) : null,
  );
}

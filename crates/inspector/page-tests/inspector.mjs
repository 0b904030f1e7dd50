// The real binary and its page.

import { resolve } from "node:path";

import { begin } from "../../../scripts/child.mjs";
import { openPage } from "./browser.mjs";

export const turnbuckle = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? "turnbuckle");

/** Starts `turnbuckle inspect` with these arguments. */
export async function inspect(words, options) {
  const command = ["inspect", "--no-open", "--port", "0", ...words];
  const { child, found } = await begin(turnbuckle, command, /(http:\/\/\S+)#token=(\S+)/, options);
  return { child, url: found[1], token: found[2] };
}

/** Opens the page of an inspector. A debug build serves the page from the folder TURNBUCKLE_PAGE, if it is set. */
export const look = (browser, { url, token }, options = {}) => openPage(browser, url, { token, ...options });

// The binary as people start it, and its page.

import { resolve } from "node:path";

import { begin } from "../../../scripts/child.mjs";
import { openPage } from "./browser.mjs";

export const turnbuckle = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? "turnbuckle");

/** `turnbuckle inspect` with these words. */
export async function inspect(words, options) {
  const command = ["inspect", "--no-open", "--port", "0", ...words];
  const { child, found } = await begin(turnbuckle, command, /(http:\/\/\S+)#token=(\S+)/, options);
  return { child, url: found[1], token: found[2] };
}

/** The page of an inspector. A debug build reads it from the folder TURNBUCKLE_PAGE, if there is one. */
export const look = (browser, { url, token }, options = {}) => openPage(browser, url, { token, ...options });

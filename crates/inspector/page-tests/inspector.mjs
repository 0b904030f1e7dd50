// The binary as people start it, and its page.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { resolve } from "node:path";

import { openPage } from "./browser.mjs";

export const turnbuckle = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? "turnbuckle");
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill()));

/** Starts a program, and gives what it says on a line that fits. */
export async function begin(program, words, pattern, options = {}) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], ...options });
  children.add(child);
  child.on("exit", () => children.delete(child));
  const found = await new Promise((found, failed) => {
    const said = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const fits = pattern.exec(line);
        if (fits) found(fits);
      });
    }
    child.on("exit", (code) => failed(new Error(`${program} ended with ${code}: ${said.join("\n")}`)));
  });
  return { child, found };
}

export async function stop(child) {
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await over;
}

/** `turnbuckle inspect` with these words. */
export async function inspect(words, options) {
  const { child, found } = await begin(turnbuckle, ["inspect", "--no-open", "--port", "0", ...words], /(http:\/\/\S+)#token=(\S+)/, options);
  return { child, url: found[1], token: found[2] };
}

/** The page of an inspector. A debug build reads it from the folder TURNBUCKLE_PAGE, if there is one. */
export const look = (browser, { url, token }, options = {}) => openPage(browser, url, { token, ...options });

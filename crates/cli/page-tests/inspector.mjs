// The binary as people start it, and its page.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { readFile } from "node:fs/promises";
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

/** The page of an inspector. PAGE names a folder whose files stand in for those in the binary. */
export async function look(browser, { url, token }, { before, ...options } = {}) {
  const page = await openPage(browser, url, { token, ...options, prepare: async (page) => {
    await before?.(page);
    if (process.env.PAGE) await page.route((asked) => asked.origin === new URL(url).origin && !asked.pathname.startsWith("/api"), serveFrom(process.env.PAGE));
  } });
  return page;
}

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css" };
const serveFrom = (folder) => async (route) => {
  const path = new URL(route.request().url()).pathname;
  const name = path === "/" ? "index.html" : path.slice(1);
  const body = await readFile(`${folder}/${name}`).catch(() => null);
  return body ? route.fulfill({ body, contentType: TYPES[name.split(".").at(-1)] }) : route.continue();
};

// A real browser whose pages call the demo server: from loopback, from an allowed origin, and from a foreign origin.
//
//   node browser.mjs CHROMIUM TURNBUCKLE

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

import { chromium } from "playwright-core";

import { begin, stop } from "../../scripts/child.mjs";
import { check, holds, same } from "../typescript/report.mjs";

const [executablePath, turnbuckle] = process.argv.slice(2);

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-proxy-server",
  // These two names resolve to this machine. No other host is reachable.
  "--host-resolver-rules=MAP app.example 127.0.0.1, MAP evil.example 127.0.0.1",
];

const EXPECTED = {
  legacy: {
    revision: "2025-11-25",
    hasSession: true,
    initialized: 202,
    sum: 42,
    ended: true,
    after: 404,
  },
  modern: { sum: 42, session: null, reports: [1, 2, 3], counted: "counted to 3" },
};
const REFUSED = { legacy: { error: "TypeError" }, modern: { error: "TypeError" } };

/** Serves the page under any host name. */
async function servePage() {
  const files = { "/": ["page.html", "text/html"], "/page.mjs": ["page.mjs", "text/javascript"] };
  const server = createServer(async (request, response) => {
    const file = files[new URL(request.url, "http://localhost").pathname];
    if (!file) return response.writeHead(404).end();
    const text = await readFile(new URL(file[0], import.meta.url));
    response.writeHead(200, { "content-type": file[1] }).end(text);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return address.port;
}

/** Starts the demo server, and waits until it listens. */
const serveDemo = (...options) =>
  begin(turnbuckle, ["serve", "--listen", "127.0.0.1:0", ...options], /http:\/\/\S+\/mcp\b/);

const port = await servePage();
const app = `http://app.example:${port}`;
const demos = [await serveDemo("--cors", "--allow-origin", app), await serveDemo()];
const [open, silent] = demos.map(({ found }) => found[0]);
const browser = await chromium.launch({ executablePath, args: FLAGS, headless: true });

/** The content of the page when it is opened at this origin. */
async function shown(origin, server) {
  const page = await browser.newPage();
  await page.goto(`${origin}/?server=${encodeURIComponent(server)}`);
  await page.waitForSelector("#shown[data-done]");
  const text = await page.textContent("#shown");
  await page.close();
  return JSON.parse(text);
}

/** The statuses of the responses that the browser received, including those that it hides from the page. */
async function statuses(origin, script) {
  const page = await browser.newPage();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  await page.goto(`${origin}/?server=`);
  await page.waitForSelector("#shown[data-done]");
  const seen = [];
  devtools.on("Network.responseReceivedExtraInfo", ({ statusCode }) => seen.push(statusCode));
  const outcome = await page.evaluate(script, open);
  await page.close();
  return { outcome, seen };
}

const post = (url, mode, type) =>
  `fetch("${url}", { method: "POST", mode: "${mode}", headers: { "content-type": "${type}" }, body: "{}" })
    .then((response) => response.status, (error) => error.name)`;

await check("a page of another port, with CORS", async () => {
  same(await shown(`http://127.0.0.1:${port}`, open), EXPECTED, "what the page shows");
});
await check("a page of an allowed origin, with CORS", async () => {
  same(await shown(app, open), EXPECTED, "what the page shows");
});
await check("a page of another port, without CORS", async () => {
  same(await shown(`http://127.0.0.1:${port}`, silent), REFUSED, "what the page shows");
});
await check("a page of a foreign origin learns nothing", async () => {
  same(await shown(`http://evil.example:${port}`, open), REFUSED, "what the page shows");
});
await check("a page of a foreign origin is refused before it asks", async () => {
  const { outcome, seen } = await statuses(`http://evil.example:${port}`, post(open, "cors", "application/json"));
  same(outcome, "TypeError", "what the page learns");
  holds(seen.includes(403) && !seen.includes(200), `the statuses are ${seen}`);
});
await check("a page of a foreign origin is refused when it does not ask", async () => {
  const { seen } = await statuses(`http://evil.example:${port}`, post(open, "no-cors", "text/plain"));
  same(seen, [403], "the statuses");
});
await check("a name that was made to point here is refused", async () => {
  const rebound = open.replace("127.0.0.1", "evil.example");
  const page = await browser.newPage();
  const response = await page.goto(rebound);
  same(response.status(), 403, "the status of the page");
  const status = await page.evaluate(post("/mcp", "same-origin", "application/json"));
  same(status, 403, "the status that the page reads");
  await page.close();
});

await browser.close();
for (const { child } of demos) await stop(child);
console.log("done");
process.exit();

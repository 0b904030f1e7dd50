// The sign-in at a server that requires it, step by step: node login.test.mjs TURNBUCKLE EXAMPLES

import { createServer, request as send } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { chromium } from "playwright-core";

import { begin, listen, stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, look, turnbuckle } from "./inspector.mjs";

const home = await mkdtemp(join(tmpdir(), "turnbuckle-page-"));
const env = {
  ...process.env,
  HOME: home,
  XDG_CONFIG_HOME: home,
  XDG_DATA_HOME: home,
  XDG_STATE_HOME: home,
  XDG_CACHE_HOME: home,
};
const issuer = await begin(resolve(process.argv[3], "authorization_server"), ["127.0.0.1:0"], /listening at (\S+)/);
const demo = await begin(
  turnbuckle,
  ["serve", "--no-page", "--listen", "127.0.0.1:0"],
  /http:\/\/127\.0\.0\.1:(\d+)\/mcp\s/,
);
const tokens = new Set();
const door = createServer((request, response) => {
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(
      JSON.stringify({
        resource: `${origin}/mcp`,
        authorization_servers: [issuer.found[1]],
        scopes_supported: ["notes:read"],
      }),
    );
  }
  if (!/^Bearer \S+/.test(request.headers.authorization ?? "")) {
    response.writeHead(401, {
      "www-authenticate": `Bearer resource_metadata="${metadata}", scope="notes:read"`,
    });
    return response.end();
  }
  tokens.add(request.headers.authorization);
  const { authorization, ...headers } = request.headers;
  const onward = send(
    {
      host: "127.0.0.1",
      port: demo.found[1],
      path: request.url,
      method: request.method,
      headers: { ...headers, host: `127.0.0.1:${demo.found[1]}` },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  return request.pipe(onward);
});
const origin = `http://127.0.0.1:${await listen(door)}`;
const url = `${origin}/mcp`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const inspector = await inspect([url], { env });

await claim("a server that requires authorization is marked, and no page opens automatically", async (assert) => {
  const page = await look(browser, inspector);
  await page.locator(".failure .who", { hasText: "requires authorization" }).waitFor();
  assert.equal(page.context().pages().length, 1);
  await page.context().close();
});
await claim("the user signs in with a link, step by step, calls a tool, and signs out", async (assert) => {
  const page = await look(browser, inspector, { hash: `#/${encodeURIComponent(new URL(url).host)}/server` });
  await page.getByRole("button", { name: "Sign in" }).click();
  const link = page.getByRole("link", { name: /Sign in at/ });
  await link.waitFor();
  if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/login.png` });
  assert.equal(new URL(await link.getAttribute("href")).origin, new URL(issuer.found[1]).origin);
  const [opened] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await opened.waitForLoadState();
  await opened.close();
  await page.bringToFront();
  const since = performance.now();
  await page.locator(".state.open").waitFor();
  const waited = Math.round(performance.now() - since);
  await page.locator(".steps .pill.done").first().waitFor();
  await page.locator('nav a[data-tab="tools"]').click();
  await page.locator("tb-offers [role=option]").first().waitFor();
  assert.ok(tokens.size > 0);
  const wire = await page.evaluate(() =>
    fetch("/api/wire?limit=5000", {
      headers: { authorization: `Bearer ${sessionStorage.getItem("turnbuckle.token")}` },
    }).then((answer) => answer.text()),
  );
  for (const token of tokens) assert.equal(wire.includes(token.slice(7)), false, "no token is shown");
  await page.locator('nav a[data-tab="server"]').click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator(".steps", { hasText: "sign out" }).waitFor();
  if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/login-end.png` });
  await page.context().close();
  return `open ${waited} ms after the browser came back, signed out after ${Math.round(performance.now() - since)} ms`;
});

await stop(inspector.child);
await stop(demo.child);
await stop(issuer.child);
door.closeAllConnections();
door.close();
await browser.close();
await rm(home, { recursive: true, force: true });
end();

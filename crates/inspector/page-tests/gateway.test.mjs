// The page of `turnbuckle up`, with clients and servers of both eras: node gateway.test.mjs TURNBUCKLE

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

import { begin, stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { look, turnbuckle } from "./inspector.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const home = await mkdtemp(join(tmpdir(), "turnbuckle-up-"));
const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home };
// A program that writes to standard error, a legacy server, and a program that ends at once.
const program = { command: "sh", args: ["-c", `echo "the program is up" >&2; exec ${turnbuckle} serve --stdio`] };
await writeFile(
  join(home, "turnbuckle.toml"),
  [
    "[gateway]",
    'lock = "enforce"',
    "[[gateway.policy]]",
    'deny = ["*__crash"]',
    "[servers.near]",
    `command = ${JSON.stringify(program.command)}`,
    `args = ${JSON.stringify(program.args)}`,
    "[servers.old]",
    `command = ${JSON.stringify(turnbuckle)}`,
    'args = ["serve", "--stdio"]',
    'era = "legacy"',
    "[servers.broken]",
    'command = "sh"',
    'args = ["-c", "echo no luck >&2; exit 3"]',
    "",
  ].join("\n"),
);
// One tool of the program differs from its approved definition.
await run("lock", "--config", "turnbuckle.toml", "--trust", "--only", "near", "--only", "old");
const lock = JSON.parse(await readFile(join(home, "turnbuckle.lock"), "utf8"));
const pin = lock.servers.near.tools.echo;
pin.definition.description = "Says nothing.";
pin.digest = `sha256:${"0".repeat(64)}`;
await writeFile(join(home, "turnbuckle.lock"), JSON.stringify(lock));
const words = ["up", "turnbuckle.toml", "--trust", "--listen", "127.0.0.1:0"];
const { child, found } = await begin(turnbuckle, words, /(http:\/\/\S+)#token=(\S+)/, { env, cwd: home });
const site = { url: found[1], token: found[2] };
const endpoint = `${site.url}mcp`;

/** Runs a command of the binary and returns its output. */
function run(...line) {
  return new Promise((done) => {
    const started = spawn(turnbuckle, line, { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (piece) => (text += piece));
    started.on("close", () => done(text));
  });
}

const at = (hash, act, options) => async (assert) => {
  const page = await look(browser, site, { hash, ...options });
  try {
    await act(page, assert);
    assert.deepEqual(page.errors, []);
  } catch (error) {
    if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/gateway-failed.png` });
    throw error;
  } finally {
    await page.context().close();
  }
};

await claim(
  "servers are shown with revision, state, restarts and stderr",
  at("#/~gateway", async (page, assert) => {
    const row = (name) => page.locator("tb-gateway tr", { hasText: name }).first();
    await row("near").getByText("2026-07-28").waitFor();
    await row("near").getByText("Healthy").waitFor();
    await row("old").getByText("2025-11-25").waitFor();
    await row("broken")
      .getByText(/Restarting|Stopped/)
      .waitFor();
    await page.getByRole("button", { name: "Log of broken" }).click();
    await page.getByRole("log").getByText("no luck").waitFor();
    await page.getByRole("button", { name: "Log of near" }).click();
    await page.getByRole("log").getByText("the program is up").waitFor();
    assert.ok(await page.locator('.rail a[data-view="~gateway"][aria-current=page]').isVisible());
  }),
);
await claim(
  "definitions that differ from the lock file are withheld, and offered again after approval",
  at("#/~gateway", async (page, assert) => {
    assert.match(await run("call", endpoint, "near__echo", "text=hi"), /withheld|no tool/);
    const box = page.locator("tb-gateway .box", { hasText: "Changed tools" }).last();
    await box.getByText("1 withheld").waitFor();
    await box.getByRole("group", { name: "Changes of echo" }).getByText("Says nothing.").waitFor();
    await box.getByRole("button", { name: "Approve echo of near" }).click();
    await box.getByText("as approved", { exact: true }).waitFor();
    assert.equal(await run("call", endpoint, "near__echo", "text=hi"), "hi\n");
    const kept = JSON.parse(await readFile(join(home, "turnbuckle.lock"), "utf8"));
    assert.notEqual(kept.servers.near.tools.echo.digest, pin.digest);
  }),
);
await claim(
  "calls are counted by revision, caller and server, and both hops are joined",
  at("#/~gateway", async (page, assert) => {
    const modern = await run("call", endpoint, "old__echo", "text=hello");
    const legacy = await run("call", endpoint, "near__echo", "text=hi", "--revision", "2025-11-25");
    assert.deepEqual([modern, legacy], ["hello\n", "hi\n"]);
    await page.locator(".map tbody tr", { hasText: "2026-07-28" }).locator("td").nth(3).getByText("1").waitFor();
    await page.locator("tb-gateway .box", { hasText: "Callers" }).getByText("2025-11-25").first().waitFor();
    await page.goto(`${site.url}#/~gateway/messages`);
    await page.getByRole("option", { name: /tools\/call old__echo/ }).click();
    const hops = page.locator(".hop").first();
    await hops.locator(".ofclient", { hasText: "old__echo" }).waitFor();
    await hops.locator(".ofserver", { hasText: '"name": "echo"' }).waitFor();
    assert.ok(!(await hops.locator(".ofserver pre").innerText()).includes("protocolVersion"));
    assert.equal(await page.locator(".hop").count(), 2);
  }),
);
await claim(
  "a question of a legacy server waits for its modern client, and goes when the client answers",
  at("#/~gateway", async (page) => {
    const asking = spawn(turnbuckle, ["call", endpoint, "old__greet", "--json"], { env, cwd: home, stdio: "ignore" });
    await new Promise((done) => asking.on("close", done));
    await page.getByText("Whom may I greet?").first().waitFor();
    await page.getByRole("link", { name: "Show" }).first().click();
    await page.locator(".message.asked", { hasText: "elicitation/create" }).first().waitFor();
    await run("call", endpoint, "old__greet", "--answer", "name=Ada");
    await page
      .getByRole("option", { name: /old__greet/ })
      .nth(1)
      .waitFor();
  }),
);
await claim(
  "denied calls are shown with their rule",
  at("#/~gateway", async (page, assert) => {
    assert.match(await run("call", endpoint, "near__crash"), /no tool|unknown/);
    const raw = await fetch(endpoint, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "near__crash",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "near__crash",
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    assert.match(await raw.text(), /unknown tool/);
    const box = page.locator("tb-gateway .box", { hasText: "Denied by policy" }).last();
    await box.getByText("near__crash").waitFor();
    await box.getByText("*__crash").waitFor();
  }),
);
await claim(
  "the config is read again, and a server is restarted",
  at("#/~gateway", async (page) => {
    const text = await readFile(join(home, "turnbuckle.toml"), "utf8");
    await writeFile(join(home, "turnbuckle.toml"), text.slice(0, text.indexOf("[servers.broken]")));
    await page.getByRole("button", { name: "Reload config" }).click();
    await page.locator("tb-gateway tr", { hasText: "broken" }).first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Restart near" }).click();
    await page.locator("tb-gateway tr", { hasText: "near" }).first().getByText("Healthy").waitFor();
  }),
);
await browser.close();
await stop(child);
await rm(home, { recursive: true, force: true });
end();

// The list of servers, with the real binary and real programs: node shelf.test.mjs TURNBUCKLE

import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

import { stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, look, turnbuckle } from "./inspector.mjs";

const folder = await realpath(await mkdtemp(join(tmpdir(), "turnbuckle-shelf-")));
const program = fileURLToPath(new URL("shelf-server.mjs", import.meta.url));
const node = process.execPath;
const work = join(folder, "work");
await mkdir(work);
await writeFile(join(work, "watched.txt"), "one");
const config = join(folder, "mcp.json");
const entry = (...args) => ({ command: node, args: [program, ...args] });
await writeFile(
  config,
  JSON.stringify({
    inputs: [{ id: "dsn", description: "Connection string", password: true }],
    mcpServers: {
      plain: entry("plain"),
      asking: entry("$" + "{input:dsn}"),
      undeclared: entry("$" + "{input:api-key}"),
      nowhere: { command: "no-such-program-of-turnbuckle" },
      broken: { command: 7 },
    },
  }),
);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

/** Calls a tool without arguments and returns the text of its result. */
async function call(page, server, tool) {
  await page.goto(`${page.url().split("#")[0]}#/${encodeURIComponent(server)}/tools/${tool}`);
  await page.locator(".callform h1", { hasText: tool }).waitFor();
  const before = await page.evaluate(() => document.querySelector("tb-run")?.n ?? 0);
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction((n) => (document.querySelector("tb-run")?.n ?? 0) > n, before);
  await page.locator("tb-run .pill.done").waitFor();
  return page.locator(".answer").innerText();
}

/** The same, repeated until a new process answers, because a restart takes a moment. */
async function callAnother(page, server, before) {
  for (let turn = 0; ; turn += 1) {
    await page.locator(".state.open").waitFor();
    const now = await call(page, server, "started").catch(() => before);
    if (now !== before || turn > 20) return now;
  }
}

const inspector = await inspect(["--config", config, "--root", work, "--watch", work], { cwd: folder });

await claim("the servers of a config file are listed, and nothing is started", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/" });
  await page.getByText("4 need attention, 1 not started").waitFor();
  await page.getByRole("article", { name: "nowhere" }).getByText("Program not found", { exact: true }).waitFor();
  await page.getByRole("article", { name: "broken" }).getByText("Cannot be used").waitFor();
  await page.getByRole("article", { name: "asking" }).getByText("Input missing").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

await claim("an input is asked for on the page, and the server starts with it", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/" });
  await page.getByLabel("dsn").fill("secret://1");
  await page.getByRole("article", { name: "asking" }).getByRole("button", { name: "Set" }).click();
  await page.getByRole("article", { name: "asking, connected" }).waitFor();
  assert.match(await call(page, "asking", "started"), /^secret:\/\/1 in /);
  const state = await page.evaluate(() =>
    fetch("/api/state", { headers: { authorization: `Bearer ${sessionStorage.getItem("turnbuckle.token")}` } }).then(
      (answer) => answer.json(),
    ),
  );
  const shown = state.servers.map((server) => [server.target, server.shell, server.launch]);
  assert.equal(JSON.stringify(shown).includes("secret://1"), false, "the value of an input is not shown");
  await page.context().close();
});

await claim("a server is added with its environment and folder, restarted and stopped", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/?add=1" });
  await page.getByLabel("Command line").first().fill(`${node} ${program} added`);
  await page.getByLabel("Name", { exact: true }).fill("mine");
  await page.getByLabel("Folder").fill(work);
  await page.getByRole("button", { name: "Add variable" }).click();
  await page.getByLabel("Name of variable 1").fill("REGION");
  await page.getByLabel("Value of variable 1").fill("eu");
  await page.getByRole("button", { name: "Add and connect" }).click();
  await page.getByRole("option", { name: "started" }).waitFor();
  const before = await call(page, "mine", "started");
  assert.match(before, new RegExp(`^added in ${work} with eu by \\d+`));
  await page.goto(`${page.url().split("#")[0]}#/`);
  const row = page.getByRole("article", { name: "mine" });
  await row.getByRole("button", { name: /^Restart/ }).click();
  await page.goto(`${page.url().split("#")[0]}#/mine/tools/started`);
  const after = await callAnother(page, "mine", before);
  assert.notEqual(after, before, "it is another process");
  await page.goto(`${page.url().split("#")[0]}#/`);
  await row.getByRole("button", { name: /^Stop/ }).click();
  await row.getByRole("button", { name: /^Connect/ }).waitFor();
  await page.context().close();
});

await claim("an input that the file does not declare is also asked for", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/" });
  const row = page.getByRole("article", { name: "undeclared" });
  await row.getByText("Input missing").waitFor();
  await row.getByLabel("api-key").fill("k1");
  await row.getByRole("button", { name: "Set" }).click();
  await page.getByRole("article", { name: "undeclared, connected" }).waitFor();
  assert.match(await call(page, "undeclared", "started"), /^k1 in /);
  await page.context().close();
});

await claim("the command line of a server that was added runs as it is shown", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/?add=1" });
  const placeholder = "$" + "{input:dsn}";
  await page.getByLabel("Command line").first().fill(`${node} ${program} 'two words' ${placeholder}`);
  await page.getByLabel("Name", { exact: true }).fill("shell");
  await page.getByLabel("Folder").fill(work);
  for (const [at, [name, value]] of [
    ["REGION", "eu west"],
    ["TITLE", "First"],
    ["API_KEY", "hunter2"],
  ].entries()) {
    await page.getByRole("button", { name: "Add variable" }).click();
    await page.getByLabel(`Name of variable ${at + 1}`).fill(name);
    await page.getByLabel(`Value of variable ${at + 1}`).fill(value);
  }
  await page.getByLabel(/^Input dsn/).fill("secret://2");
  await page.getByRole("button", { name: "Add and connect" }).click();
  await page.getByRole("option", { name: "started" }).waitFor();
  const said = await call(page, "shell", "started");
  assert.match(said, new RegExp(`^two words secret://2 in ${work} with eu west by`));
  const line = await page.locator(".command").textContent();
  assert.equal(/hunter2|secret:\/\/2/.test(line), false, "secrets are not shown");
  const env = { ...process.env, PATH: `${dirname(turnbuckle)}:${process.env.PATH}`, API_KEY: "x" };
  const run = (more) => promisify(execFile)("sh", ["-c", line], { cwd: folder, env: { ...env, ...more } });
  const { stdout } = await run({ TURNBUCKLE_INPUT_DSN: "secret://3" });
  assert.match(stdout, new RegExp(`^two words secret://3 in ${work} with eu west by`));
  await assert.rejects(run({}), /TURNBUCKLE_INPUT_DSN/);
  // A stopped server keeps its title.
  await page.goto(`${page.url().split("#")[0]}#/`);
  await page.getByRole("button", { name: "Stop First" }).click();
  await page.getByRole("article", { name: "First, not started" }).waitFor();
  await page.context().close();
});

await claim("an error shows its code, and a call reports that its server died", async () => {
  const page = await look(browser, inspector, { hash: "#/undeclared/tools/missing" });
  await page.locator(".callform h1", { hasText: "missing" }).waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator(".failure .code", { hasText: "-32002" }).waitFor();
  await page.goto(`${page.url().split("#")[0]}#/undeclared/tools/die`);
  await page.locator(".callform h1", { hasText: "die" }).waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator("tb-run .timeline").getByText("without an answer").waitFor();
  await page.context().close();
});

await claim("a program's standard error is shown as it arrives", async () => {
  const page = await look(browser, inspector, { hash: "#/" });
  await page
    .getByRole("article", { name: "asking" })
    .getByRole("button", { name: /^Log of/ })
    .click();
  await page.getByRole("log").getByText("started with secret://1").waitFor();
  const other = await look(browser, inspector, { hash: "#/asking/tools/print" });
  await other.locator(".callform h1").waitFor();
  await other.keyboard.press("Control+Enter");
  await page.getByRole("log").getByText("printed in the middle of a call").waitFor();
  await other.context().close();
  await page.context().close();
});

await claim("roots of the command line reach a server, and so do changes on the page", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/asking/tools/roots" });
  assert.equal(await call(page, "asking", "roots"), `file://${work}`);
  await page.goto(`${page.url().split("#")[0]}#/?roots=1`);
  await page.getByLabel("Folder, as a path or a URI").fill(folder);
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("list", { name: "Roots" }).getByText(`file://${folder}`, { exact: true }).waitFor();
  assert.equal(await call(page, "asking", "roots"), `file://${work} file://${folder}`);
  await page.context().close();
});

await claim("a changed file restarts running programs, and not stopped ones", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/asking/tools/started" });
  const before = await call(page, "asking", "started");
  await writeFile(join(work, "watched.txt"), "two, which is longer");
  await page.goto(`${page.url().split("#")[0]}#/asking/logs`);
  await page
    .getByText(/restarted: .*watched.txt/)
    .first()
    .waitFor();
  const after = await callAnother(page, "asking", before);
  assert.notEqual(after, before, "it is another process");
  await page.goto(`${page.url().split("#")[0]}#/`);
  await page
    .getByRole("article", { name: "mine" })
    .getByRole("button", { name: /^Connect/ })
    .waitFor();
  await page.context().close();
});

await claim("the config files are read again when the page asks for it", async () => {
  const page = await look(browser, inspector, { hash: "#/" });
  await writeFile(config, JSON.stringify({ mcpServers: { plain: entry("plain"), fresh: entry("fresh") } }));
  await page.getByRole("button", { name: "Read config files again" }).click();
  await page.getByRole("article", { name: "fresh, not started" }).waitFor();
  await page.getByRole("article", { name: "broken" }).waitFor({ state: "detached" });
  await page.context().close();
});

await claim("a call saved on the page passes as a test, and fails with another result", async (assert) => {
  const page = await look(browser, inspector, { hash: "#/plain/tools/print" });
  await page.getByRole("button", { name: "Connect" }).click();
  await call(page, "plain", "print");
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a test" }).click();
  const saved = join(folder, "print.test.json");
  await (await saving).saveAs(saved);
  const run = (file) => ended(turnbuckle, ["test", "--config", config, file]);
  assert.equal(await run(saved), 0);
  const test = JSON.parse(await readFile(saved, "utf8"));
  test.calls[0].expect[0].equals = "something else";
  await writeFile(saved, JSON.stringify(test));
  assert.equal(await run(saved), 1);
  await page.context().close();
});

/** The exit code of a program. */
function ended(command, words) {
  const child = spawn(command, words, { cwd: folder, stdio: "ignore" });
  return new Promise((resolve) => child.on("close", resolve));
}

await stop(inspector.child);
await rm(folder, { recursive: true, force: true });
await browser.close();
end();

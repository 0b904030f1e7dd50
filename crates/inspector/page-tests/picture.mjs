// Takes the screenshots for the documentation: node picture.mjs TURNBUCKLE FOLDER
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { chromium } from "playwright-core";

import { begin, stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { inspect, look, turnbuckle } from "./inspector.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const folder = process.argv[3];
const home = await realpath(await mkdtemp(join(tmpdir(), "turnbuckle-picture-")));
// The screenshots show command lines, so the binary is run by its name; without the user's config files.
const programs = join(home, "bin");
const path = [dirname(turnbuckle), programs, process.env.PATH].join(":");
const env = { ...process.env, PATH: path, HOME: home, XDG_CONFIG_HOME: home };
await mkdir(join(home, ".cursor"));
// A program that exists and is not started.
await mkdir(programs);
await writeFile(join(programs, "uvx"), "#!/bin/sh\n", { mode: 0o755 });
const config = join(home, ".cursor", "mcp.json");
const demo = { command: "turnbuckle", args: ["serve", "--stdio"] };
const input = { id: "dsn", description: "Connection string of the staging database", password: true };
await writeFile(
  config,
  JSON.stringify({
    inputs: [input],
    mcpServers: {
      demo,
      weather: { ...demo, env: { CITY: "Oslo" } },
      postgres: { command: "uvx", args: ["mcp-server-postgres", "$" + "{input:dsn}"] },
      browser: { command: "turnbuckle", args: ["no-such-command"] },
      time: { command: "uvx", args: ["mcp-server-time"] },
    },
  }),
);
const GATEWAY = `
[[gateway.policy]]
deny = ["*__crash", "desk__deploy"]

[servers.weather]
command = "turnbuckle"
args = ["serve", "--stdio"]

[servers.notes]
command = "turnbuckle"
args = ["serve", "--stdio"]
era = "legacy"

[servers.desk]
command = "turnbuckle"
args = ["serve", "--stdio"]

[servers.browser]
command = "turnbuckle"
args = ["no-such-command"]
`;
/** Runs a command of the binary, and ignores its exit code. */
const command = (words) =>
  new Promise((done) => spawn(turnbuckle, words, { env, cwd: home, stdio: "ignore" }).on("close", done));
const inspector = await inspect(["demo"], { env, cwd: home });
const shot = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });
const args = (value) => `args=${encodeURIComponent(JSON.stringify(value))}`;

const page = await look(browser, inspector, {
  width: 1280,
  height: 800,
  hash: `#/demo/tools/add?${args({ a: 1, b: 2 })}`,
});
await page.locator(".callform h1").waitFor();
await page.keyboard.press("Control+Enter");
await page.locator("tb-run .pill.done").waitFor();
await page.goto(`${inspector.url}#/demo/tools/greet`);
await page.locator(".callform h1", { hasText: "greet" }).waitFor();
await page.keyboard.press("Control+Enter");
await page.locator("tb-ask textarea").first().fill("Ada");
await page.locator("tb-ask").getByText("With a bow").click();
await page.getByRole("button", { name: "Accept" }).click();
await page.locator("tb-run .pill.done").waitFor();
await page.waitForTimeout(300);
await shot(page, "inspector");
await page.keyboard.press("Control+Enter");
await page.locator("tb-ask textarea").first().fill("Grace");
await page.waitForTimeout(300);
await shot(page, "question");
await page.goto(`${inspector.url}#/`);
await page.getByRole("button", { name: "Connect weather" }).click();
await page.getByRole("button", { name: "Connect browser" }).click();
await page.getByRole("button", { name: "Retry browser" }).waitFor();
await page
  .locator("article", { hasText: "weather" })
  .getByRole("button", { name: /^Restart/ })
  .waitFor();
await page.waitForTimeout(1200);
await shot(page, "servers");
await page.goto(`${inspector.url}#/~messages`);
await page.locator("tb-wire [role=option]", { hasText: "greet" }).first().click();
await page.locator("tb-wire-detail .tree").first().waitFor();
await page.waitForTimeout(300);
await shot(page, "messages");

// The page of a gateway, with clients of several revisions.
await writeFile(join(home, "turnbuckle.toml"), GATEWAY);
const words = ["up", "turnbuckle.toml", "--trust", "--listen", "127.0.0.1:0"];
const up = await begin(turnbuckle, words, /(http:\/\/\S+)#token=(\S+)/, { env, cwd: home });
const [, url, token] = up.found;
const beside = await look(browser, { url, token }, { width: 1280, height: 1180, hash: "#/~gateway" });
await beside.locator("tb-gateway tr", { hasText: "notes" }).getByText("Healthy").waitFor();
await beside.locator("tb-gateway tr", { hasText: "weather" }).first().getByText("Healthy").waitFor();
// Different numbers of calls, so that the charts, which count per ten seconds, are not flat.
for (const times of [1, 3, 2]) {
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]) {
    for (const tool of ["weather__echo text=hello", "notes__echo text=hi", "desk__add a=1 b=2"].slice(0, times)) {
      await command(["call", `${url}mcp`, ...tool.split(" "), "--revision", revision]);
    }
  }
  await beside.waitForTimeout(10_000);
}
await command(["call", `${url}mcp`, "notes__greet", "--answer", "name=Ada"]);
await command(["call", `${url}mcp`, "notes__greet"]);
await command(["call", `${url}mcp`, "desk__deploy", "env=staging", "--revision", "2025-11-25"]);
await beside.getByText("Whom may I greet?").waitFor();
await beside.waitForTimeout(1500);
await shot(beside, "gateway");
await beside.goto(`${url}#/~gateway/messages`);
await beside
  .getByRole("option", { name: /notes__echo/ })
  .first()
  .click();
await beside.locator(".hop").nth(1).waitFor();
await beside.setViewportSize({ width: 1280, height: 800 });
await beside.waitForTimeout(300);
await shot(beside, "hops");
await browser.close();
await stop(up.child);
await stop(inspector.child);
await rm(home, { recursive: true, force: true });
process.exit(0);

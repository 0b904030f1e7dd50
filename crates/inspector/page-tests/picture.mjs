// The pictures of the page in the documentation: node picture.mjs TURNBUCKLE FOLDER
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { chromium } from "playwright-core";

import { stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { inspect, look, turnbuckle } from "./inspector.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const folder = process.argv[3];
const home = await realpath(await mkdtemp(join(tmpdir(), "turnbuckle-picture-")));
// By its name, as in the command lines that the pictures show; with no other config files.
const env = { ...process.env, PATH: `${dirname(turnbuckle)}:${process.env.PATH}`, HOME: home, XDG_CONFIG_HOME: home };
await mkdir(join(home, ".cursor"));
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
await browser.close();
await stop(inspector.child);
await rm(home, { recursive: true, force: true });
process.exit(0);

// The picture of the page in the README: node picture.mjs TURNBUCKLE FILE
import { dirname } from "node:path";

import { chromium } from "playwright-core";

import { stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { inspect, look, turnbuckle } from "./inspector.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
// By its name, as in the command lines that the picture shows.
const env = { ...process.env, PATH: `${dirname(turnbuckle)}:${process.env.PATH}` };
const inspector = await inspect(["--", "turnbuckle", "serve", "--stdio"], { env });
const page = await look(browser, inspector, {
  width: 1280,
  height: 800,
  hash: `#/turnbuckle/tools/add?args=${encodeURIComponent('{"a":1,"b":2}')}`,
});
await page.locator(".callform h1").waitFor();
await page.keyboard.press("Control+Enter");
await page.locator("tb-run .pill.done").waitFor();
await page.goto(`${inspector.url}#/turnbuckle/tools/greet?wire=1&wf=${encodeURIComponent("method:tools/call")}`);
await page.locator(".callform h1", { hasText: "greet" }).waitFor();
await page.keyboard.press("Control+Enter");
await page.locator("tb-ask textarea").first().fill("Ada");
await page.locator("tb-ask").getByText("With a bow").click();
await page.getByRole("button", { name: "Submit" }).click();
await page.locator("tb-run .pill.done").waitFor();
await page.keyboard.press("Control+Enter");
await page.locator("tb-ask textarea").first().fill("Grace");
await page.waitForTimeout(300);
await page.screenshot({ path: process.argv[3] });
await browser.close();
await stop(inspector.child);
process.exit(0);

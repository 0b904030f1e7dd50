// The page as the binary serves it, connected to the demo server: node binary.test.mjs TURNBUCKLE

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { resolve } from "node:path";

import { chromium } from "playwright-core";

import { claim, end } from "./claim.mjs";
import { FLAGS } from "./browser.mjs";

const turnbuckle = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2]);
const child = spawn(turnbuckle, ["inspect", "--no-open", "--port", "0", "--", turnbuckle, "serve", "--stdio"], { stdio: ["ignore", "pipe", "pipe"] });
process.on("exit", () => child.kill());
child.stderr.resume();
let url;
for await (const line of createInterface({ input: child.stdout })) {
  url = /http:\/\/\S+#token=\S+/.exec(line)?.[0];
  if (url) break;
}
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

for (const width of [1280, 360]) {
  const page = await (await browser.newContext({ viewport: { width, height: 800 } })).newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await claim(`the page opens connected to the demo server, at ${width} px`, async () => {
    await page.goto(url);
    await page.locator(".state.open").waitFor();
    await page.locator("tb-offers [role=option]").first().waitFor();
    return page.locator(".state").innerText();
  });
  await claim(`every tab opens, at ${width} px`, async (assert) => {
    for (const tab of ["Prompts", "Resources", "Tasks", "Logs", "Server", "Tools"]) {
      await page.locator(`nav a[data-tab="${tab.toLowerCase()}"]`).click();
      await page.waitForFunction((name) => location.hash.includes(`/${name}`), tab.toLowerCase());
      await page.waitForTimeout(100);
      if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/real-${tab}-${width}.png` });
    }
    assert.deepEqual(errors, []);
  });
  await claim(`a tool of the demo server is called, at ${width} px`, async (assert) => {
    await page.locator("tb-offers [role=option]").first().click();
    await page.locator(".callform h1").waitFor();
    const name = await page.locator(".callform h1").innerText();
    await page.keyboard.press("Control+Enter");
    const anyway = page.getByRole("button", { name: "Send anyway" });
    if (await anyway.isVisible()) await anyway.click();
    await page.locator("tb-run .pill.done, tb-run .pill.failed, tb-ask").first().waitFor();
    if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/real-call-${width}.png` });
    assert.deepEqual(errors, []);
    return `${name}: ${(await page.locator(".runhead").innerText()).replaceAll("\n", " ")}`;
  });
}
await browser.close();
end();

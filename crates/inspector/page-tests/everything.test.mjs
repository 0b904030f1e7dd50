// The page with a third-party server over stdio and HTTP: node everything.test.mjs TURNBUCKLE

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { begin, stop } from "../../../scripts/child.mjs";
import { FLAGS, call } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, look } from "./inspector.mjs";

const folder = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"));
const program = join(folder, "dist/index.js");
const starter = fileURLToPath(new URL("../../../interop/typescript/everything.mjs", import.meta.url));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const http = await begin(process.execPath, [starter, folder, "http"], /listening at (\S+)/);
const address = http.found[1];
const TARGETS = {
  stdio: { words: ["--", process.execPath, program, "stdio"], name: "server-everything" },
  HTTP: { words: [address], name: new URL(address).host },
};
const args = (value) => `?args=${encodeURIComponent(JSON.stringify(value))}`;
const done = (page) => page.locator("tb-run .pill.done").first().waitFor();

for (const [what, { words, name }] of Object.entries(TARGETS)) {
  const inspector = await inspect(words);
  for (const width of [1280, 390]) {
    const at = (path, act) => async (assert) => {
      const page = await look(browser, inspector, {
        width,
        hash: path === null ? "" : `#/${encodeURIComponent(name)}/${path}`,
      });
      try {
        await page.locator(".state.open").waitFor();
        const note = await act(page, assert);
        assert.deepEqual(page.errors, []);
        return note;
      } finally {
        if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/everything-${width}.png` });
        await page.context().close();
      }
    };
    const here = `${what}, at ${width} px`;
    await claim(
      `everything opens, and each of its tabs: ${here}`,
      at(null, async (page) => {
        await page.locator("tb-offers [role=option]").first().waitFor();
        const said = await page.locator(".state").innerText();
        for (const tab of ["prompts", "resources", "tasks", "logs", "server", "tools"]) {
          await page.locator(`nav a[data-tab="${tab}"]`).click();
          await page
            .locator(["tasks", "logs", "server"].includes(tab) ? `tb-${tab}` : "tb-offers [role=option]")
            .first()
            .waitFor();
        }
        return said;
      }),
    );
    await claim(
      `everything echoes and adds: ${here}`,
      at(`tools/echo${args({ message: "hello from the page" })}`, async (page) => {
        await page.locator(".callform h1").waitFor();
        await call(page);
        await done(page);
        await page
          .locator(".result")
          .getByText(/hello from the page/)
          .first()
          .waitFor();
        await page.locator("tb-offers").waitFor({ state: "attached" });
      }),
    );
    await claim(
      `everything's picture, structured content and links are shown: ${here}`,
      at("tools/get-tiny-image", async (page, assert) => {
        await page.locator(".callform h1").waitFor();
        await call(page);
        await done(page);
        const natural = await page
          .locator(".result img")
          .evaluate((image) => image.decode().then(() => image.naturalWidth >= image.getBoundingClientRect().width));
        assert.ok(natural, "it is not blown up");
      }),
    );
    await claim(
      `everything's structured content keeps its schema: ${here}`,
      at("tools/get-structured-content", async (page) => {
        await page.locator(".callform h1").waitFor();
        await page.locator('.field[data-path="/location"]').getByText("New York").click();
        await call(page);
        await done(page);
        await page.getByText("Matches the output schema").waitFor();
      }),
    );
    await claim(
      `everything reports progress to its end: ${here}`,
      at(`tools/trigger-long-running-operation${args({ duration: 2, steps: 4 })}`, async (page) => {
        await page.locator(".callform h1").waitFor();
        await call(page);
        await page.locator("tb-panel progress").waitFor();
        await done(page);
      }),
    );
    await claim(
      `everything's elicitation and sampling are answered: ${here}`,
      at("tools/trigger-elicitation-request", async (page) => {
        await page.locator(".callform h1").waitFor();
        await call(page);
        await page.locator("tb-ask").waitFor();
        await page.getByRole("button", { name: "Decline" }).click();
        await done(page);
        await page.goto(
          page
            .url()
            .replace(
              /#.*/,
              `#/${encodeURIComponent(name)}/tools/trigger-sampling-request${args({ prompt: "a haiku" })}`,
            ),
        );
        await page.getByRole("heading", { name: "trigger-sampling-request" }).waitFor();
        await call(page);
        await page.getByLabel("Reply of the model").fill("waves");
        await page.getByRole("button", { name: "Send reply" }).click();
        await done(page);
      }),
    );
    await claim(
      `everything's prompts and resources are read: ${here}`,
      at("prompts", async (page) => {
        await page.locator("tb-offers [role=option]").first().click();
        await page.locator(".callform h1").waitFor();
        await call(page);
        await done(page);
        if (width < 720) await page.getByRole("link", { name: "Back to the prompts" }).click();
        await page.locator('nav a[data-tab="resources"]').click();
        await page.locator("tb-offers [role=option]").first().click();
        await page.locator(".callform h1").waitFor();
        await call(page);
        await done(page);
      }),
    );
  }
  await stop(inspector.child);
}
await stop(http.child);
await browser.close();
end();

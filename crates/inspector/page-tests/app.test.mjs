// MCP Apps in their sandbox: node app.test.mjs TURNBUCKLE EXAMPLES

import { resolve } from "node:path";

import { chromium } from "playwright-core";

import { stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, look } from "./inspector.mjs";

const program = resolve(process.argv[3], "app");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const inspector = await inspect(["--", program]);
// Two cities, because during a call the page still shows the app of the previous call.
for (const [width, city] of [
  [1280, "Oslo"],
  [360, "Rome"],
]) {
  await claim(`an app shows the result of its call and cannot reach the page at ${width} px`, async (assert) => {
    const page = await look(browser, inspector, {
      width,
      hash: `#/app/tools/sky?look=app&args=${encodeURIComponent(JSON.stringify({ city }))}`,
    });
    await page.locator(".callform h1").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.frameLocator("iframe").getByText(`☁ ${city}`).waitFor();
    const element = page.locator("iframe");
    const address = new URL(await element.getAttribute("src"));
    assert.notEqual(address.origin, new URL(page.url()).origin);
    assert.equal((await element.getAttribute("sandbox")).includes("allow-same-origin"), false);
    const frame = await (await element.elementHandle()).contentFrame();
    const tried = await frame.evaluate(async (api) => {
      const outcome = (read) => {
        try {
          return String(read());
        } catch (error) {
          return /** @type {Error} */ (error).name;
        }
      };
      const found = {
        origin: globalThis.origin,
        parent: outcome(() => parent.document.title),
        storage: outcome(() => sessionStorage.length),
      };
      found.api = await fetch(api).then(
        (answer) => answer.status,
        (error) => error.name,
      );
      return found;
    }, `${inspector.url}api/state`);
    assert.deepEqual(tried, { origin: "null", parent: "SecurityError", storage: "SecurityError", api: "TypeError" });
    // The app may call its server's tools through the page.
    const again = await frame.evaluate(
      (where) =>
        new Promise((answered) => {
          addEventListener("message", ({ data }) => data.id === "again" && answered(data.result.content[0].text));
          parent.postMessage(
            {
              jsonrpc: "2.0",
              id: "again",
              method: "tools/call",
              params: { name: "look_again", arguments: { city: where } },
            },
            "*",
          );
        }),
      city,
    );
    assert.equal(again, `☀ ${city}`);
    await page.locator(".said").getByText("tools/call look_again").waitFor();
    await frame.evaluate(() =>
      parent.postMessage(
        { jsonrpc: "2.0", id: 9, method: "ui/open-link", params: { url: "https://example.com/more" } },
        "*",
      ),
    );
    await page.locator(".appasks").getByText("example.com").waitFor();
    assert.equal(page.context().pages().length, 1);
    if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/app-${width}.png` });
    await page.context().close();
  });
}
await stop(inspector.child);

const tools = await inspect(["--", process.execPath, resolve("app-server.mjs")]);
await claim("an app calls only tools that are for apps, and destructive ones after a click", async (assert) => {
  const page = await look(browser, tools, { hash: "#/app-server/tools/view?look=app&args=%7B%7D" });
  await page.locator(".callform h1").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.frameLocator("iframe").getByText("An app").waitFor();
  const frame = await (await page.locator("iframe").elementHandle()).contentFrame();
  const call = (name) =>
    frame.evaluate(
      (tool) =>
        new Promise((answered) => {
          addEventListener("message", ({ data }) => {
            if (data.id === tool) answered(data.error?.message ?? data.result.content[0].text);
          });
          const params = { name: tool, arguments: {} };
          parent.postMessage({ jsonrpc: "2.0", id: tool, method: "tools/call", params }, "*");
        }),
      name,
    );
  const ask = (name) => page.getByRole("group", { name: `The app asks to call ${name}` });
  // A tool without annotations may be destructive: the user confirms once for this app.
  const plain = call("plain");
  await ask("plain").getByText("may be destructive, because it does not say otherwise").waitFor();
  await ask("plain").getByRole("button", { name: "Allow in this app" }).click();
  assert.equal(await plain, "called plain");
  assert.equal(await call("plain"), "called plain");
  assert.equal(await call("safe"), "called safe");
  assert.equal(await call("for_apps"), "called for_apps");
  assert.match(await call("for_models"), /not for apps/);
  assert.match(await call("no_such_tool"), /not for apps/);
  const question = ask("erase");
  const refused = call("erase");
  await question.getByRole("button", { name: "No" }).click();
  assert.match(await refused, /declined/);
  const wanted = call("erase");
  await question.getByRole("button", { name: "Call" }).click();
  assert.equal(await wanted, "called erase");
  await page.context().close();
});
await stop(tools.child);
await browser.close();
end();

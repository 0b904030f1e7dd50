// Takes screenshots of the page of `turnbuckle up`, to compare with the drafts:
//
//   node look.mjs TURNBUCKLE FOLDER ["WIDTH,THEME …"] [NAME…]
import { mkdir } from "node:fs/promises";

import { chromium } from "playwright-core";

import { begin, stop } from "../../../scripts/child.mjs";
import { FLAGS, openPage } from "./browser.mjs";
import { turnbuckle } from "./inspector.mjs";

const [, , , folder = "/tmp/look", sizes = "", ...only] = process.argv;
await mkdir(folder, { recursive: true });
const words = ["up", "--listen", "127.0.0.1:0", "--", turnbuckle, "serve", "--stdio"];
const { child, found } = await begin(turnbuckle, words, /(http:\/\/\S+)#token=(\S+)/);
const [, url, token] = found;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const args = (value) => `args=${encodeURIComponent(JSON.stringify(value))}`;
const run = (wait) => async (page) => {
  await page.keyboard.press("Control+Enter");
  await page.locator(wait).first().waitFor({ state: "attached" });
};
const ended = run("tb-run .result, tb-run .failure");
/** @type {Record<string, [string, ((page: import("playwright-core").Page) => Promise<void>)?]>} */
const SHOTS = {
  home: ["#/"],
  add: ["#/?add=1"],
  messages: ["#/~messages"],
  gateway: ["#/~gateway"],
  hops: [
    "#/~gateway/messages",
    async (page) => {
      await page.locator("tb-gateway-messages [role=option]").first().click();
      await page.locator(".hop").first().waitFor();
    },
  ],
  tools: ["tools"],
  order: ["tools/order"],
  echo: [`tools/echo?${args({ text: "hello" })}`, ended],
  sum: [`tools/add?${args({ a: 1, b: 2 })}&wire=1`, ended],
  everything: ["tools/everything", ended],
  fail: [`tools/fail?${args({ reason: "no such table" })}`, ended],
  count: [
    `tools/count?${args({ to: 40, pause: 100 })}`,
    async (page) => {
      await run(".progress")(page);
      await page.waitForTimeout(700);
    },
  ],
  greet: ["tools/greet", run("tb-ask")],
  visit: ["tools/visit", run("tb-ask")],
  write: [`tools/write?${args({ about: "the sea" })}`, run("tb-ask")],
  shrink: [`tools/shrink?${args({ name: "x" })}`, run(".confirm .box")],
  prompts: ["prompts"],
  review: ["prompts/review"],
  resources: ["resources"],
  readme: [`resources/${encodeURIComponent("demo://readme")}`, ended],
  station: [`resources/${encodeURIComponent("demo://stations/{city}/{number}")}`],
  tasks: ["tasks"],
  logs: ["logs"],
  server: ["server"],
  wire: [
    "tools?wire=1",
    async (page) => {
      await page.locator("tb-wire [role=option]").nth(1).click();
      await page.locator("tb-wire-detail").waitFor();
    },
  ],
  palette: [
    "tools",
    async (page) => {
      await page.keyboard.press("Control+k");
      await page.locator("dialog.palette [role=option]").first().waitFor();
    },
  ],
  help: [
    "tools",
    async (page) => {
      await page.keyboard.press("?");
    },
  ],
};
/** @type {[number, string][]} */
const SIZES = sizes
  ? sizes
      .split(" ")
      .map((one) => one.split(","))
      .map(([width, theme]) => [Number(width), theme])
  : [1280, 390, 768, 1920].flatMap((width) => [
      [width, "light"],
      [width, "dark"],
    ]);
for (const [width, theme] of SIZES) {
  for (const [name, [path, act]] of Object.entries(SHOTS)) {
    if (only.length && !only.includes(name)) continue;
    const page = await openPage(browser, url, {
      width,
      height: { 390: 844, 768: 1024, 1920: 1080 }[width] ?? 800,
      theme,
      hash: path.startsWith("#") ? path : `#/gateway/${path}`,
      token,
    });
    try {
      if (!/^(#|tasks|logs|server)/.test(path)) {
        await page.locator("tb-offers [role=option], tb-panel h1").first().waitFor({ state: "attached" });
      }
      await act?.(page);
    } catch (error) {
      console.log(`${name} ${width} ${theme}: ${String(error).split("\n")[0]}`);
    }
    await page.waitForTimeout(250);
    await page.screenshot({ path: `${folder}/${name}-${width}-${theme}.png` });
    if (page.errors.length) console.log(`${name} ${width} ${theme}: ${page.errors}`);
    const cancel = page.getByRole("button", { name: "Cancel" }).last();
    if (await cancel.isVisible()) await cancel.click();
    await page.context().close();
  }
}
await browser.close();
await stop(child);
process.exit(0);

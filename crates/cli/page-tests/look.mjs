// Takes pictures of the page: node look.mjs FOLDER.
import { chromium } from "playwright-core";
import { FLAGS, openPage } from "./browser.mjs";
import { serveFake } from "./fake.mjs";

const folder = process.argv[2] ?? "/tmp/look";
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const { url, close } = await serveFake({ rows: 60 });
const SHOTS = {
  tricky: ["#/lab/tools/tricky?args=" + encodeURIComponent('{"who":"A","target":{"kind":"city","name":"Oslo"},"nick":null,"big":9007199254740993,"tags":["a","b"],"labels":{"x":1},"tree":{"value":1,"children":[{"value":2}]}}'), null],
  deploy: ["#/lab/tools/deploy?wire=1", async (page) => { await page.keyboard.press("Control+Enter"); await page.waitForSelector("tb-ask", { state: "attached" }); }],
  prose: ["#/lab/tools/prose", async (page) => { await page.keyboard.press("Control+Enter"); await page.waitForSelector(".result"); }],
  slow: ["#/lab/tools/slow", async (page) => { await page.keyboard.press("Control+Enter"); await page.waitForSelector(".progress"); await page.waitForTimeout(600); }],
  large: ["#/lab/tools/large", async (page) => { await page.keyboard.press("Control+Enter"); await page.waitForSelector(".result"); }],
  tools: ["#/lab/tools", null],
  server: ["#/lab/server", null],
  dead: ["#/dead/tools", null],
  wire: ["#/lab/tools?wire=1&seq=9", async (page) => page.waitForSelector("tb-wire-detail .tree")],
};
const only = process.argv.slice(3);
for (const [width, height, theme] of [[1280, 800, "light"], [1280, 800, "dark"], [360, 740, "light"], [360, 740, "dark"]]) {
  for (const [name, [hash, act]] of Object.entries(SHOTS)) {
    if (only.length && !only.includes(name)) continue;
    const page = await openPage(browser, url, { width, height, theme, hash });
    if (act) await act(page);
    await page.waitForTimeout(150);
    await page.screenshot({ path: `${folder}/${name}-${width}-${theme}.png` });
    await page.context().close();
  }
}
await browser.close();
close();

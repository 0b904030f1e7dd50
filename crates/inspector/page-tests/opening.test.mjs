// From the command to a page that can be used: node opening.test.mjs TURNBUCKLE. Nothing else should run meanwhile.

import { chromium } from "playwright-core";

import { stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, turnbuckle } from "./inspector.mjs";
import { held, middle, most } from "./measure.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const TURNS = 10;
// How long anything that is waited for may take, in milliseconds.
const TIMEOUT = 10_000;

async function opened() {
  // A browser is open already, as people have it; nothing of the page is in its cache.
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const since = performance.now();
  const inspector = await inspect(["--", turnbuckle, "serve", "--stdio"]);
  const going = page.goto(`${inspector.url}#token=${inspector.token}`);
  await page.locator("tb-offers [role=option]").first().waitFor();
  const took = performance.now() - since;
  await going;
  await context.close();
  await stop(inspector.child);
  return took;
}

await claim("from the command to a page with its tools: at most 300 ms", async () => {
  const times = [];
  for (let turn = 0; turn < TURNS; turn += 1) times.push(await opened());
  // The first of them also warms the browser up.
  return held({ opening: 300 }, { opening: middle(times), "slowest of ten": most(times) });
});

await claim("the page is one request, and another one brings its tools", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const inspector = await inspect(["--", turnbuckle, "serve", "--stdio"]);
  // By then the lists were read: nothing has to be asked for twice.
  await until("the lists were read", async () => Object.keys((await state(inspector)).offers).length);
  const asked = [];
  page.on("request", (request) => request.url().startsWith("http") && asked.push(new URL(request.url()).pathname));
  await page.goto(`${inspector.url}#token=${inspector.token}`);
  await page.locator("tb-offers [role=option]").first().waitFor();
  await context.close();
  await stop(inspector.child);
  // The wire and the events come after what is shown.
  if (
    asked.slice(0, 2).join() !== "/,/api/state" ||
    asked.some((path) => !["/", "/api/state", "/api/wire", "/api/events"].includes(path))
  ) {
    throw new Error(asked.join());
  }
  return asked.join(" ");
});

async function state({ url, token }) {
  const response = await fetch(`${url}api/state`, { headers: { authorization: `Bearer ${token}` } });
  return response.json();
}

async function until(what, isSo) {
  const since = performance.now();
  while (!(await isSo())) {
    if (performance.now() - since > TIMEOUT) throw new Error(`it never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

await browser.close();
end();

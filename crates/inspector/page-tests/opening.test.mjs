// The time from the command to a usable page: node opening.test.mjs TURNBUCKLE. Nothing else should run at that time.

import { chromium } from "playwright-core";

import { stop } from "../../../scripts/child.mjs";
import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, turnbuckle } from "./inspector.mjs";
import { held, middle, most } from "./measure.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const TURNS = 10;
// The limit of each wait, in milliseconds.
const TIMEOUT = 10_000;

async function opened() {
  // The browser is already open, as it usually is, and its cache is empty.
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
  // The first opening also warms up the browser.
  return held({ opening: 300 }, { opening: middle(times), "slowest of ten": most(times) });
});

await claim("the page takes one request, and its tools one more", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const inspector = await inspect(["--", turnbuckle, "serve", "--stdio"]);
  // The lists were read before, so nothing is requested twice.
  await until("the lists were read", async () => Object.keys((await state(inspector)).offers).length);
  const asked = [];
  page.on("request", (request) => request.url().startsWith("http") && asked.push(new URL(request.url()).pathname));
  await page.goto(`${inspector.url}#token=${inspector.token}`);
  await page.locator("tb-offers [role=option]").first().waitFor();
  await context.close();
  await stop(inspector.child);
  // The wire and the events are loaded after the visible parts.
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
    if (performance.now() - since > TIMEOUT) throw new Error(`this did not happen in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

await browser.close();
end();

// From the command to a page that can be used: node opening.test.mjs TURNBUCKLE. Nothing else should run meanwhile.

import { chromium } from "playwright-core";

import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, stop, turnbuckle } from "./inspector.mjs";
import { held, middle, most } from "./measure.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const TURNS = 10;

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

await browser.close();
end();

// From the command to a page that can be used: node opening.test.mjs TURNBUCKLE. Nothing else should run meanwhile.

import { chromium } from "playwright-core";

import { FLAGS } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, stop, turnbuckle } from "./inspector.mjs";
import { measured } from "./measure.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

await claim("from the command to a page with its tools: at most 300 ms", () => measured({ opening: 300 }, async () => {
  // A browser is open already, as people have it; nothing of the page is in its cache.
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const since = performance.now();
  const inspector = await inspect(["--", turnbuckle, "serve", "--stdio"]);
  const going = page.goto(`${inspector.url}#token=${inspector.token}`);
  await page.locator("tb-offers [role=option]").first().waitFor();
  const opening = performance.now() - since;
  await going;
  await context.close();
  await stop(inspector.child);
  return { opening };
}));

await browser.close();
end();

// A new page with a new fake binary for each claim.

import { chromium } from "playwright-core";

import { FLAGS, openPage } from "./browser.mjs";
import { serveFake } from "./fake.mjs";

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

/** Runs `act` on a new page with a new fake binary. */
export async function on(options, act) {
  const served = await serveFake(options);
  const page = await openPage(browser, served.url, options);
  try {
    const note = await act(page, served.fake);
    if (page.errors.length) throw new Error(page.errors.join("\n"));
    if (page.hosts.size > 1) throw new Error(`other hosts were asked: ${[...page.hosts]}`);
    return note;
  } finally {
    await page.context().close();
    served.close();
  }
}

export { run } from "./browser.mjs";

// Accessibility: axe-core finds no violation at any place, from phone to wide screen and in both themes. 640 px is a
// screen of 1280 px at a zoom of 200 %.

import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

import { claim, end } from "./claim.mjs";
import { FakeGateway } from "./fake-gateway.mjs";
import { shelf } from "./fake-offer.mjs";
import { browser, on, run } from "./stage.mjs";

// Evaluated by the browser's debugger, because the page's policy allows no other scripts.
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function violations(page) {
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(
    (one) =>
      `${one.impact} ${one.id}: ${one.nodes
        .map((node) => `${node.target} ${node.failureSummary}`)
        .slice(0, 3)
        .join(" | ")}`,
  );
}

const PLACES = [
  "#/",
  "#/?add=1",
  "#/?roots=1",
  "#/?log=s1",
  "#/~messages?seq=9",
  "#/~gateway",
  "#/~gateway?log=browser",
  "#/~gateway/messages",
  "#/~gateway/messages/2",
  "#/lab/tools",
  "#/lab/tools/tricky",
  `#/lab/tools/tricky?args=${encodeURIComponent('{"tags":["a"],"tree":{"value":1,"children":[]}}')}`,
  "#/lab/tools/deploy!",
  "#/lab/tools/prose!",
  "#/lab/tools/refused!",
  "#/lab/tools/large!",
  "#/lab/tools/summarize!",
  "#/lab/prompts/review",
  "#/lab/resources",
  "#/lab/tasks",
  "#/lab/logs",
  "#/lab/server",
  "#/dead/tools",
  "#/lab/tools?wire=1&seq=9",
  "#/lab/tools/tricky?view=json",
  "#/lab/tools/tricky?view=schema",
  "#/lab/tools/rows!",
];
/** The widths and themes of the checks. @type {[number, string][]} */
const LOOKS = [
  [390, "light"],
  [390, "dark"],
  [768, "light"],
  [768, "dark"],
  [1280, "light"],
  [1280, "dark"],
  [1920, "light"],
  [1920, "dark"],
  [360, "light"],
  [640, "light"],
];
for (const [width, theme] of LOOKS) {
  await claim(`no place has an accessibility violation at ${width} px, ${theme}`, async (assert) => {
    const found = [];
    const look = async (page, place) => {
      await page.waitForTimeout(100);
      found.push(...(await violations(page)).map((one) => `${place} ${one}`));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) found.push(`${place} is ${wide} px wide`);
    };
    const options = { rows: 40, servers: shelf(), gateway: new FakeGateway(), width, theme };
    // Places without a call share a page, because opening one takes longer than the check.
    await on({ ...options, hash: "#/" }, async (page) => {
      await page.evaluate(AXE);
      for (const place of PLACES.filter((one) => !one.endsWith("!"))) {
        await page.evaluate((hash) => (location.hash = hash), place);
        await page.locator(shownAt(place)).first().waitFor({ state: "attached" });
        await look(page, place);
      }
    });
    for (const place of PLACES.filter((one) => one.endsWith("!"))) {
      await on({ ...options, hash: place.slice(0, -1) }, async (page) => {
        await page.evaluate(AXE);
        await run(page);
        await page.waitForSelector("tb-ask, .result, .failure");
        await look(page, place);
      });
    }
    assert.deepEqual(found, []);
    return `${PLACES.length} places`;
  });
}

/** The element that is drawn last at a place. */
function shownAt(place) {
  if (place.startsWith("#/~gateway/messages/")) return "tb-gateway-messages .hop";
  if (place.startsWith("#/~gateway/messages")) return "tb-gateway-messages .hoprow";
  if (place.startsWith("#/~gateway")) return "tb-gateway .map";
  if (place.startsWith("#/~messages")) return "tb-wire";
  const [, tab = "", object] = place.slice(2).split("?")[0].split("/");
  if (place.startsWith("#/dead")) return "main .failure";
  if (object) return "tb-panel .callform h1";
  return tab
    ? ({ tasks: "tb-tasks", logs: "tb-logs", server: "tb-server" }[tab] ?? "tb-offers [role=option]")
    : "tb-home";
}

await browser.close();
end();

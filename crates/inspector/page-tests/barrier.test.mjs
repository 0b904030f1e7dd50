// Nobody is kept out: axe-core finds nothing, in every place, from a telephone to a wide screen (640 px are half of
// 1280: zoomed to 200 %) and in both themes.

import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

import { claim, end } from "./claim.mjs";
import { shelf } from "./fake-offer.mjs";
import { browser, on, run } from "./stage.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function violations(page) {
  // As an instrument, not as a script of the page: its policy allows none but its own.
  await page.evaluate(AXE);
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
  "#/lab/tools",
  "#/lab/tools/tricky",
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
for (const [width, theme] of [
  [1280, "light"],
  [1280, "dark"],
  [390, "light"],
  [390, "dark"],
  [768, "light"],
  [640, "light"],
  [1920, "light"],
  [1920, "dark"],
]) {
  await claim(`no place has a barrier at ${width} px, ${theme}`, async (assert) => {
    const found = [];
    for (const place of PLACES) {
      await on({ rows: 40, servers: shelf(), width, theme, hash: place.replace("!", "") }, async (page) => {
        if (place.endsWith("!")) {
          await run(page);
          await page.waitForSelector("tb-ask, .result, .failure");
        }
        await page.waitForTimeout(100);
        found.push(...(await violations(page)).map((one) => `${place} ${one}`));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) found.push(`${place} is ${wide} px wide`);
      });
    }
    assert.deepEqual(found, []);
    return `${PLACES.length} places`;
  });
}

await browser.close();
end();

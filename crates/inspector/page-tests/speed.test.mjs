// The speed of the page with very large amounts of data. Nothing else should run at the same time.

import { claim, end } from "./claim.mjs";
import { held, longestTask, middle, most, stopwatch } from "./measure.mjs";
import { browser, on, run } from "./stage.mjs";

/** Types into a filter, letter by letter. Returns the time of each letter. */
async function typed(watch, filter, text) {
  const times = [];
  for (const letter of text) {
    times.push(
      await watch(
        ([place, one]) => {
          const input = document.querySelector(place);
          input.value += one;
          input.dispatchEvent(new Event("input", { bubbles: true }));
        },
        [filter, letter],
      ),
    );
  }
  return times;
}

await claim("10,000 tools: a key of the filter takes at most 16 ms", () =>
  on({ tools: 10_000 }, async (page) => {
    await page.locator("tb-offers").getByText("10000 tools").waitFor({ state: "attached" });
    const watch = await stopwatch(page);
    const keys = [];
    for (const words of ["users 99", "drop list", "create order 12"]) {
      keys.push(...(await typed(watch, "tb-offers .filter", words)));
      await page.locator("tb-offers .filter").fill("");
    }
    return held({ key: 16 }, { key: most(keys), "usual key": middle(keys) });
  }),
);

await claim("a result of 5 MB: first screen within 200 ms, nothing blocks for more than 50 ms", async () => {
  const screens = [];
  const tasks = [];
  for (let turn = 0; turn < 5; turn += 1) {
    await on({ hash: "#/lab/tools/large" }, async (page) => {
      await page.evaluate(() => {
        globalThis.shown = new Promise((resolve) => {
          new MutationObserver(() => document.querySelector(".result .tree") && resolve(performance.now())).observe(
            document.body,
            { childList: true, subtree: true },
          );
        });
        const read = ReadableStreamDefaultReader.prototype.read;
        ReadableStreamDefaultReader.prototype.read = async function (...rest) {
          const got = await read.apply(this, rest);
          if (got.value?.length > 10_000) globalThis.last = performance.now();
          return got;
        };
      });
      tasks.push(
        await longestTask(browser, page, async () => {
          await run(page);
          screens.push(
            await page.evaluate(async () => {
              const at = await globalThis.shown;
              await new Promise((resolve) => setTimeout(resolve, 200));
              return at - globalThis.last;
            }),
          );
        }),
      );
    });
  }
  return held(
    { "first screen": 200, "longest task": 50 },
    { "first screen": middle(screens), "slowest screen": Math.max(...screens), "longest task": Math.max(...tasks) },
  );
});

await claim("the search finds a late row in 5 MB", () =>
  on({ hash: "#/lab/tools/large" }, async (page) => {
    await run(page);
    await page.getByRole("tab", { name: "Structured" }).click();
    await page.getByLabel("Search in this value").fill("row number 33333");
    await page.locator(".hit", { hasText: "row number 33333" }).waitFor();
  }),
);

await claim("20,000 rows of the wire scroll and filter within a frame", () =>
  on({ rows: 20_000, hash: "#/lab/tools?wire=1" }, async (page, fake) => {
    await page.getByText("10000 of 10000").waitFor();
    const watch = await stopwatch(page);
    const scroll = [];
    const jump = [];
    for (let index = 0; index < 40; index += 1) {
      jump.push(await watch((top) => document.querySelector("tb-wire tb-list")?.scrollTo(0, top), index * 13_000));
      scroll.push(await watch(() => document.querySelector("tb-wire tb-list")?.scrollBy(0, 100)));
    }
    const live = [];
    for (let turn = 0; turn < 20; turn += 1) {
      live.push(await watch(() => new Promise((resolve) => setTimeout(resolve, 20))));
      fake.wire(null, "out", "request", "ping", null, null);
    }
    const filter = [];
    for (const words of ["method:tools", "complete -ping", ">100ms object:echo"]) {
      filter.push(...(await typed(watch, "tb-wire .filter", words)));
      await page.getByLabel("Filter messages").fill("");
    }
    return held(
      { scroll: 16, jump: 16, filter: 16, "a new row": 16 },
      { scroll: most(scroll), jump: most(jump), filter: most(filter), "a new row": most(live) },
    );
  }),
);

await browser.close();
end();

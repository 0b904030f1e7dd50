// The page in a real browser, before a fake binary: what people do, at both sizes and in both themes.

import { createRequire } from "node:module";
import { readdir, readFile } from "node:fs/promises";
import { brotliCompressSync } from "node:zlib";

import { chromium } from "playwright-core";

import { claim, end } from "./claim.mjs";
import { FLAGS, openPage } from "./browser.mjs";
import { serveFake } from "./fake.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

/** Runs `act` on a page of its own, before a binary of its own. */
async function on(options, act) {
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
/** The lower quarter and the worst of some times; on a busy machine the rest measures its neighbours. */
const spread = (times) => ({ usual: times.toSorted((one, other) => one - other)[times.length >> 2], worst: Math.max(...times) });
const run = (page) => page.keyboard.press("Control+Enter");

async function violations(page) {
  // As an instrument, not as a script of the page: its policy allows none but its own.
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(" | ")}`);
}

await claim("the page is small", async (assert) => {
  let sum = 0;
  const folder = new URL("../page/", import.meta.url);
  for (const name of await readdir(folder, { recursive: true })) {
    if (/\.\w+$/.test(name)) sum += brotliCompressSync(await readFile(new URL(name, folder))).length;
  }
  assert.ok(sum <= 150_000, `${sum} bytes`);
  return `${sum} bytes compressed`;
});

await claim("the token leaves the address, and the page opens at a tool's list, connected", () => on({}, async (page) => {
  const hash = new URL(page.url()).hash;
  if (hash !== "#/lab/tools") throw new Error(hash);
  await page.getByText("2026-07-28 · modern · Streamable HTTP").waitFor();
}));

await claim("at 800 px, eighteen tools are in sight", () => on({ tools: 100 }, async (page) => {
  const box = await page.locator("tb-offers tb-list").boundingBox();
  const count = Math.floor(box.height / 38);
  if (count < 18) throw new Error(`${count}`);
  return `${count}`;
}));

await claim("an integer of nineteen digits goes from the form to the server and back", () => on({ hash: "#/lab/tools/tricky" }, async (page, fake) => {
  await page.getByLabel("who *").fill("Al");
  await page.getByLabel("City").check();
  await page.locator('[data-path="/target/name"] textarea').fill("Oslo");
  await page.locator('[data-path="/big"] input').fill("9007199254740993");
  await page.locator('[data-path="/nick"]').getByText("null").click();
  await page.getByRole("button", { name: "Add tags" }).click();
  await page.getByRole("button", { name: "Add to tags" }).click();
  await page.locator('[data-path="/tags/0"] textarea').fill("a");
  const line = await page.locator(".command").textContent();
  if (!line.includes("big=9007199254740993")) throw new Error(line);
  await page.getByRole("tab", { name: "JSON" }).click();
  const text = await page.locator("textarea.whole").inputValue();
  if (!/"big": 9007199254740993[,\n]/.test(text) || !/"nick": null/.test(text)) throw new Error(text);
  await run(page);
  await page.locator(".pill.done").waitFor();
  const sent = fake.sent.findLast((one) => one.path.endsWith("/exchanges")).body;
  if (!sent.includes('"arguments":{"who":"Al","target":{"kind":"city","name":"Oslo"},"big":9007199254740993,"nick":null,"tags":["a"]}')) throw new Error(sent);
  await page.getByRole("tab", { name: "Structured" }).click();
  await page.locator(".value.number", { hasText: "9007199254740993" }).waitFor();
}));

await claim("invalid JSON stays as it was typed, and says where it breaks", () => on({ hash: "#/lab/tools/tricky?view=json" }, async (page) => {
  await page.locator("textarea.whole").fill('{"who": "Al",}');
  await page.getByText("line 1, column 14").first().waitFor();
  await page.getByRole("tab", { name: "Form" }).click();
  await page.getByRole("tab", { name: "JSON" }).click();
  const text = await page.locator("textarea.whole").inputValue();
  if (text !== '{"who": "Al",}') throw new Error(text);
}));

await claim("the button says what is wrong, goes there, and can be overruled", () => on({ hash: "#/lab/tools/tricky" }, async (page, fake) => {
  await run(page);
  await page.getByRole("button", { name: /2 fields need attention/ }).waitFor();
  const focused = await page.evaluate(() => document.activeElement.closest(".field").dataset.path);
  if (focused !== "/who") throw new Error(focused);
  if (fake.sent.some((one) => one.path.endsWith("/exchanges"))) throw new Error("it was sent");
  await page.getByRole("button", { name: "Send anyway" }).click();
  await page.locator(".pill.done").waitFor();
}));

await claim("the binary's own check is shown under its field", () => on({ hash: `#/lab/tools/tricky?args=${encodeURIComponent('{"who":"Bo","target":{"kind":"city","name":"x"}}')}` }, async (page) => {
  await page.getByLabel("who *").fill("Bob");
  await page.getByText("Bob is not welcome").waitFor();
}));

await claim("a reload restores the tool, its arguments and its run", () => on({ hash: "#/lab/tools/echo" }, async (page) => {
  await page.getByLabel("message *").fill("still here");
  await run(page);
  await page.locator(".result").getByText("still here").waitFor();
  await page.waitForFunction(() => location.hash.includes("run=") && location.hash.includes("args="));
  await page.reload();
  await page.locator(".result").getByText("still here").waitFor();
  if ((await page.getByLabel("message *").inputValue()) !== "still here") throw new Error("the arguments are gone");
  await page.getByRole("option", { name: /tricky/ }).click();
  await page.goBack();
  await page.getByRole("heading", { name: "echo" }).waitFor();
}));

await claim("a destructive tool asks once, with its arguments", () => on({ hash: "#/lab/tools/drop_table" }, async (page, fake) => {
  await page.getByLabel("table *").fill("users");
  await run(page);
  await page.locator(".confirm").getByText('"users"').waitFor();
  if (fake.sent.some((one) => one.path.endsWith("/exchanges"))) throw new Error("it was sent");
  await page.getByRole("button", { name: "Yes, call drop_table" }).click();
  await page.locator(".pill.done").waitFor();
}));

for (const width of [1280, 360]) {
  await claim(`a question is answered where it was asked, at ${width} px`, () => on({ width, hash: "#/lab/tools/deploy" }, async (page, fake) => {
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("Deploy to prod?").waitFor();
    await page.getByRole("button", { name: "Submit" }).click();
    await page.locator("tb-ask").getByText("is required").waitFor();
    await page.locator("tb-ask").getByText("true").click();
    await page.locator("tb-ask").getByText("Medium").click();
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText("2 rounds").waitFor();
    const sent = fake.sent.find((one) => one.path.startsWith("/api/asks")).body;
    if (sent !== '{"result":{"action":"accept","content":{"really":true,"size":"m"}}}') throw new Error(sent);
  }));
}

await claim("an address to visit shows its host, and opens nothing", () => on({ hash: "#/lab/tools/visit" }, async (page) => {
  await run(page);
  await page.locator(".host", { hasText: "pay.example" }).waitFor();
  if (page.context().pages().length !== 1) throw new Error("something opened");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText('"refuse":"decline"').waitFor();
}));

await claim("sampling shows everything that was sent", () => on({ hash: "#/lab/tools/summarize" }, async (page) => {
  await run(page);
  for (const text of ["You are terse.", "Summarize the news.", "costPriority", "maxTokens"]) await page.locator("tb-ask").getByText(text).locator("visible=true").first().waitFor();
  await page.getByLabel("Reply of the model").fill("no news");
  await page.getByRole("button", { name: "Send the reply" }).click();
  await page.getByText("no news").first().waitFor();
}));

await claim("progress is shown, and Esc cancels", () => on({ hash: "#/lab/tools/slow" }, async (page) => {
  await run(page);
  await page.getByText("4/8 · step 4").waitFor();
  await page.getByText("working on it").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".pill.cancelled").waitFor();
  await page.getByText("`notifications/cancelled` was sent").waitFor();
}));

await claim("errors say whose they are, and Markdown makes no HTML", () => on({ hash: "#/lab/tools/refused" }, async (page) => {
  await run(page);
  await page.getByText("The server refused the request · -32602 invalid params").waitFor();
  await page.getByRole("option", { name: /broken/ }).click();
  await run(page);
  await page.getByText("the tool failed").waitFor();
  await page.getByRole("option", { name: /prose/ }).click();
  await run(page);
  await page.getByText("<img src=x onerror=alert(1)>").waitFor();
  const width = await page.locator("figure img").evaluate((image) => image.getBoundingClientRect().width);
  if (width !== 1) throw new Error(`a picture of one pixel is ${width} wide`);
}));

await claim("prompts complete while one types; templates give an address", () => on({ hash: "#/lab/prompts/review" }, async (page) => {
  await page.getByLabel("language *").fill("ru");
  await page.locator("datalist option[value=rust]").waitFor({ state: "attached" });
  await page.getByLabel("language *").fill("rust");
  await run(page);
  await page.getByText("Review this rust.").waitFor();
  await page.getByRole("link", { name: /Resources/ }).click();
  await page.getByRole("option", { name: /users/ }).click();
  await page.locator('.field[data-path="/id"] input').fill("7");
  await page.getByText("turnbuckle read lab demo://users/7").waitFor();
  await run(page);
  await page.locator(".result .key", { hasText: "id" }).waitFor();
}));

await claim("the keyboard alone calls a tool", () => on({}, async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("drop");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "drop_table" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("echo");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "echo" }).waitFor();
  await page.locator(".callform h1").click();
  await page.keyboard.press("w");
  await page.getByRole("heading", { name: "Wire" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Wire" }).waitFor({ state: "detached" });
}));

await claim("the wire filters, shows a message, and sends it again", () => on({ rows: 100, hash: "#/lab/tools?wire=1" }, async (page, fake) => {
  await page.getByLabel("Filter the wire").fill("method:tools/call -ping");
  await page.getByText("13 of 100").waitFor();
  await page.locator("tb-wire [role=option]").first().click();
  await page.getByRole("tab", { name: "HTTP" }).click();
  await page.getByText("Bearer ****").waitFor();
  await page.getByRole("tab", { name: "Replay" }).click();
  await page.getByLabel("Parameters as JSON").fill('{"name":"echo","arguments":{"message":"again"}}');
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("sent as call 1").waitFor();
  if (!fake.sent.at(-1).body.includes('"again"')) throw new Error(fake.sent.at(-1).body);
}));

await claim("a server that failed says why, and offers a retry", () => on({ hash: "#/dead/tools" }, async (page) => {
  await page.getByText("npm error 404 Not Found: nowhere").waitFor();
  await page.getByRole("button", { name: "Retry" }).waitFor();
}));

await claim("authorization is told step by step", () => on({ hash: "#/lab/server" }, async (page) => {
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("sign-in in the browser").waitFor();
}));

const PLACES = ["#/lab/tools", "#/lab/tools/tricky", "#/lab/tools/deploy!", "#/lab/tools/prose!", "#/lab/tools/refused!", "#/lab/tools/large!", "#/lab/tools/summarize!", "#/lab/prompts/review", "#/lab/resources", "#/lab/tasks", "#/lab/logs", "#/lab/server", "#/dead/tools", "#/lab/tools?wire=1&seq=9", "#/lab/tools/tricky?view=json"];
for (const [width, theme] of [[1280, "light"], [1280, "dark"], [360, "light"], [360, "dark"]]) {
  await claim(`no place has a barrier at ${width} px, ${theme}`, async (assert) => {
    const found = [];
    for (const place of PLACES) {
      await on({ rows: 40, width, theme, hash: place.replace("!", "") }, async (page) => {
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

await claim("10,000 tools: a key of the filter takes at most 16 ms", () => on({ tools: 10_000 }, async (page) => {
  await page.locator("tb-offers").getByText("10000 tools").waitFor();
  const times = await page.evaluate(() => {
    const input = document.querySelector("tb-offers .filter");
    return [..."users 99"].map((letter) => {
      const since = performance.now();
      input.value += letter;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      document.querySelector("tb-offers tb-list").getBoundingClientRect();
      return performance.now() - since;
    });
  });
  const { usual, worst } = spread(times);
  if (usual > 16) throw new Error(times.join(" "));
  return `usual ${usual.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`;
}));

await claim("a result of 5 MB: first screen within 200 ms, and search", () => on({ hash: "#/lab/tools/large" }, async (page) => {
  await page.evaluate(() => {
    globalThis.blocks = [];
    new PerformanceObserver((list) => globalThis.blocks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
    globalThis.shown = new Promise((resolve) => {
      new MutationObserver(() => document.querySelector(".result .tree") && resolve(performance.now())).observe(document.body, { childList: true, subtree: true });
    });
    const read = ReadableStreamDefaultReader.prototype.read;
    ReadableStreamDefaultReader.prototype.read = async function (...rest) {
      const got = await read.apply(this, rest);
      if (got.value?.length > 10_000) globalThis.last = performance.now();
      return got;
    };
  });
  await run(page);
  const { after, blocks } = await page.evaluate(async () => {
    const at = await globalThis.shown;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { after: at - globalThis.last, blocks: globalThis.blocks };
  });
  if (!(after <= 200)) throw new Error(`${after} ms`);
  await page.getByRole("tab", { name: "Structured" }).click();
  await page.getByLabel("Search in this value").fill("row number 33333");
  await page.locator(".hit", { hasText: "row number 33333" }).waitFor();
  return `first screen ${after.toFixed(0)} ms after the last byte; longest task ${Math.max(0, ...blocks)} ms`;
}));

await claim("20,000 rows of the wire scroll and filter within a frame", () => on({ rows: 20_000, hash: "#/lab/tools?wire=1" }, async (page) => {
  await page.getByText("20000 of 20000").waitFor();
  const { scroll, filter } = await page.evaluate(() => {
    const list = document.querySelector("tb-wire tb-list");
    const timed = (act) => {
      const since = performance.now();
      act();
      list.getBoundingClientRect();
      return performance.now() - since;
    };
    const scroll = Array.from({ length: 30 }, (_, index) => timed(() => {
      list.scrollTop = index * 18_000;
      list.paint();
    }));
    const input = document.querySelector("tb-wire .filter");
    const filter = [..."method:to"].map((letter) => timed(() => {
      input.value += letter;
      input.dispatchEvent(new Event("input"));
    }));
    return { scroll, filter };
  });
  const [scrolled, filtered] = [spread(scroll), spread(filter)];
  if (scrolled.usual > 16 || filtered.usual > 16) throw new Error(`scroll ${scroll}, filter ${filter}`);
  return `scroll ${scrolled.usual.toFixed(1)} ms (worst ${scrolled.worst.toFixed(1)}), filter ${filtered.usual.toFixed(1)} ms (worst ${filtered.worst.toFixed(1)})`;
}));

await browser.close();
end();

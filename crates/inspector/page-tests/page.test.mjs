// The page in a real browser with a fake binary: what users do, at both sizes and in both themes.

import { readdir, readFile } from "node:fs/promises";
import { brotliCompressSync } from "node:zlib";

import { claim, end } from "./claim.mjs";
import { RESULTS } from "./fake-offer.mjs";
import { browser, on, run } from "./stage.mjs";

await claim("the page is small", async (assert) => {
  let sum = 0;
  const folder = new URL("../page/", import.meta.url);
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(html|css|js)$/.test(name)) continue;
    // The binary leaves out doc comments. A Rust test checks the size of the page that it sends.
    const text = (await readFile(new URL(name, folder), "utf8")).replaceAll(/\/\*\*[^]*?\*\//g, "");
    sum += brotliCompressSync(text).length;
  }
  assert.ok(sum <= 150_000, `${sum} bytes`);
  return `${sum} bytes compressed`;
});

await claim("the token leaves the address, and the page opens at a tool's list, connected", () =>
  on({}, async (page) => {
    const hash = new URL(page.url()).hash;
    if (hash !== "#/lab/tools") throw new Error(hash);
    await page.getByText("2026-07-28 · HTTP").waitFor();
  }),
);

await claim("at 800 px, eighteen tools are visible", () =>
  on({ tools: 100 }, async (page) => {
    const box = await page.locator("tb-offers tb-list").boundingBox();
    const count = Math.floor(box.height / 32);
    if (count < 18) throw new Error(`${count}`);
    return `${count}`;
  }),
);

await claim("an integer of nineteen digits goes from the form to the server and back", () =>
  on({ hash: "#/lab/tools/tricky" }, async (page, fake) => {
    await page.getByLabel("who *").fill("Al");
    await page.getByText("City", { exact: true }).click();
    await page.locator('[data-path="/target/name"] textarea').fill("Oslo");
    await page.locator('[data-path="/big"] input').fill("9007199254740993");
    await page.getByRole("button", { name: "null for nick" }).click();
    await page.getByRole("button", { name: "Add tags" }).click();
    await page.getByRole("button", { name: "Add item to tags" }).click();
    await page.locator('[data-path="/tags/0"] textarea').fill("a");
    const line = await page.locator(".command").textContent();
    if (!line.includes("big=9007199254740993")) throw new Error(line);
    await page.getByRole("tab", { name: "JSON" }).click();
    const text = await page.locator("textarea.whole").inputValue();
    if (!/"big": 9007199254740993[,\n]/.test(text) || !/"nick": null/.test(text)) throw new Error(text);
    await run(page);
    await page.locator(".pill.done").waitFor();
    const sent = fake.sent.findLast((one) => one.path.endsWith("/exchanges")).body;
    const target = '"target":{"kind":"city","name":"Oslo"}';
    const wanted = `"arguments":{"who":"Al",${target},"big":9007199254740993,"nick":null,"tags":["a"]}`;
    if (!sent.includes(wanted)) throw new Error(sent);
    await page.getByRole("tab", { name: "Structured" }).click();
    await page.locator(".value.number", { hasText: "9007199254740993" }).waitFor();
  }),
);

await claim("invalid JSON stays in the box, with the position of the error", () =>
  on({ hash: "#/lab/tools/tricky?view=json" }, async (page) => {
    await page.locator("textarea.whole").fill('{"who": "Al",}');
    await page.getByText("line 1, column 14").first().waitFor();
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByRole("tab", { name: "JSON" }).click();
    const text = await page.locator("textarea.whole").inputValue();
    if (text !== '{"who": "Al",}') throw new Error(text);
  }),
);

await claim("the button shows the number of problems, focuses the first, and can be overruled", () =>
  on({ hash: "#/lab/tools/tricky" }, async (page, fake) => {
    await run(page);
    await page.getByRole("button", { name: "2 fields need attention" }).waitFor();
    const focused = await page.evaluate(() => document.activeElement?.closest(".field")?.getAttribute("data-path"));
    if (focused !== "/who") throw new Error(String(focused));
    if (fake.sent.some((one) => one.path.endsWith("/exchanges"))) throw new Error("it was sent");
    await page.getByRole("button", { name: "Send anyway" }).click();
    await page.locator(".pill.done").waitFor();
  }),
);

await claim("the binary's own check is shown under its field", () =>
  on(
    { hash: `#/lab/tools/tricky?args=${encodeURIComponent('{"who":"Bo","target":{"kind":"city","name":"x"}}')}` },
    async (page) => {
      await page.getByLabel("who *").fill("Bob");
      await page.getByText("Bob is not welcome").waitFor();
    },
  ),
);

await claim("a reload restores the tool, its arguments and its run", () =>
  on({ hash: "#/lab/tools/echo" }, async (page) => {
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
  }),
);

await claim("an address with other arguments is followed while its tool is open", () =>
  on({ hash: `#/lab/tools/echo?args=${encodeURIComponent('{"message":"one"}')}` }, async (page) => {
    await page.locator(".callform h1", { hasText: "echo" }).waitFor();
    await page.evaluate(() => (location.hash = `#/lab/tools/echo?args=${encodeURIComponent('{"message":"two"}')}`));
    await page.locator("code.command", { hasText: "message=two" }).waitFor();
    await page.locator('[data-path="/message"]').getByRole("textbox").fill("three");
    await page.waitForFunction(() => decodeURIComponent(location.hash).includes("three"));
    await page.locator("code.command", { hasText: "message=three" }).waitFor();
  }),
);

await claim("a destructive tool asks once, with its arguments", () =>
  on({ hash: "#/lab/tools/drop_table" }, async (page, fake) => {
    await page.getByLabel("table *").fill("users");
    await run(page);
    await page.locator(".confirm").getByText('"users"').waitFor();
    if (fake.sent.some((one) => one.path.endsWith("/exchanges"))) throw new Error("it was sent");
    await page.getByRole("button", { name: "Call drop_table" }).click();
    await page.locator(".pill.done").waitFor();
  }),
);

for (const width of [1280, 360]) {
  await claim(`a question is answered where it was asked, at ${width} px`, () =>
    on({ width, hash: "#/lab/tools/deploy" }, async (page, fake) => {
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByText("Deploy to prod?").waitFor();
      await page.locator('tb-ask [data-path="/reason"] textarea').fill("x");
      await page.getByRole("button", { name: "Accept" }).click();
      await page.locator("tb-ask").getByText("too short").waitFor();
      await page.locator('tb-ask [data-path="/reason"] textarea').fill("");
      await page.locator("tb-ask").getByRole("checkbox").check();
      await page.locator("tb-ask").getByText("Medium").click();
      await page.getByRole("button", { name: "Accept" }).click();
      await page.getByText("2 steps").waitFor();
      const sent = fake.sent.find((one) => one.path.startsWith("/api/asks")).body;
      if (sent !== '{"result":{"action":"accept","content":{"really":true,"size":"m"}}}') throw new Error(sent);
    }),
  );
}

// rule: E5, E9
await claim("an address to visit shows its host, and opens nothing", () =>
  on({ hash: "#/lab/tools/visit" }, async (page) => {
    await run(page);
    await page.locator(".host", { hasText: "pay.example" }).waitFor();
    if (page.context().pages().length !== 1) throw new Error("something opened");
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByText('"refuse":"decline"').waitFor();
  }),
);

// rule: Q1
await claim("sampling shows everything that was sent", () =>
  on({ hash: "#/lab/tools/summarize" }, async (page) => {
    await run(page);
    for (const text of ["You are terse.", "Summarize the news.", "costPriority", "maxTokens"]) {
      await page.locator("tb-ask").getByText(text).locator("visible=true").first().waitFor();
    }
    await page.getByLabel("Reply of the model").fill("no news");
    await page.getByRole("button", { name: "Send reply" }).click();
    await page.getByText("no news").first().waitFor();
  }),
);

await claim("progress is shown, and Esc cancels", () =>
  on({ hash: "#/lab/tools/slow" }, async (page) => {
    await run(page);
    await page.getByText("4 of 8").first().waitFor();
    await page.getByText("working on it").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".pill.cancelled").waitFor();
    await page.getByText("notifications/cancelled was sent").waitFor();
  }),
);

await claim("errors show where they happened, and Markdown creates no HTML", () =>
  on({ hash: "#/lab/tools/refused" }, async (page) => {
    await run(page);
    await page.getByText("The server refused the request · -32602 invalid params").waitFor();
    await page.getByRole("button", { name: "Raw answer" }).click();
    await page.locator(".rawanswer pre").filter({ hasText: "jsonrpc" }).waitFor();
    await page.getByRole("option", { name: /broken/ }).click();
    await run(page);
    await page.getByText("the tool failed").waitFor();
    await page.getByRole("option", { name: /prose/ }).click();
    await run(page);
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    const width = await page.locator("figure img").evaluate((image) => image.getBoundingClientRect().width);
    if (width !== 1) throw new Error(`a picture of one pixel is ${width} wide`);
  }),
);

await claim("a server's odd schemas, patterns and results neither stop nor break the page", () =>
  on({}, async (page, fake) => {
    const properties = {
      kind: { enum: "no" },
      mark: { type: "string", pattern: 7 },
      ref: { $ref: "#/%zz" },
      word: { type: "string", pattern: "^(a+)+$" },
      list: { allOf: [{ required: 3 }, { type: "string" }] },
    };
    fake.offer.tools.push({ name: "odd", inputSchema: { type: "object", properties, required: 7 } });
    RESULTS.odd = () => ({
      result: {
        content: [
          null,
          5,
          { type: "text", text: 9 },
          { type: "resource", resource: null },
          { type: "text", text: "and then <b>sense</b>" },
        ],
      },
    });
    fake.emit("change", { server: "s1", kind: "tools" });
    await page.getByRole("option", { name: /^odd/ }).click();
    await page.locator('[data-path="/word"] textarea').fill(`${"a".repeat(60)}!`);
    await run(page);
    await page.getByText("and then <b>sense</b>").waitFor();
  }),
);

await claim("a question that is gone does not come back with an older state of its call", () =>
  on({ hash: "#/lab/tools/deploy" }, async (page, fake) => {
    await run(page);
    await page.locator("tb-ask").waitFor();
    const [call] = fake.exchanges.values();
    fake.emit("ask-gone", { id: call.asks[0].id });
    fake.emit("exchange", { ...call, rounds: 2, status: "running" });
    await page.locator("tb-run .pill.running").waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    if (await page.locator("tb-ask, [data-ask]").count()) throw new Error("it is asked again");
  }),
);

await claim("a question whose parameters do not fit its method is shown and answered as JSON", () =>
  on({ hash: "#/lab/tools/deploy" }, async (page, fake) => {
    await run(page);
    await page.locator("tb-ask").waitFor();
    for (const [at, params] of [{ messages: 7 }, null, { messages: [{ role: "user", content: null }] }].entries()) {
      const ask = {
        id: `odd${at}`,
        exchange: null,
        server: "s1",
        round: 1,
        stateBytes: 0,
        key: "k",
        method: "sampling/createMessage",
        params,
      };
      fake.asks.set(ask.id, ask);
      fake.emit("ask", ask);
    }
    // Any number of questions takes one line until the user answers.
    const line = page.locator(".questionline");
    await line.getByText("4 questions waiting").waitFor();
    if ((await line.boundingBox()).height > 40) throw new Error("the questions cover the page");
    await line.getByRole("link", { name: "a session" }).click();
    const cards = page.locator("tb-questions tb-ask");
    await cards.nth(2).waitFor();
    for (const card of await cards.all()) {
      await card
        .getByRole("button", { name: /^(Refuse|Send reply)$/ })
        .first()
        .waitFor();
    }
    await cards.first().getByLabel("Result as JSON").fill("{");
    await cards.first().getByRole("button", { name: "Answer" }).click();
    await cards.first().locator(".problem:not(:empty)").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("h1", { hasText: "Questions" }).click();
    await page.keyboard.press("n");
    await page.getByRole("heading", { name: "deploy", exact: true }).waitFor();
  }),
);

await claim("a description of 2 MB is cut off, and a click shows all of it", () =>
  on({}, async (page, fake) => {
    const words = "word ".repeat(400_000);
    fake.offer.tools.unshift({
      name: "talker",
      title: words,
      description: words,
      inputSchema: { type: "object", properties: { a: { type: "string", description: words } } },
    });
    fake.emit("change", { server: "s1", kind: "tools", uri: null });
    await page.getByRole("option", { name: "talker" }).click();
    await page.locator(".callform h1", { hasText: "talker" }).waitFor();
    const all = page.getByRole("button", { name: "Show all (2,000,000 characters)" });
    await all.first().waitFor();
    const length = await page.evaluate(() => document.body.textContent.length);
    if (length > 30_000) throw new Error(`${length} characters are in the page`);
    await page
      .locator(".description")
      .getByRole("button", { name: /^Show all/ })
      .click();
    await page.locator(".description").getByLabel("Search in this text").waitFor();
  }),
);

await claim("entries that no client could call are left out and reported", () =>
  on({}, async (page, fake) => {
    fake.offer.tools.push(
      null,
      7,
      {},
      { name: 5 },
      { name: "odd", title: 7, description: { a: 1 }, annotations: "x", inputSchema: 3 },
    );
    fake.offer.prompts.push(
      { name: "bent", arguments: "none" },
      { name: "bent2", arguments: [null, { name: 3 }, { name: "a" }] },
    );
    fake.emit("change", { server: "s1", kind: "tools", uri: null });
    await page.getByText("4 of 17 entries have no name and are not shown").waitFor();
    await page.getByRole("option", { name: "odd" }).click();
    await page.locator(".callform h1", { hasText: "odd" }).waitFor();
    for (const name of ["bent", "bent2"]) {
      await page.goto(`${page.url().split("#")[0]}#/lab/prompts/${name}`);
      await page.locator(".callform h1", { hasText: name }).waitFor();
    }
  }),
);

await claim("prompts complete while the user types; templates are expanded to a URI", () =>
  on({ hash: "#/lab/prompts/review" }, async (page) => {
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
  }),
);

// rule: RS7
await claim("a server is asked for completions when the typing pauses, and once for the same", () =>
  on({ hash: "#/lab/prompts/review" }, async (page, fake) => {
    const asked = () =>
      [...fake.exchanges.values()]
        .filter((exchange) => exchange.method === "completion/complete")
        .map((exchange) => exchange.params.argument.value);
    const input = page.getByLabel("language *");
    await input.evaluate((field) => {
      for (const value of ["r", "ru", "rub"]) {
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
    });
    const ruby = page.locator("datalist option[value=ruby]");
    await ruby.waitFor({ state: "attached" });
    await input.fill("go");
    await page.locator("datalist option[value=go]").waitFor({ state: "attached" });
    await input.fill("rub");
    await ruby.waitFor({ state: "attached" });
    const values = asked().filter((value) => value.startsWith("r"));
    if (values.join() !== "rub") throw new Error(`the server was asked for ${values}`);
  }),
);

await claim("the keyboard alone calls a tool", () =>
  on({}, async (page) => {
    // The key focuses the filter of a list, so wait for the list.
    const drop = page.getByRole("option", { name: "drop_table" });
    await drop.waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("drop");
    await page.getByRole("option", { name: "echo" }).first().waitFor({ state: "detached" });
    await drop.waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "drop_table" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("echo");
    await page.locator("dialog.palette").getByRole("option", { name: "echo" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "echo" }).waitFor();
    await page.locator(".callform h1").click();
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "Messages" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Messages" }).waitFor({ state: "detached" });
  }),
);

await claim("the wire filters, shows a message, and sends it again", () =>
  on({ rows: 100, hash: "#/lab/tools?wire=1" }, async (page, fake) => {
    await page.getByLabel("Filter messages").fill("method:tools/call -ping");
    await page.getByText("12 of 50").waitFor();
    await page.locator("tb-wire [role=option]").first().click();
    await page.getByRole("tab", { name: "Headers" }).click();
    await page.getByText("Bearer ****").waitFor();
    await page.getByRole("tab", { name: "Resend" }).click();
    await page.getByLabel("Parameters as JSON").fill('{"name":"echo","arguments":{"message":"again"}}');
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("sent as call 1").waitFor();
    if (!fake.sent.at(-1).body.includes('"again"')) throw new Error(fake.sent.at(-1).body);
  }),
);

await claim("the wire is sorted by a column, and the address keeps the order", () =>
  on({ rows: 5000, hash: "#/lab/tools?wire=1" }, async (page) => {
    const column = (name) => page.locator(`tb-wire .row .${name}`).allTextContents();
    const head = (name) => page.locator(`.wirehead button.${name}`);
    await page.getByText("2500 of 2500").waitFor();
    await head("ms").click();
    if (!(await column("ms")).every((text) => text === "198 ms")) throw new Error(`down: ${await column("ms")}`);
    await head("ms").click();
    if ((await column("ms"))[0] !== "0 ms") throw new Error(`up: ${await column("ms")}`);
    await page.reload();
    await page.locator('.wirehead button.ms[aria-pressed="true"]').waitFor();
    await page.getByText("2500 of 2500").waitFor();
    if ((await column("ms"))[0] !== "0 ms") throw new Error(`after a reload: ${await column("ms")}`);
    await head("ms").click();
    await page.locator('.wirehead button.time[aria-pressed="true"]').waitFor();
    await head("method").click();
    if (!(await column("method")).every((text) => text.endsWith("ping"))) {
      throw new Error(`${await column("method")}`);
    }
  }),
);

await claim("rows keep their elements while new rows arrive, and the filter applies to new rows", () =>
  on({ rows: 100, hash: "#/lab/tools?wire=1" }, async (page, fake) => {
    await page.getByLabel("Filter messages").fill("tools/call");
    await page.getByText("12 of 50").waitFor();
    await page.evaluate(() => (globalThis.row = document.querySelector("tb-wire .row:last-child")));
    fake.wire(900, "out", "request", "ping", null, null);
    await page.getByText("12 of 51").waitFor();
    fake.wire(901, "out", "request", "tools/call", "late", null);
    await page.getByText("13 of 52").waitFor();
    if (!(await page.evaluate(() => globalThis.row.isConnected))) throw new Error("rows were drawn again");
    // The row is sent again with its response.
    fake.emit("wire", { ...fake.rows.at(-1), status: "503" });
    await page.locator("tb-wire .status.error", { hasText: "503" }).waitFor();
    await page.getByText("13 of 52").waitFor();
    await page.getByLabel("Filter messages").fill("-ping");

    const narrow = await page.locator("tb-wire .found").textContent();
    await page.getByLabel("Filter messages").fill("-pin");
    await page.getByLabel("Filter messages").fill("-ping");
    if ((await page.locator("tb-wire .found").textContent()) !== narrow) {
      throw new Error("a filter that was typed finds other rows");
    }
  }),
);

await claim("a click on a tab is not lost when the bar is drawn again while the mouse is down", () =>
  on({ hash: "#/lab/tools" }, async (page, fake) => {
    const tab = page.locator('nav a[data-tab="tasks"]');
    await tab.hover();
    await page.mouse.down();
    const n = fake.start("s1", { method: "tools/call", params: { name: "echo", arguments: {} } }, "{}");
    const made = fake.exchanges.get(n);
    made.taskId = "t1";
    fake.emit("exchange", made);
    await tab.locator(".count", { hasText: "1" }).waitFor();
    await page.mouse.up();
    await page.locator("tb-tasks h1").waitFor();
  }),
);

await claim("a failed server shows the reason and offers a retry", () =>
  on({ hash: "#/dead/tools" }, async (page) => {
    await page.getByText("npm error 404 Not Found: nowhere").waitFor();
    await page.getByRole("button", { name: "Retry" }).waitFor();
    const width = await page.locator(".failure").evaluate((box) => box.getBoundingClientRect().width);
    if (width < 600) throw new Error(`the error is only this wide: ${width} px`);
  }),
);

await claim("authorization is shown step by step", () =>
  on({ hash: "#/lab/server" }, async (page) => {
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("sign-in in the browser").waitFor();
  }),
);

await browser.close();
end();

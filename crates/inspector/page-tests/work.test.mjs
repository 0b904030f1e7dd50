// Work with one call: the JSON editor, tables, search, questions and saved tests, with a fake binary.

import { readFile } from "node:fs/promises";

import { claim, end } from "./claim.mjs";
import { RESULTS, server } from "./fake-offer.mjs";
import { browser, on, run } from "./stage.mjs";

/** The results of tools, of any shape. @type {Record<string, any>} */
const results = RESULTS;

await claim("the JSON editor has colours, formats, and completes names and values from the schema", () =>
  on({ hash: "#/lab/tools/tricky?view=json" }, async (page) => {
    const area = page.getByLabel("Arguments as JSON");
    await area.fill('{"who": "Al", "big": 12, "urgent": true}');
    await page.locator(".under .token.string", { hasText: '"Al"' }).waitFor();
    await page.locator(".under .token.number", { hasText: "12" }).waitFor();
    await page.locator(".under .token.literal", { hasText: "true" }).waitFor();
    await page.getByRole("button", { name: "Lay out" }).click();
    const lines = (await area.inputValue()).split("\n");
    if (lines.length !== 5 || lines[1] !== '  "who": "Al",') throw new Error(lines.join("|"));
    await area.fill('{"who": "Al", ');
    await page.keyboard.press("Control+ ");
    const choices = page.getByRole("listbox", { name: "Completions" });
    await choices.getByRole("option", { name: /"target"/ }).waitFor();
    if (await choices.getByRole("option", { name: /"who"/ }).count()) throw new Error("a name is offered twice");
    await page.keyboard.type('"lev');
    await page.keyboard.press("Enter");
    await choices.getByRole("option", { name: '"mid"' }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("}");
    const text = await area.inputValue();
    if (text !== '{"who": "Al", "level": "mid"}') throw new Error(text);
    await area.fill('{"target": {"k');
    await page.keyboard.press("Control+ ");
    await choices.getByRole("option", { name: /"kind"/ }).waitFor();
    await page.keyboard.press("Escape");
    await choices.waitFor({ state: "hidden" });
  }),
);

await claim("a list of objects is a table: sorted, searched, or a tree", () =>
  on({ hash: "#/lab/tools/rows" }, async (page) => {
    await run(page);
    const table = page.getByRole("region", { name: "Table of parts" });
    await table.waitFor();
    const first = () => table.locator("tbody tr").first().innerText();
    await table.getByRole("button", { name: "stock" }).click();
    if (!(await first()).includes("BOLT-M8")) throw new Error(await first());
    await table.getByRole("button", { name: "stock" }).click();
    if (!(await first()).includes("EYE-M8")) throw new Error(await first());
    await page.getByLabel("Search in parts").fill("washer");
    await page.getByText("1 of 10 objects").waitFor();
    if (!(await first()).includes("WASHER-M8")) throw new Error(await first());
    await page.getByRole("button", { name: "Tree" }).click();
    await page.locator(".tablebox .tree").waitFor();
    // The other members are shown once, beside the table.
    await page.locator(".content .key", { hasText: "place" }).waitFor();
  }),
);

await claim("the result is above its timing, and the user's time does not count as the server's", () =>
  on({ hash: "#/lab/tools/rows" }, async (page, fake) => {
    await run(page);
    await page.getByText("Ten parts are in stock.").waitFor();
    const [answer, line] = await Promise.all(
      [".answer", ".timebox"].map((part) => page.locator(part).evaluate((one) => one.getBoundingClientRect().top)),
    );
    if (answer >= line) throw new Error("the timeline is above the answer");
    const [call] = fake.exchanges.values();
    const ask = { id: "x", exchange: 1, server: "s1", method: "elicitation/create", params: { message: "Sure?" } };
    const result = { action: "accept", content: { approve: true } };
    const answers = [{ ask, how: "result", result, asked: call.started + 40, time: call.started + 8040 }];
    fake.emit("exchange", { ...call, n: 2, answers, rounds: 2, ended: call.started + 8096 });
    await page.evaluate(() => (location.hash = location.hash.replace(/run=\d+/, "run=2")));
    await page.locator(".took", { hasText: "96 ms" }).waitFor();
    await page.getByText("8 s for your answer").waitFor();
    await page.locator(".timeline").getByText("You accepted").waitFor();
    await page.locator(".timeline").getByText("Sure?").waitFor();
    await page.locator(".timeline .given").getByText("approve").waitFor();
  }),
);

await claim("a call is saved as a test with its expected result", () =>
  on({ hash: "#/lab/tools/rows" }, async (page) => {
    await run(page);
    await page.locator(".pill.done").waitFor();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as a test" }).click();
    const saved = await saving;
    if (saved.suggestedFilename() !== "rows.test.json") throw new Error(saved.suggestedFilename());
    const test = JSON.parse(await readFile(await saved.path(), "utf8"));
    const [call] = test.calls;
    if (test.server !== "http://127.0.0.1:7250/mcp" || call.tool !== "rows" || call.error) {
      throw new Error(JSON.stringify(test));
    }
    const wanted = [
      { at: "$.structuredContent.place", equals: "Hamburg" },
      { at: "$.structuredContent.parts[*]", count: 10 },
      { at: "$.structuredContent.parts[0].sku", equals: "BOLT-M8" },
    ];
    if (JSON.stringify(call.expect.slice(0, 3)) !== JSON.stringify(wanted)) {
      throw new Error(JSON.stringify(call.expect));
    }
  }),
);

await claim("the data of a JSON-RPC error is shown with its code and message", () =>
  on({ hash: "#/lab/tools/refused" }, async (page) => {
    const before = RESULTS.refused;
    RESULTS.refused = () => ({ error: { ...before().error, data: { field: "depth", limit: 5 } } });
    await run(page);
    await page.locator(".failure .key", { hasText: "field" }).waitFor();
    RESULTS.refused = before;
  }),
);

await claim("a union is checked against the chosen variant, and its problems are under their fields", () =>
  on({ hash: "#/lab/tools/tricky" }, async (page) => {
    await page.getByLabel("who *").fill("Al");
    await page.getByText("Point", { exact: true }).click();
    await page.locator('[data-path="/target/lat"] input').fill("91");
    await page.locator('[data-path="/target/lat"]').getByText("Must be at most 90").waitFor();
    if (await page.locator('[data-path="/target"]').getByText("name").count()) {
      throw new Error("another variant's field");
    }
    // Labels indent with nesting; controls keep one left edge.
    const left = (path) =>
      page.locator(`[data-path="${path}"] input, [data-path="${path}"] textarea`).first().boundingBox();
    const [outer, inner] = await Promise.all([left("/who"), left("/target/lat")]);
    if (Math.abs(outer.x - inner.x) > 1) throw new Error(`${outer.x} and ${inner.x}`);
  }),
);

await claim("the action bar stays visible, and shows what needs attention", () =>
  on({ hash: "#/lab/tools/tricky", height: 600 }, async (page) => {
    await page.locator(".callform > .scroll").evaluate((one) => one.scrollTo(0, one.scrollHeight));
    const box = await page.getByRole("button", { name: /^Call/ }).boundingBox();
    if (box.y + box.height > 600) throw new Error("Call scrolled away");
  }),
);

await claim("only unusual tools and messages are marked, and a request with its response is one row", () =>
  on({ rows: 40, hash: "#/~messages" }, async (page) => {
    await page.getByText("20 of 20").waitFor();
    await page.getByText(/^40 messages of 1 server/).waitFor();
    const statuses = await page.locator("tb-wire .row .status").allTextContents();
    if (!statuses.every((one) => one === "complete")) throw new Error(statuses.join());
    await page.locator("tb-wire .row").first().click();
    await page.getByRole("heading", { name: /^Request/ }).waitFor();
    await page.getByRole("heading", { name: /^Response/ }).waitFor();
    await page.goto(`${page.url().split("#")[0]}#/lab/tools`);
    const flags = page.locator("tb-offers .pill");
    await page.getByRole("option", { name: /drop_table/ }).waitFor();
    if ((await flags.allTextContents()).join() !== "destructive") throw new Error(`${await flags.allTextContents()}`);
  }),
);

await claim("all tabs of a server are visible at 768 px", () =>
  on({ hash: "#/lab/tools", width: 768, tools: 240 }, async (page) => {
    await page.locator(".views .count").nth(2).waitFor();
    const hidden = await page.locator(".views").evaluate((one) => one.scrollWidth - one.clientWidth);
    if (hidden > 0) throw new Error(`${hidden} px of the tabs are hidden`);
  }),
);

for (const width of [390, 768, 1280]) {
  await claim(`an open message is not covered by the list beside it at ${width} px`, () =>
    on({ rows: 40, hash: "#/~messages", width }, async (page) => {
      await page.getByText(/^40 messages of 1 server/).waitFor();
      await page.locator("tb-wire .row").first().click();
      await page.locator("tb-wire-detail").waitFor();
      const covered = await page.locator(".wiredetail").evaluate((detail) => {
        const { left, right, top, bottom } = detail.getBoundingClientRect();
        const points = [0.1, 0.5, 0.9].flatMap((share) => [
          [left + (right - left) * share, top + 8],
          [left + 8, top + (bottom - top) * share],
        ]);
        return points.filter(([x, y]) => !detail.contains(document.elementFromPoint(x, y)));
      });
      if (covered.length) throw new Error(JSON.stringify(covered));
      // A visible filter is not cut off.
      const filter = await page.locator("tb-wire .filter").boundingBox();
      if (filter.width < 150) throw new Error(`the filter has ${filter.width} px`);
    }),
  );
}

await claim("a tool is marked as a task if the server supports tasks", () => {
  const capabilities = { ...server().capabilities, extensions: { "io.modelcontextprotocol/tasks": {} } };
  return on({ servers: [{ ...server(), capabilities }] }, async (page) => {
    const flags = page.locator("tb-offers .pill");
    await page.getByRole("option", { name: /drop_table/ }).waitFor();
    if ((await flags.allTextContents()).join() !== "destructive,task") {
      throw new Error(`${await flags.allTextContents()}`);
    }
  });
});

await claim("a call shows the lines that the server logged for it, also late ones, and no others", () =>
  on({ hash: "#/lab/tools/slow" }, async (page, fake) => {
    await run(page);
    const line = page.locator("tb-run .timeline");
    await line.getByText("working on it").waitFor();
    fake.log(7, "of another call");
    fake.log(null, "of no call");
    fake.log(1, "of this call");
    await line.getByText("of this call").waitFor();
    await page.getByRole("button", { name: "Cancel call" }).click();
    await page.locator(".pill.cancelled").waitFor();
    fake.log(1, "after the end");
    await line.getByText("after the end").waitFor();
    const text = await line.innerText();
    if (/another call|of no call/.test(text)) throw new Error(text);
    await page.goto(`${page.url().split("#")[0]}#/lab/logs`);
    await page.locator("tb-logs").getByText("of no call").waitFor();
    const told = page.locator("tb-logs > .bar [role=status]");
    await told.getByText("5 lines").waitFor();
    const { height } = await told.boundingBox();
    if (height > 24) throw new Error(`the number of lines is ${height} px high`);
  }),
);

await claim("the timeline of a call that failed without a response ends with the failure", () =>
  on({ hash: "#/lab/tools/slow" }, async (page, fake) => {
    await run(page);
    await page.locator("tb-run .timeline").getByText("working on it").waitFor();
    const [call] = fake.exchanges.values();
    const error = { who: "transport", code: null, message: "the server ended", causes: [], hint: null };
    fake.emit("exchange", { ...call, status: "failed", error, ended: Date.now() });
    await page.locator("tb-run .timeline").getByText("The connection failed, without an answer").waitFor();
  }),
);

await claim("a list of objects with nested members is a table, too", () =>
  on({ hash: "#/lab/tools/rows" }, async (page) => {
    const before = RESULTS.rows;
    const items = [1, 2, 3].map((id) => ({ id, name: `n${id}`, price: id * 1.5, tags: ["a", "b"], o: { x: id } }));
    results.rows = () => ({ result: { content: [], structuredContent: { items } } });
    await run(page);
    const table = page.getByRole("region", { name: "Table of items" });
    await table.getByRole("cell", { name: '["a","b"]' }).first().waitFor();
    await table.getByRole("cell", { name: '{"x":3}' }).waitFor();
    RESULTS.rows = before;
  }),
);

await claim("invisible characters and characters that change the direction of text are made visible", () => {
  const description = "red \u001b[31m and \u202ereversed";
  const evil = { name: "evil", description, inputSchema: { type: "object", properties: {} } };
  return on({ hash: "#/lab/tools/evil", more: [evil] }, async (page) => {
    RESULTS.evil = () => ({ result: { content: [{ type: "text", text: "title \u001b]0;owned\u0007 \u2066x" }] } });
    await page.locator(".description").getByText("red ␛[31m and ⟨U+202E⟩reversed").waitFor();
    await page.getByRole("option", { name: /evil/ }).getByText("⟨U+202E⟩").waitFor();
    await run(page);
    await page.locator(".answer").getByText("title ␛]0;owned␇ ⟨U+2066⟩x").waitFor();
    delete RESULTS.evil;
  });
});

await claim("the styles of the gateway's views do not affect other views", () =>
  on({ hash: "#/lab/tools/rows?look=structured" }, async (page) => {
    await run(page);
    const key = page.locator("tb-run .key").first();
    await key.waitFor();
    const line = await key.evaluate((one) => getComputedStyle(one).borderBottomWidth);
    if (line !== "0px") throw new Error(`keys are underlined: ${line}`);
    await page.goto(`${page.url().split("#")[0]}#/lab/tools/deploy`);
    await page.getByRole("heading", { name: "deploy" }).waitFor();
    await run(page);
    const message = page.locator("tb-ask .message").first();
    await message.waitFor();
    const border = await message.evaluate((one) => getComputedStyle(one).borderTopWidth);
    if (border !== "0px") throw new Error(`the question is in a box: ${border}`);
    await page.goto(`${page.url().split("#")[0]}#/lab/tools/tricky?args=${encodeURIComponent('{"tags":["a"]}')}`);
    const padding = await page
      .locator(".items > .item")
      .first()
      .evaluate((one) => getComputedStyle(one).paddingTop);
    if (padding !== "0px") throw new Error(`items have a padding of ${padding}`);
  }),
);

await claim("a long key stays inside the message that it is in", () => {
  const long = "a_key_that_is_much_longer_than_the_place_for_it_".repeat(3);
  return on({ hash: "#/lab/tools/rows?look=structured" }, async (page) => {
    const before = RESULTS.rows;
    results.rows = () => ({ result: { content: [], structuredContent: { [long]: { [long]: 1, b: [1] } } } });
    await run(page);
    await page.locator("tb-run .key").first().waitFor();
    const widths = await page
      .locator("tb-run .tree")
      .first()
      .evaluate((one) => [one.scrollWidth, one.clientWidth]);
    if (widths[0] > widths[1]) throw new Error(`${widths}`);
    RESULTS.rows = before;
  });
});

await claim("cancelling a call removes its question", () =>
  on({ hash: "#/lab/tools/deploy" }, async (page) => {
    await run(page);
    await page.locator(".questionline").getByText("1 question waiting").waitFor();
    await page.getByRole("button", { name: "Cancel call" }).click();
    await page.locator(".pill.cancelled").waitFor();
    await page.locator(".questionline").waitFor({ state: "detached" });
    if (await page.locator("tb-ask").count()) throw new Error("the question is still there");
  }),
);

await browser.close();
end();

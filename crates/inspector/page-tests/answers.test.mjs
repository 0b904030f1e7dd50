// The result of a call: complete tables, no duplicate data, and calls saved as tests.

import { readFile } from "node:fs/promises";

import { claim, end } from "./claim.mjs";
import { RESULTS, server } from "./fake-offer.mjs";
import { browser, on, run } from "./stage.mjs";

const tool = (name) => ({ name, inputSchema: { type: "object", properties: {} } });
const text = (words) => ({ type: "text", text: words });
const objects = (count, more = []) => [...Array.from({ length: count }, (_, at) => ({ a: `row ${at}` })), ...more];

/** Calls a tool that returns `result`, on a new page. */
function answering(result, act, options = {}) {
  RESULTS.answers = () => ({ result });
  return on({ hash: "#/lab/tools/answers", more: [tool("answers")], ...options }, async (page, fake) => {
    await run(page);
    await page.locator("tb-run .pill.done").waitFor();
    return act(page, fake);
  });
}

await claim("a member that only a late row has gets a column, and the search finds it", () =>
  answering(
    { content: [], structuredContent: { rows: objects(250, [{ a: "last", secret: "hidden" }]) } },
    async (page) => {
      await page.getByRole("columnheader", { name: "secret" }).waitFor();
      await page.getByLabel("Search in rows").fill("hidden");
      await page.getByText("1 of 251 objects").waitFor();
      await page.getByRole("cell", { name: "hidden" }).waitFor();
    },
  ),
);

await claim("a list with an item that is not an object is shown as a tree, with all items", () =>
  answering({ content: [], structuredContent: { rows: objects(250, [null, 3]) } }, async (page) => {
    await page.locator("tb-run .tree").first().waitFor();
    if (await page.getByRole("table").count()) throw new Error("a table");
    await page.getByText("252").first().waitFor();
  }),
);

await claim("all rows of a long table can be shown", () =>
  answering({ content: [], structuredContent: { rows: objects(350) } }, async (page) => {
    await page.getByRole("button", { name: "250 more" }).click();
    await page.getByRole("button", { name: "150 more" }).click();
    await page.getByRole("button", { name: "50 more" }).click();
    await page.getByRole("cell", { name: "row 349" }).waitFor();
  }),
);

for (const [words, structured, content] of [
  ["a text that is wrapped into an object", { content: "[FILE] a.txt" }, [text("[FILE] a.txt")]],
  ["a number that is wrapped into an object", { result: 42 }, [text("42")]],
]) {
  await claim(`${words} is shown once, as text`, () =>
    answering({ content, structuredContent: structured }, async (page) => {
      await page.locator(".answer").getByText(content[0].text, { exact: true }).waitFor();
      if (await page.locator(".answer .tree").count()) throw new Error("it is shown as a tree, too");
      // The structured content is in another tab.
      await page.getByRole("tab", { name: "Structured" }).click();
      await page.locator("tb-run .tree").first().waitFor();
    }),
  );
}

await claim("a list whose items are also texts is shown once, as a table", () => {
  const rows = [{ city: "Oslo" }, { city: "Rome" }];
  return answering(
    { content: rows.map((row) => text(JSON.stringify(row))), structuredContent: { result: rows } },
    async (page) => {
      await page.getByRole("cell", { name: "Rome" }).waitFor();
      if ((await page.locator(".answer").getByText("Rome").count()) !== 1) throw new Error("it is shown twice");
    },
  );
});

await claim("a text that differs from the structured content is shown beside it", () =>
  answering({ content: [text("Saved.")], structuredContent: { path: "/a.txt" } }, async (page) => {
    await page.locator(".answer").getByText("Saved.").waitFor();
    await page.locator(".answer").getByText('"/a.txt"', { exact: true }).waitFor();
  }),
);

for (const [result, words] of [
  ["hello", "The result is a string and not an object."],
  [{ content: "text" }, "The member content is a string and not a list."],
  [{}, "The result has no member content, which the specification requires."],
]) {
  await claim(`a result such as ${JSON.stringify(result)} is not green`, () => {
    RESULTS.answers = () => ({ result });
    return on({ hash: "#/lab/tools/answers", more: [tool("answers")] }, async (page) => {
      await run(page);
      await page.locator("tb-run .pill.warn").getByText("the result is not valid").waitFor();
      await page.locator("tb-run").getByText(words).waitFor();
    });
  });
}

await claim("a saved test names its server as the config file does", () => {
  const named = { launch: { name: "my server" }, shell: { server: "'my server'" } };
  const options = { servers: [{ ...server(), name: "my server", ...named }], hash: "#/my%20server/tools/answers" };
  return answering(
    { content: [text("ok")] },
    async (page) => {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save as a test" }).click();
      const file = JSON.parse(await readFile(await (await download).path(), "utf8"));
      if (file.server !== "my server") throw new Error(JSON.stringify(file));
    },
    options,
  );
});

await claim("progress after a cancellation is not shown as an answer", () =>
  on({ hash: "#/lab/tools/slow" }, async (page, fake) => {
    await run(page);
    await page.getByText("4 of 8").first().waitFor();
    // The server reports progress once more and does not answer.
    fake.cancel = (n) => {
      fake.wire(n, "out", "notification", "notifications/cancelled", null, null);
      fake.wire(n, "in", "notification", "notifications/progress", null, null);
      fake.emit("exchange", { ...fake.exchanges.get(n), status: "cancelled", ended: Date.now(), error: null });
      return { ok: true };
    };
    await page.getByRole("button", { name: "Cancel call" }).click();
    await page.getByText("has not answered since").waitFor();
  }),
);

await claim("a legacy server's error for server/discover is not shown as an error", () =>
  on({ hash: "#/~messages" }, async (page, fake) => {
    const row = (seq, more) => ({
      ...{ seq, server: "s1", exchange: null, time: Date.now(), object: null, status: null, ms: null, round: 1 },
      ...{ bytes: 90, id: seq, kind: "request", direction: "out", method: "server/discover", ...more },
    });
    const answer = { kind: "response", direction: "in", method: null };
    fake.emit("wire", row(1, {}));
    fake.emit("wire", row(2, { ...answer, id: 1, status: "error -32601" }));
    await page.getByText("error -32601").waitFor();
    fake.emit("wire", row(3, { method: "tools/call" }));
    fake.emit("wire", row(4, { ...answer, id: 3, status: "error -32602" }));
    await page.getByText("error -32602").waitFor();
    await page.getByRole("button", { name: "Errors 1", exact: true }).waitFor();
  }),
);

await browser.close();
end();

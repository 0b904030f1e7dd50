// Servers that appear, disappear and fail, with a fake binary.

import { claim, end } from "./claim.mjs";
import { dead, server } from "./fake-offer.mjs";
import { browser, on, run } from "./stage.mjs";

await claim("a server that fails keeps its list, the form and the result", () =>
  on({ hash: "#/lab/tools/echo" }, async (page, fake) => {
    await page.getByLabel("message *").fill("still here");
    await run(page);
    await page.locator(".result").getByText("still here").waitFor();
    const error = { who: "transport", code: null, message: "the connection ended", causes: [], hint: null };
    fake.emit("server", { ...server(), status: "failed", error });
    const trouble = page.getByRole("alert").filter({ hasText: "the connection ended" });
    await trouble.waitFor();
    if ((await page.getByLabel("message *").inputValue()) !== "still here") throw new Error("the form is gone");
    await page.locator(".result").getByText("still here").waitFor();
    await page.getByRole("option", { name: /tricky/ }).waitFor();
    await trouble.getByRole("button", { name: "Retry" }).click();
    fake.emit("server", server());
    await trouble.waitFor({ state: "detached" });
    await page.getByLabel("message *").waitFor();
  }),
);

await claim("a stopped server keeps its list, the form and its title", () =>
  on({ hash: "#/lab/tools/echo" }, async (page, fake) => {
    await page.getByLabel("message *").fill("still here");
    fake.emit("server", { ...server(), status: "closed", revision: null, transport: null });
    const stopped = page.getByRole("alert").filter({ hasText: "not started" });
    await stopped.getByText("Modern lab").waitFor();
    if ((await page.getByLabel("message *").inputValue()) !== "still here") throw new Error("the form is gone");
    await stopped.getByRole("button", { name: "Connect" }).click();
    fake.emit("server", server());
    await stopped.waitFor({ state: "detached" });
  }),
);

await claim("a state has the same word everywhere", () =>
  on({ hash: "#/lab/server" }, async (page, fake) => {
    await page.locator(".serverhead .pill", { hasText: "connected" }).waitFor();
    await page.getByRole("link", { name: /^Modern lab ?, connected/ }).waitFor();
    fake.emit("server", { ...server(), status: "closed", revision: null });
    await page.locator(".serverhead .pill", { hasText: "not started" }).waitFor();
    await page.getByRole("link", { name: /^Modern lab ?, not started/ }).waitFor();
    const error = { who: "transport", code: null, message: "the connection ended", causes: [], hint: null };
    fake.emit("server", { ...server(), status: "failed", error });
    await page.locator(".serverhead .pill", { hasText: "failed" }).waitFor();
    await page.goto(`${page.url().split("#")[0]}#/lab/tools`);
    await page.getByRole("alert").filter({ hasText: "the connection ended" }).waitFor();
    // The bar shows the state; the reason is shown once, in the line below.
    const bar = await page.locator("header.top .state").innerText();
    if (bar.trim() !== "failed") throw new Error(bar);
  }),
);

await claim("without a server in the address, all servers are listed, and a click connects", () => {
  const closed = (id, name) => ({ ...dead(), id, name, status: "closed", error: null, target: `run ${name}` });
  return on({ servers: [closed("s1", "one"), closed("s2", "two")] }, async (page, fake) => {
    await page.getByRole("heading", { name: "Servers" }).waitFor();
    await page.getByRole("button", { name: "Connect two" }).click();
    fake.emit("server", { ...server(), id: "s2", name: "two", info: null });
    await page.getByRole("button", { name: "Open two" }).click();
    await page.getByRole("option", { name: /echo/ }).waitFor();
  });
});

await claim("a page without the key reports it", () =>
  on({ token: "another" }, async (page) => {
    await page.getByRole("heading", { name: "The key of this page is not valid" }).waitFor();
    // The browser reports the refusal.
    page.errors.length = 0;
  }),
);

await claim("a server at a URL that stopped answering is not shown as connected", () =>
  on({}, async (page, fake) => {
    await page.locator(".state.open").waitFor();
    fake.emit("server", { ...server(), isDown: true });
    await page.locator(".state.failed", { hasText: "the server does not answer" }).waitFor();
    await page.getByRole("link", { name: /^Modern lab ?, does not answer/ }).waitFor();
    await page.getByRole("option", { name: /echo/ }).waitFor();
    fake.emit("server", server());
    await page.locator(".state.open").waitFor();
  }),
);

await claim("the number of messages is that of the shown server", () =>
  on({}, async (page, fake) => {
    await page.getByRole("option", { name: /echo/ }).waitFor();
    const row = (seq, id) => ({
      seq,
      server: id,
      time: Date.now(),
      direction: "out",
      kind: "request",
      method: "ping",
      bytes: 40,
      preview: "{}",
    });
    fake.emit("wire", row(1, "s1"));
    fake.emit("wire", row(2, "s2"));
    fake.emit("wire", row(3, "s1"));
    await page.getByRole("button", { name: "Messages 2", exact: true }).waitFor();
  }),
);

await claim("a result that breaks its schema is not called done", () =>
  on({ hash: "#/lab/tools/echo" }, async (page, fake) => {
    await page.getByLabel("message *").fill("x");
    await run(page);
    await page.locator(".pill.done").waitFor();
    const [exchange] = fake.exchanges.values();
    const outputCheck = { ok: false, problems: [{ path: "/n", message: "expected a number" }] };
    const result = { content: [], structuredContent: { n: "x" } };
    fake.emit("exchange", { ...exchange, n: 2, result, outputCheck });
    await page.evaluate(() => (location.hash = `${location.hash.replace(/run=\d+/, "run=2")}`));
    await page.locator(".pill.warn", { hasText: "breaks its schema" }).waitFor();
    // The timeline does not report success either.
    if (await page.locator(".timeline i.done").count()) throw new Error("the timeline shows the call as done");
    if (await page.locator(".pill.done").count()) throw new Error("the status shows the call as done");
  }),
);

await browser.close();
end();

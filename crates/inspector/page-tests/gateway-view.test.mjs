// The gateway's view with a fake binary: every part, its buttons, and the messages of both hops.

import { claim, end } from "./claim.mjs";
import { FakeGateway } from "./fake-gateway.mjs";
import { browser, on } from "./stage.mjs";

const at = (hash, options, act) => (assert) => {
  const gateway = options && "gateway" in options ? options.gateway : new FakeGateway();
  return on({ hash, gateway, ...options }, (page, fake) => act(page, assert, gateway, fake));
};

await claim(
  "the rail has a link to the gateway",
  at("#/", {}, async (page, assert) => {
    await page.locator('.rail a[data-view="~gateway"]').click();
    await page.locator("tb-gateway h1", { hasText: "Gateway" }).waitFor();
    assert.equal(await page.title(), "Gateway · Turnbuckle");
  }),
);
await claim(
  "without a gateway the rail has no such link",
  at("#/", { gateway: null }, async (page, assert) => {
    await page.locator("tb-home").waitFor();
    assert.equal(await page.locator('[data-view="~gateway"]').count(), 0);
    await page.evaluate(() => (location.hash = "#/~gateway"));
    await page.getByRole("heading", { name: "No gateway here" }).waitFor();
  }),
);
await claim(
  "figures, map, questions, servers, callers and denials are shown",
  at("#/~gateway", {}, async (page, assert) => {
    await page.locator(".map").waitFor();
    const board = await page.locator(".board").innerText();
    for (const words of [
      "31.9k",
      "214 asked",
      "Which branch should be deployed?",
      "everything__deploy, server everything, caller ada@team, step 2",
      "Stopped: ended before it answered; exit code 1, next try in 38 s",
      "support-bot",
      "files__write_file",
      "deny *__write_*",
      "Modern to legacy",
    ]) {
      assert.ok(board.includes(words), `${words} is not in ${board}`);
    }
    // One head, then the rows.
    assert.equal(await page.locator(".map tbody th").count(), 5);
  }),
);
await claim(
  "a server's log stays open while figures change, and a server can be restarted",
  at("#/~gateway", {}, async (page, assert, gateway) => {
    await page.getByRole("button", { name: "Log of browser" }).click();
    const printed = page.getByRole("log", { name: "Standard error of browser" });
    await printed.getByText("no browser found").waitFor();
    gateway.overview.servers[0].calls = 77_777;
    await page.getByText("77,777").waitFor();
    assert.ok(await printed.isVisible());
    await page.getByRole("button", { name: "Restart browser" }).click();
    await page.waitForFunction(() => document.getElementById("announce")?.textContent?.includes("browser"));
    assert.deepEqual(gateway.sent, [{ room: "servers", id: "browser", body: {} }]);
    // The focus stays, although the table is drawn again.
    gateway.overview.servers[0].calls = 88_888;
    await page.getByText("88,888").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Restart browser");
  }),
);
await claim(
  "changed tools are approved one by one, and the part is absent without a lock",
  at("#/~gateway", {}, async (page, assert, gateway) => {
    await page.getByText("2 withheld").waitFor();
    await page.locator("ins", { hasText: '+   "project": "string"' }).first().waitFor();
    await page.locator("del", { hasText: "labels" }).first().waitFor();
    await page.getByRole("button", { name: "Approve create_issue of issues" }).click();
    await page.getByText("1 withheld").waitFor();
    assert.deepEqual(gateway.sent[0].body, { server: "issues", kind: "tool", name: "create_issue" });
    gateway.lock = null;
    await page.getByText("Changed tools").waitFor({ state: "hidden" });
  }),
);
await claim(
  "another period is asked for and kept in the address",
  at("#/~gateway", {}, async (page, assert) => {
    const asked = page.waitForRequest((request) => request.url().includes("period=1h"));
    await page.getByRole("button", { name: "1 h", exact: true }).click();
    await asked;
    assert.ok((await page.evaluate(() => location.hash)).includes("period=1h"));
    await page.getByText("in 1 h").first().waitFor();
  }),
);
await claim(
  "both hops are side by side, joined by request, and their differences are marked",
  at("#/~gateway", {}, async (page, assert) => {
    await page.getByRole("link", { name: "Messages", exact: true }).and(page.locator("tb-gateway a")).click();
    await page.getByRole("option", { name: /everything__echo/ }).click();
    await page.locator(".hop").first().waitFor();
    assert.equal(await page.locator(".hop").count(), 2);
    const bottom = await page.locator(".hopbody").evaluate((one) => one.getBoundingClientRect().bottom);
    assert.equal(Math.round(bottom), 800, "the list and the messages fill the page");
    const gone = await page.locator(".message.ofclient .gone").allInnerTexts();
    const came = await page.locator(".message.ofserver .came").allInnerTexts();
    assert.ok(gone.some((line) => line.includes("protocolVersion")));
    assert.ok(gone.some((line) => line.includes("everything__echo")));
    assert.deepEqual(came[0].trim(), '"name": "echo",');
    assert.ok((await page.evaluate(() => location.hash)).endsWith("/messages/1"));
  }),
);
await claim(
  "a waiting question leads to its messages; a list has no second hop",
  at("#/~gateway", {}, async (page, assert) => {
    await page.getByRole("link", { name: "Show" }).first().click();
    await page.locator(".message.ofserver.asked", { hasText: "Question" }).waitFor();
    // The question became an `input_required` result.
    assert.equal(await page.locator(".hop").count(), 2);
    await page.getByRole("option", { name: /tools\/list/ }).click();
    await page.getByText("no server was asked").waitFor();
    assert.equal(await page.locator(".message.none").count(), 2);
  }),
);
for (const width of [390, 768, 1280, 1920]) {
  await claim(
    `nothing is wider than the page at ${width} px`,
    at("#/~gateway", { width }, async (page, assert) => {
      await page.locator(".map").waitFor();
      const room = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok((await room()) <= 0);
      await page.evaluate(() => (location.hash = "#/~gateway/messages/1"));
      await page.locator(".hop").first().waitFor();
      assert.ok((await room()) <= 0);
    }),
  );
}
for (const width of [390, 768]) {
  await claim(
    `servers and callers are read without scrolling sideways at ${width} px, and nothing is left out`,
    at("#/~gateway", { width, height: 844 }, async (page, assert, gateway) => {
      await page.locator(".map").waitFor();
      for (const table of await page.locator(".across").all()) {
        const room = await table.evaluate((one) => one.scrollWidth - one.clientWidth);
        assert.ok(room <= 0, `${await table.getAttribute("aria-label")}: ${room} px too wide`);
      }
      const servers = page.getByRole("region", { name: "Servers behind the gateway, table" });
      const [desk] = await servers.locator("tbody tr").allInnerTexts();
      for (const words of ["desk", "https://desk.internal/mcp", "2026-07-28", "Healthy", "40,749", "0.1 %", "2.8 ms"]) {
        assert.ok(desk.includes(words), `${words} is not in ${desk}`);
      }
      const asked = page.waitForRequest((request) => request.url().includes("period=24h"));
      await page.getByRole("button", { name: "24 h", exact: true }).click();
      await asked;
      await page.getByRole("button", { name: "Restart desk" }).click();
      await page.getByRole("button", { name: "Reload config" }).click();
      while (gateway.sent.length < 2) await page.waitForTimeout(20);
      assert.deepEqual(
        gateway.sent.map((one) => one.room),
        ["servers", "reload"],
      );
      // Dates may break only after the year.
      const tall = await page
        .locator(".map th")
        .evaluateAll((all) => all.filter((one) => one.offsetHeight > 48).length);
      assert.equal(tall, 0);
    }),
  );
}
await browser.close();
end();

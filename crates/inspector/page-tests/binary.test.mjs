// The page as the binary serves it, with the demo server behind it, wide and narrow: node binary.test.mjs TURNBUCKLE

import { readFile } from "node:fs/promises";

import { chromium } from "playwright-core";

import { begin, stop } from "../../../scripts/child.mjs";
import { FLAGS, call, run } from "./browser.mjs";
import { claim, end } from "./claim.mjs";
import { inspect, look, turnbuckle } from "./inspector.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const served = await begin(turnbuckle, ["serve", "--listen", "127.0.0.1:0"], /(http:\/\/127\.0\.0\.1:\d+\/mcp)\s/);
const address = served.found[1];
const TARGETS = {
  "stdio, newest revision": {
    words: ["--", turnbuckle, "serve", "--stdio"],
    sentence: "2026-07-28 · stdio",
    isModern: true,
  },
  "HTTP, newest revision": { words: [address], sentence: "2026-07-28 · HTTP", isModern: true },
  "HTTP, 2025-11-25": {
    words: [address, "--revision", "2025-11-25"],
    sentence: "2025-11-25 · HTTP",
  },
  "HTTP, 2025-06-18": {
    words: [address, "--revision", "2025-06-18"],
    sentence: "2025-06-18 · HTTP",
  },
};
const args = (value) => `args=${encodeURIComponent(JSON.stringify(value))}`;
const status = (page, word) => page.locator(`tb-run .pill.${word}`).first().waitFor();

/** Runs `act` on a page of a running inspector. */
function on(inspector, width, path, act, options) {
  return async (assert) => {
    const page = await look(browser, inspector, {
      width,
      hash: path ? `#/${encodeURIComponent(inspector.name)}/${path}` : "",
      ...options,
    });
    try {
      await page.locator(".state.open").waitFor();
      const note = await act(page, assert);
      assert.deepEqual(page.errors, []);
      return note;
    } catch (error) {
      if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/failed-${width}.png` });
      throw error;
    } finally {
      await page.context().close();
    }
  };
}

async function tabs(page) {
  // Narrow pages show the tabs of a server while no entry is open.
  for (const tab of ["Prompts", "Resources", "Tasks", "Logs", "Server", "Tools"]) {
    await page.locator(`nav a[data-tab="${tab.toLowerCase()}"]`).click();
    await page.waitForFunction((name) => location.hash.includes(`/${name}`), tab.toLowerCase());
    await page
      .locator({ Prompts: "tb-offers", Resources: "tb-offers", Tools: "tb-offers" }[tab] ?? `tb-${tab.toLowerCase()}`)
      .waitFor();
  }
}

for (const [what, { words, sentence, isModern }] of Object.entries(TARGETS)) {
  const inspector = await inspect(words);
  inspector.name = words[0] === "--" ? "turnbuckle" : new URL(address).host;
  for (const width of what.includes("06-18") ? [1280] : [1280, 390]) {
    const here = `${what}, at ${width} px`;
    await claim(
      `it opens connected, and every tab opens: ${here}`,
      on(inspector, width, "", async (page, assert) => {
        await page.locator("tb-offers [role=option]").first().waitFor();
        if (width > 900) assert.ok((await page.locator(".state").innerText()).startsWith(sentence));
        await tabs(page);
      }),
    );
    await claim(
      `a call: form, result, wire, command line: ${here}`,
      on(inspector, width, "tools", async (page, assert) => {
        await page.locator("tb-offers .filter").fill("add");
        await page.getByRole("option", { name: /^add/ }).click();
        await page.getByLabel("a *").fill("9007199254740993");
        await page.getByLabel("b *").fill("1");
        await call(page);
        await status(page, "done");
        await page.locator(".value.number", { hasText: "9007199254740994" }).first().waitFor();
        await page.getByText("Matches the output schema").waitFor();
        const line = await page.locator(".command").textContent();
        assert.match(
          line,
          words[0] === "--"
            ? /^turnbuckle call add a=9007199254740993 b=1 -- /
            : /^turnbuckle call (--revision \S+ )?http:\S+ add a=9007199254740993 b=1$/,
        );
      }),
    );
    await claim(
      `a form elicitation is shown and answered: ${here}`,
      on(inspector, width, "tools/greet", async (page) => {
        await call(page);
        await page.locator("tb-ask").waitFor();
        await page.getByRole("button", { name: "Accept" }).click();
        await page.locator("tb-ask").getByText("is required").waitFor();
        await page.locator('tb-ask [data-path="/name"] textarea').fill("Ada");
        await page.getByRole("button", { name: "Accept" }).click();
        await status(page, "done");
        await page.locator(".result").getByText(/Ada/).first().waitFor();
      }),
    );
    if (isModern || what.includes("11-25")) {
      await claim(
        `a URL elicitation shows the URL and does not open it: ${here}`,
        on(inspector, width, "tools/visit", async (page, assert) => {
          await call(page);
          await page.locator(".host", { hasText: "example.com" }).waitFor();
          assert.equal(page.context().pages().length, 1);
          await page.getByRole("button", { name: "Decline" }).click();
          await status(page, "done");
        }),
      );
    }
    await claim(
      `a sampling request is shown and answered by hand: ${here}`,
      on(inspector, width, `tools/write?${args({ about: "the sea" })}`, async (page) => {
        await call(page);
        await page
          .locator("tb-ask")
          .getByText(/the sea/)
          .first()
          .waitFor();
        await page.getByLabel("Reply of the model").fill("It is wide.");
        await page.getByRole("button", { name: "Send reply" }).click();
        await status(page, "done");
        await page
          .locator(".result")
          .getByText(/It is wide/)
          .first()
          .waitFor();
      }),
    );
    await claim(
      `progress is shown, and Esc cancels the call at the server: ${here}`,
      on(inspector, width, `tools/count?${args({ to: 1000, pause: 50 })}`, async (page) => {
        await call(page);
        await page.locator("tb-panel progress").waitFor();
        await page.keyboard.press("Escape");
        await status(page, "cancelled");
        await page
          .getByText(/was sent|stream closed/)
          .first()
          .waitFor();
      }),
    );
    await claim(
      `each call has all lines that it logged, and none of another call: ${here}`,
      on(inspector, width, `tools/log?${args({ text: "hey" })}`, async (page, assert) => {
        const lines = async (of) => (await of.locator("tb-run .timeline").innerText()).split("hey").length - 1;
        const count = async () => {
          await call(page);
          await status(page, "done");
          return lines(page);
        };
        const counts = [];
        for (let turn = 0; turn < 4; turn += 1) counts.push(await count());
        assert.deepEqual(counts, [7, 7, 7, 7]);
        const path = `tools/count?${args({ to: 1000, pause: 50 })}`;
        const other = await look(browser, inspector, { hash: `#/${encodeURIComponent(inspector.name)}/${path}` });
        await call(other);
        await other.locator("tb-panel progress").waitFor();
        const beside = await count();
        // On stdio, a line of standard error cannot be assigned to one of two calls.
        assert.equal(beside, sentence.includes("HTTP") ? 7 : 0);
        assert.equal(await lines(other), 0);
        await other.keyboard.press("Escape");
        await other.locator("tb-run .pill.cancelled").first().waitFor();
        await other.context().close();
      }),
    );
    await claim(
      `a destructive tool asks before it is called: ${here}`,
      on(inspector, width, `tools/shrink?${args({ name: "nothing" })}`, async (page, assert) => {
        await run(page);
        await page.locator(".confirm").getByText('"nothing"').waitFor();
        assert.equal(await page.locator("tb-run").count(), 0);
        await page.getByRole("button", { name: "Do not call" }).click();
        assert.equal(await page.locator("tb-run").count(), 0);
      }),
    );
    await claim(
      `a resource is read again when it changes: ${here}`,
      on(inspector, width, `resources/${encodeURIComponent("demo://ticks")}`, async (page) => {
        await call(page);
        await status(page, "done");
        const before = Number(await page.locator(".result pre").innerText());
        await page.getByLabel("Subscribe").check();
        // Another page of the same inspector changes it.
        const other = await look(browser, inspector, { hash: `#/${encodeURIComponent(inspector.name)}/tools/tick` });
        await other.locator(".callform h1").waitFor();
        for (let more = 1; ; more += 1) {
          await call(other);
          await other.locator("tb-run .pill.done").first().waitFor();
          const seen = await page
            .locator(".result pre", { hasText: String(before + more) })
            .waitFor({ timeout: 2000 })
            .then(
              () => true,
              () => false,
            );
          if (seen) break;
          if (more > 5) throw new Error("it was not read again");
        }
        await other.context().close();
      }),
    );
    if (isModern || what.includes("11-25")) {
      await claim(
        `a task survives a reload, counts down, and is cancelled by name: ${here}`,
        on(inspector, width, "tools/bake", async (page, assert) => {
          await page.locator(".callform h1").waitFor();
          await page.locator(".formplace textarea, .formplace input").first().waitFor();
          for (const box of await page.locator(".formplace textarea, .formplace input.number").all()) {
            if (!(await box.inputValue())) {
              await box.fill((await box.getAttribute("class"))?.includes("number") ? "60000" : "bread");
            }
          }
          if (!isModern) await page.getByLabel("as a task").check();
          await call(page);
          await page.locator("tb-run .facts", { hasText: "task" }).waitFor();
          await page.reload();
          await page.locator("tb-run .facts", { hasText: /task · working · asked every/ }).waitFor();
          if (width < 720) await page.getByRole("link", { name: "Back to the tools" }).click();
          await page.locator('nav a[data-tab="tasks"]').click();
          await page.locator(".tasks .pill.running").first().waitFor();
          const kept = await page.locator(".ttl[data-ends]").first().textContent();
          assert.match(kept, /kept for/);
          await page.waitForFunction(
            (before) => document.querySelector(".ttl[data-ends]")?.textContent !== before,
            kept,
          );
          await page.locator(".tasks a").first().click();
          await page.getByRole("button", { name: "Cancel call" }).click();
          await status(page, "cancelled");
          await page.locator("tb-run .timeline").getByText("tasks/cancel").first().waitFor();
        }),
      );
    }
    await claim(
      `the wire is filtered, replayed with edits and exported: ${here}`,
      on(inspector, width, `tools/echo?${args({ text: "once" })}`, async (page, assert) => {
        await call(page);
        await status(page, "done");
        await page.locator(width < 720 ? 'nav a[data-dock="messages"]' : ".wiretoggle").click();
        await page.getByLabel("Filter messages").fill("object:echo");
        await page.locator("tb-wire [role=option]").last().click();
        await page.getByRole("tab", { name: "Resend" }).click();
        await page
          .getByLabel("Parameters as JSON")
          .fill('{"name":"echo","arguments":{"text":"twice 12345678901234567890"}}');
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.getByText(/sent as call/).waitFor();
        const saving = page.waitForEvent("download");
        await page.locator(".export.recording").click();
        const text = await readFile(await (await saving).path(), "utf8");
        assert.ok(text.includes("once"), "the export has what was sent");
        for (const line of text.trim().split("\n")) JSON.parse(line);
        if (!sentence.includes("HTTP")) return assert.equal(await page.locator(".export.har").count(), 0);
        const archiving = page.waitForEvent("download");
        await page.locator(".export.har").click();
        const { log } = JSON.parse(await readFile(await (await archiving).path(), "utf8"));
        const called = log.entries.find((entry) => entry.request.postData?.text.includes('"once"'));
        assert.equal(called.response.status, 200);
        assert.match(called.response.content.text, /once/);
        assert.ok(called.time > 0 && !Number.isNaN(Date.parse(called.startedDateTime)));
        return undefined;
      }),
    );
    if (width > 900) {
      await claim(
        `Ctrl+K, the theme, and an address that leads here: ${here}`,
        on(inspector, width, `tools/echo?${args({ text: "linked" })}`, async (page, assert) => {
          assert.equal(await page.getByLabel("text *").inputValue(), "linked");
          await page.keyboard.press("Control+k");
          await page.keyboard.type("weath");
          await page.keyboard.press("Enter");
          await page.getByRole("heading", { name: "weather" }).waitFor();
          await page.goBack();
          await page.getByRole("heading", { name: "echo" }).waitFor();
          await page.getByRole("button", { name: "Theme" }).click();
          await page.getByRole("button", { name: "Theme" }).click();
          assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
          await page.reload();
          assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
        }),
      );
    }
  }
  await stop(inspector.child);
}

await claim("a connection is closed and opened again at another revision", async (assert) => {
  const inspector = await inspect([address]);
  inspector.name = new URL(address).host;
  await on(inspector, 1280, "server", async (page) => {
    await page.getByLabel("Revision").selectOption("2025-03-26");
    // If a connection closes while its lists are read, that request fails, and the browser reports it.
    const lists = page.waitForResponse((answer) => answer.url().includes("/offer"));
    await page.getByRole("button", { name: "Restart" }).click();
    await page.locator(".state", { hasText: "2025-03-26 · HTTP" }).waitFor();
    await lists;
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator('nav a[data-tab="tools"]').click();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.locator("tb-offers [role=option]").first().waitFor();
  })(assert);
  await stop(inspector.child);
});

await claim("a page reports that its inspector ended, and contacts no other host", async (assert) => {
  const inspector = await inspect(["--", turnbuckle, "serve", "--stdio"]);
  const page = await look(browser, inspector);
  await page.locator(".state.open").waitFor();
  await stop(inspector.child);
  await page.getByText("the inspector does not answer").waitFor();
  assert.equal(page.hosts.size, 1);
  await page.context().close();
});

await claim("the demo server serves the page, for users with the key", async (assert) => {
  const beside = await begin(
    turnbuckle,
    ["serve", "--listen", "127.0.0.1:0"],
    /(http:\/\/127\.0\.0\.1:\d+\/)#token=(\S+)/,
  );
  const [, url, token] = beside.found;
  const inspector = { url, token, name: "demo" };
  await on(inspector, 1280, "tools/echo", async (page) => {
    await page.getByLabel("text *").fill("beside");
    await call(page);
    await status(page, "done");
  })(assert);
  assert.equal((await fetch(`${url}api/state`)).status, 401);
  assert.equal(
    (await fetch(`${url}api/state`, { headers: { authorization: `Bearer ${token}`, origin: "https://evil.example" } }))
      .status,
    403,
  );
  assert.equal((await fetch(`${url}healthz`)).status, 200);
  assert.equal((await fetch(`${url}mcp/server-card`)).status, 200);
  assert.equal((await fetch(`${url}nowhere`)).status, 404);
  await stop(beside.child);
});

await stop(served.child);
await browser.close();
end();

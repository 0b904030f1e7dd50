// The list of all servers, the form that adds one, roots and logs, with a fake binary.

import { claim, end } from "./claim.mjs";
import { dead, server, shelf } from "./fake-offer.mjs";
import { browser, on } from "./stage.mjs";

const body = (fake, path) => JSON.parse(fake.sent.findLast((one) => one.path.endsWith(path)).body);

await claim("every server is listed under its file, with its state and next action", () =>
  on({ servers: shelf(), rows: 40, hash: "#/" }, async (page) => {
    await page.getByText("1 connected, 4 need attention, 2 not started").waitFor();
    for (const file of ["/home/you/.mcp.json", "Command line", "~/.cursor/mcp.json", ".vscode/mcp.json"]) {
      await page.getByRole("heading", { name: file, exact: true }).waitFor();
    }
    const row = (name) => page.getByRole("article", { name });
    const lab = row("Modern lab, connected");
    for (const text of ["2026-07-28", "Streamable HTTP", "12 tools", "http://127.0.0.1:7250/mcp", "20 ms"]) {
      await lab.getByText(text).first().waitFor();
    }
    for (const act of ["Open", "Restart", "Stop", "Log of"]) {
      await lab.getByRole("button", { name: `${act} Modern lab` }).waitFor();
    }
    await row("dead, failed").getByText("npm error 404 Not Found: nowhere").waitFor();
    await row("dead, failed").getByRole("button", { name: "Retry dead" }).waitFor();
    await row("issues, needs attention").getByRole("button", { name: "Sign in issues" }).waitFor();
    await row("issues 2, not started").getByText("is taken by").waitFor();
    await row("project, needs attention").getByRole("button", { name: "Trust this file" }).waitFor();
    await page.getByLabel("Filter servers").fill("postgres");
    await row("dead").waitFor({ state: "detached" });
    await row("postgres").waitFor();
  }),
);

await claim("a missing input is asked for in the server's row, and the text stays while other rows change", () =>
  on({ servers: shelf(), hash: "#/" }, async (page, fake) => {
    const field = page.getByLabel("dsn");
    if ((await field.getAttribute("type")) !== "password") throw new Error("a secret is shown");
    await field.fill("postgres://secret");
    fake.emit("server", { ...server(), latencyMs: 9 });
    fake.emit("server", { ...dead(), id: "s5", name: "time", status: "connecting", error: null });
    await page.getByRole("article", { name: "time, connecting" }).waitFor();
    if ((await field.inputValue()) !== "postgres://secret") throw new Error("what was typed is gone");
    await page.getByRole("button", { name: "Set" }).click();
    await waitFor(() => fake.sent.some((one) => one.path === "/api/servers/s3/inputs"));
    const sent = body(fake, "/s3/inputs");
    if (sent.dsn !== "postgres://secret") throw new Error(JSON.stringify(sent));
  }),
);

await claim("an added server is named after its script or package, not after the program that runs it", () =>
  on({ servers: shelf(), hash: "#/?add=1" }, async (page) => {
    const names = {
      "node /srv/filesystem/dist/index.js /tmp": "filesystem",
      "npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio": "server-everything",
      "python3.12 -B lab.py": "lab",
      "docker run -i --rm -e TOKEN mcp/fetch:latest": "fetch",
      "/opt/weather --fast": "weather",
    };
    for (const [line, name] of Object.entries(names)) {
      await page.getByLabel("Command line").first().fill(line);
      const placeholder = await page.locator("#add-name").getAttribute("placeholder");
      if (placeholder !== name) throw new Error(`${line} is called ${placeholder}`);
    }
  }),
);

await claim("a program that ended is shown with its exit code and its last line", () =>
  on({ servers: shelf(), hash: "#/" }, async (page, fake) => {
    const message =
      "server `dead` ended before it answered; its process ended with exit status: 1; " +
      "its standard error ended with:\n  one\n  no module x";
    const error = { who: "transport", message, causes: ["the server closed the connection"], hint: null };
    fake.emit("server", { ...dead(), error, stderr: ["zero", "one", "no module x", ""], stderrEnd: 4 });
    const row = page.getByRole("article", { name: "dead, failed" });
    await row.getByText("Ended before it answered; exit code 1", { exact: true }).waitFor();
    await row.getByText("no module x", { exact: true }).waitFor();
    await row.getByText("the server closed").waitFor({ state: "detached" });
    await row.getByRole("link", { name: "dead" }).click();
    const printed = page.locator(".failure .printed");
    await printed.waitFor();
    const shown = await printed.textContent();
    if (shown !== "one\nno module x") throw new Error(JSON.stringify(shown));
  }),
);

await claim("a server is added by a command with environment, folder and inputs, or by a URL with headers", () =>
  on({ servers: shelf(), hash: "#/" }, async (page, fake) => {
    await page.getByRole("button", { name: "Add server" }).click();
    await page.waitForURL((url) => url.hash === "#/?add=1");
    await page.getByRole("button", { name: "Add and connect" }).click();
    await page.getByText("Type the command of the server.").waitFor();
    await page
      .getByLabel("Command line")
      .first()
      .fill("uvx stock-mcp --db $" + "{input:dsn}");
    await page.getByLabel("Folder").fill("/srv");
    await page.getByRole("button", { name: "Add variable" }).click();
    await page.getByLabel("Name of variable 1").fill("REGION");
    await page.getByLabel("Value of variable 1").fill("eu");
    await page.getByLabel(/^Input dsn/).fill("secret");
    await page.getByText("turnbuckle inspect -- uvx stock-mcp").waitFor();
    await page.getByRole("button", { name: "Add and connect" }).click();
    await waitFor(() => fake.sent.some((one) => one.path === "/api/servers"));
    const { name, document, inputs } = body(fake, "/api/servers");
    const entry = document.mcpServers["stock-mcp"];
    const wanted = { command: "uvx stock-mcp --db $" + "{input:dsn}", env: { REGION: "eu" }, cwd: "/srv" };
    if (name !== "stock-mcp" || inputs.dsn !== "secret" || JSON.stringify(entry) !== JSON.stringify(wanted)) {
      throw new Error(JSON.stringify({ name, entry, inputs }));
    }
    if (document.inputs[0].id !== "dsn" || !document.inputs[0].password) throw new Error(JSON.stringify(document));
    // Wait until the page goes to the added server, before the test opens another place.
    await page.waitForURL((url) => url.hash.startsWith("#/stock-mcp/"));
    await page.goto(`${page.url().split("#")[0]}#/?add=1`);
    await page.getByText("URL", { exact: true }).first().click();
    await page.getByRole("textbox", { name: "URL" }).fill("https://example.com/mcp");
    await page.getByRole("button", { name: "Add header" }).click();
    await page.getByLabel("Name of header 1").fill("Authorization");
    await page.getByLabel("Value of header 1").fill("Bearer x");
    await page.getByRole("button", { name: "Add and connect" }).click();
    await waitFor(() => fake.sent.filter((one) => one.path === "/api/servers").length === 2);
    const second = body(fake, "/api/servers").document.mcpServers["example.com"];
    const remote = { url: "https://example.com/mcp", headers: { Authorization: "Bearer x" } };
    if (JSON.stringify(second) !== JSON.stringify(remote)) throw new Error(JSON.stringify(second));
  }),
);

await claim("a URL without a scheme is not sent, and the form suggests a scheme", () =>
  on({ hash: "#/?add=1" }, async (page, fake) => {
    await page.getByText("URL", { exact: true }).first().click();
    const box = page.getByRole("textbox", { name: "URL" });
    const add = page.getByRole("button", { name: "Add and connect" });
    await box.fill("localhost:7250/mcp");
    await add.click();
    await page.getByText("Did you mean http://localhost:7250/mcp?").waitFor();
    await box.fill("example.com/mcp");
    await add.click();
    await page.getByText("Did you mean https://example.com/mcp?").waitFor();
    if (fake.sent.some((one) => one.path === "/api/servers")) throw new Error("it was sent");
  }),
);

await claim("a program that does not exist needs attention before it is started", () => {
  const closed = { ...dead(), status: "closed", error: null };
  return on({ servers: [{ ...closed, isMissing: true }], hash: "#/" }, async (page) => {
    await page.getByText("1 needs attention", { exact: true }).waitFor();
    const row = page.getByRole("article", { name: "dead, program not found" });
    await row.getByText("The program does not exist").waitFor();
  });
});

await claim("roots are shared and taken back, and the log of a server is live", () =>
  on({ servers: shelf(), hash: "#/?roots=1" }, async (page, fake) => {
    await page.getByText("No folder is shared.").waitFor();
    await page.getByLabel("Folder, as a path or a URI").fill("/home/you/my work");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText("file:///home/you/my%20work").waitFor();
    await page.getByRole("button", { name: "Roots 1" }).waitFor();
    await page.getByRole("button", { name: "Remove file:///home/you/my%20work" }).click();
    await page.getByText("No folder is shared.").waitFor();
    await page.getByRole("button", { name: "Log of Modern lab" }).click();
    await page.getByRole("log").getByText("listening on 127.0.0.1:7250").waitFor();
    fake.emit("stderr", { server: "s1", number: 2, lines: ["a line that was just printed"] });
    await page.getByRole("log").getByText("a line that was just printed").waitFor();
    // Lines that have arrived before are not shown twice.
    fake.emit("stderr", { server: "s1", number: 2, lines: ["a line that was just printed", "and one more"] });
    await page.getByRole("log").getByText("and one more").waitFor();
    const text = await page.getByRole("log").innerText();
    if (text.split("just printed").length !== 2) throw new Error(text);
  }),
);

await claim("the rail shows every server, with its state as a shape and a word", () =>
  on({ servers: shelf() }, async (page) => {
    const rail = page.getByRole("navigation", { name: "Servers and views" });
    await rail.getByRole("link", { name: /^dead ?, failed/ }).waitFor();
    await rail.getByRole("link", { name: /^postgres ?, needs attention/ }).waitFor();
    await rail.getByRole("link", { name: "Turnbuckle" }).click();
    await page.getByRole("heading", { name: "Servers", exact: true }).waitFor();
    const icon = await page.locator("link[rel=icon]").getAttribute("href");
    if (!icon.startsWith("data:image/svg+xml,")) throw new Error(icon);
  }),
);

await claim("the line about a broken server is above that server alone, as soon as it is shown", () => {
  const gone = { who: "transport", code: null, message: "the connection ended", causes: [], hint: null };
  const one = { ...server(), id: "s1", name: "one", info: { name: "one", title: "First lab" } };
  const two = { ...server(), id: "s2", name: "two", info: { name: "two", title: "Second lab" } };
  return on({ servers: [one, two], hash: "#/one/tools" }, async (page, fake) => {
    // The next tick, after 5 s, would be too late.
    const soon = { timeout: 2000 };
    await page.getByText("echo").first().waitFor();
    fake.emit("server", { ...one, status: "failed", error: gone });
    await page.locator(".trouble").getByText("First lab").waitFor();
    const rail = page.getByRole("navigation", { name: "Servers and views" });
    await rail.getByRole("link", { name: /^Second lab/ }).click();
    await page.locator(".trouble").waitFor({ state: "detached", ...soon });
    fake.emit("server", { ...two, status: "failed", error: gone });
    await page.locator(".trouble").getByText("Second lab").waitFor(soon);
    await rail.getByRole("link", { name: /^First lab/ }).click();
    await page.locator(".trouble").getByText("First lab").waitFor(soon);
    await page.locator(".trouble").getByRole("button", { name: "Retry" }).waitFor(soon);
    await rail.getByRole("link", { name: "Turnbuckle" }).click();
    await page.locator(".trouble").waitFor({ state: "detached", ...soon });
  });
});

await claim("a server without a title is shown with its own name", () => {
  const info = { name: "secure-filesystem-server", version: "0.2.0" };
  const node = { ...server(), name: "node", target: "node index.js /srv", info };
  const other = { ...server(), id: "s2", name: "node 2", target: "node index.js /tmp", info };
  return on({ servers: [node], hash: "#/" }, async (page, fake) => {
    const row = page.getByRole("article", { name: "secure-filesystem-server, connected" });
    await row.waitFor();
    if ((await row.locator(".tile").innerText()) !== "SF") throw new Error(await row.locator(".tile").innerText());
    // Two servers with the same title are shown with their names.
    fake.emit("server", other);
    await page.getByRole("article", { name: "secure-filesystem-server · node 2, connected" }).waitFor();
  });
});

await claim("a blank title is ignored in the rail and on the tile", () => {
  const info = { name: "weather", title: "  ", version: "1.0.0" };
  const one = { ...server(), name: "forecast", target: "python3 main.py", info };
  return on({ servers: [one], hash: "#/" }, async (page) => {
    const row = page.getByRole("article", { name: "forecast, connected" });
    await row.waitFor({ timeout: 5000 });
    if (!(await row.locator(".tile").innerText()).trim()) throw new Error("a tile without letters");
  });
});

await claim("the output of a failed program is in its log, and the row has a link to it", () => {
  const lines = Array.from({ length: 61 }, (_, at) => `trace line ${at}`);
  const last = lines.slice(-2).join("\n  ");
  const message = `\`crash\` ended before it answered; its standard error ended with:\n  ${last}`;
  const error = { who: "transport", code: null, message, causes: [], hint: null };
  const crash = { ...dead(), name: "crash", error, stderr: lines, stderrEnd: 61, isProgram: true };
  return on({ servers: [crash], hash: "#/" }, async (page) => {
    const row = page.getByRole("article", { name: "crash, failed" });
    await row.getByText("crash ended before it answered", { exact: true }).waitFor();
    // Only the last line is shown. The others are in the log.
    await row.getByText("trace line 60", { exact: true }).waitFor();
    if ((await row.innerText()).includes("trace line 59")) throw new Error(await row.innerText());
    await row.getByRole("button", { name: "Show log" }).click();
    await page.getByRole("log").getByText("trace line 0").waitFor();
    await page.getByRole("log").getByText("trace line 60").waitFor();
  });
});

await claim("with forty servers the views at the end of the rail stay visible", () => {
  const many = Array.from({ length: 40 }, (_, at) => ({ ...dead(), id: `s${at + 1}`, name: `number ${at}` }));
  return on({ servers: many, hash: "#/" }, async (page) => {
    const rail = page.getByRole("navigation", { name: "Servers and views" });
    await rail.getByRole("link", { name: /^number 39/ }).waitFor({ state: "attached" });
    for (const last of [rail.getByRole("link", { name: "Messages" }), rail.getByRole("button", { name: "Theme" })]) {
      const { y, height } = await last.boundingBox();
      if (y + height > 800) throw new Error(`${y + height} px`);
    }
    await rail.getByRole("link", { name: /^number 39/ }).click();
    await page.waitForURL((url) => url.hash.startsWith("#/number%2039/"));
    const log = page.getByRole("button", { name: "Log of number 39" });
    await page.goto(`${page.url().split("#")[0]}#/`);
    if ((await log.getAttribute("title")) !== "Log of number 39") throw new Error("a title without its object");
  });
});

/** Waits until the fake binary has received something. */
async function waitFor(isSo) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

await browser.close();
end();

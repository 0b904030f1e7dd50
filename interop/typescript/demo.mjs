// The checks of a client with the demo server, for every SDK.
//
// A peer wraps the SDK's client, and has these names for everything that differs between SDKs:
//   revision                    the negotiated revision
//   notFound                    the error code for a missing resource
//   call(name, args, options)   a tool call; options: onprogress, signal
//   strays()                    the number of messages that the SDK could not assign, such as late reports
//   onToolsChanged(listener)    resolves when the client is subscribed
//   onUpdated(uri, listener)    the same for a resource
//   logged(level, listener)     the same for its log; resolves to the `_meta` that calls need
//   tasks                       calls as tasks, if the SDK has them: start(name, args) resolves to an id;
//                               get, result and cancel take an id; list() if canList
//   reports()                   returns and clears the progress reports that the transport has received
//   answers                     the questions that the client answers: form, url, sampling, roots
//   close()

import { until } from "./over-http.mjs";
import { check, holds, rejected, same } from "./report.mjs";

const PNG = "iVBORw0KGgo";

export async function demo(peer, client) {
  const since = (date) => peer.revision >= date;
  const text = (result) => result.content[0].text;

  await check("tools/list", async () => {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    for (const name of ["echo", "add", "weather", "everything", "count", "order", "grow"]) {
      holds(names.includes(name), `there is no ${name} among ${names}`);
    }
    const add = tools.find((tool) => tool.name === "add");
    same(add.inputSchema.required, ["a", "b"], "what add requires");
    same(add.outputSchema !== undefined, since("2025-06-18"), "whether add has an output schema");
    same(add.annotations !== undefined, since("2025-03-26"), "whether add has annotations");
  });
  await check("resources/list", async () => {
    const { resources } = await client.listResources();
    const uris = resources.map((resource) => resource.uri).sort();
    same(uris, ["demo://logo.png", "demo://readme", "demo://ticks"], "the list");
  });
  await check("resources/templates/list", async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    const templates = resourceTemplates.map((template) => template.uriTemplate);
    holds(templates.includes("demo://stations/{city}/{number}"), `only ${templates}`);
  });
  await check("prompts/list", async () => {
    const { prompts } = await client.listPrompts();
    const review = prompts.find((prompt) => prompt.name === "review");
    const names = review.arguments.map((argument) => argument.name);
    same(names, ["language", "framework", "code"], "the arguments of review");
  });

  await check("tools/call echo", async () => {
    const said = "Grüße, 世界 🌍\nsecond line";
    same(text(await peer.call("echo", { text: said })), said);
  });
  await check("tools/call add", async () => {
    const result = await peer.call("add", { a: 2, b: 40 });
    same(JSON.parse(text(result)), { sum: 42 });
    if (since("2025-06-18")) same(result.structuredContent, { sum: 42 }, "structured content");
  });
  await check("tools/call weather", async () => {
    const weather = JSON.parse(text(await peer.call("weather", { place: "Oslo", unit: "fahrenheit" })));
    same([weather.place, weather.unit], ["Oslo", "fahrenheit"]);
  });
  await check("tools/call picture", async () => {
    const [picture] = (await peer.call("picture", {})).content;
    same([picture.type, picture.mimeType], ["image", "image/png"]);
    holds(picture.data.startsWith(PNG), "no PNG");
  });
  await check("tools/call everything", async () => {
    const kinds = (await peer.call("everything", {})).content.map((block) => block.type);
    const audio = since("2025-03-26") ? "audio" : "text";
    const link = since("2025-06-18") ? "resource_link" : "text";
    same(kinds, ["text", "image", audio, link, "resource"], "the kinds");
  });
  await check("tools/call fail", async () => {
    const result = await peer.call("fail", { reason: "on purpose" });
    same([result.isError, text(result)], [true, "on purpose"]);
  });
  await check("tools/call crash", async () => {
    same((await rejected(peer.call("crash", {}))).code, -32603, "the code");
  });
  await check("tools/call with wrong arguments", async () => {
    const call = peer.call("add", { a: "two", b: 1 });
    // Until 2025-06-18 this is a protocol error, later a result that a model can read.
    const message = since("2025-11-25") ? text(await call) : (await rejected(call)).message;
    holds(message.includes("a"), message);
  });
  await check("tools/call of no tool", async () => {
    same((await rejected(peer.call("nothing", {}))).code, -32602, "the code");
  });

  await check("resources/read text", async () => {
    const { contents } = await client.readResource({ uri: "demo://readme" });
    same([contents[0].uri, contents[0].mimeType], ["demo://readme", "text/markdown"]);
    holds(contents[0].text.startsWith("# Turnbuckle"), contents[0].text);
  });
  await check("resources/read blob", async () => {
    const { contents } = await client.readResource({ uri: "demo://logo.png" });
    holds(contents[0].blob.startsWith(PNG), "no PNG");
  });
  await check("resources/read of a template", async () => {
    const { contents } = await client.readResource({ uri: "demo://stations/Bern/4" });
    same(JSON.parse(contents[0].text), { city: "Bern", number: 4, is_online: true });
  });
  await check("resources/read of nothing", async () => {
    const error = await rejected(client.readResource({ uri: "demo://nowhere" }));
    same(error.code, peer.notFound, "the code");
  });

  await check("prompts/get", async () => {
    const { messages } = await client.getPrompt({
      name: "review",
      arguments: { language: "rust", code: "fn main() {}" },
    });
    same(
      messages.map((message) => message.role),
      ["user", "assistant", "user"],
      "the roles",
    );
    same(messages[2].content.text, "fn main() {}");
  });
  await check("prompts/get with a picture", async () => {
    const { messages } = await client.getPrompt({ name: "look" });
    same(messages[1].content.type, "image");
  });

  await check("completion/complete of a prompt", async () => {
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "review" },
      argument: { name: "language", value: "r" },
    });
    same(completion.values, ["rust", "ruby"]);
  });
  await check("completion/complete of a template", async () => {
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "demo://stations/{city}/{number}" },
      argument: { name: "city", value: "be" },
    });
    same(completion.values, ["Berlin", "Bern"]);
  });
  if (since("2025-06-18")) {
    await check("completion/complete with context", async () => {
      const { completion } = await client.complete({
        ref: { type: "ref/prompt", name: "review" },
        argument: { name: "framework", value: "" },
        context: { arguments: { language: "rust" } },
      });
      same(completion.values, ["axum", "rocket"]);
    });
  }

  await check("progress", async () => {
    const seen = [];
    const onprogress = (report) => seen.push([report.progress, report.total]);
    const all = [1, 2, 3].map((progress) => [progress, 3]);
    peer.reports();
    same(text(await peer.call("count", { to: 3, pause: 200 }, { onprogress })), "counted to 3");
    same(peer.reports(), all, "the reports that came before the result");
    // The SDK calls the callback a moment after a report arrives, and never after the result: reports
    // that it reads together with the result are lost.
    same(seen, all.slice(0, seen.length), "the reports that the SDK passed on");
  });
  await check("cancellation", async () => {
    const abort = new AbortController();
    let reports = 0;
    const onprogress = () => {
      reports += 1;
      if (reports === 2) abort.abort(new Error("enough"));
    };
    const options = { onprogress, signal: abort.signal };
    await rejected(peer.call("count", { to: 1000, pause: 5 }, options));
    same(reports, 2, "the number of reports");
    // If the call were still running, twenty reports would arrive during each of these calls.
    for (let left = 5; left > 0; left -= 1) {
      const before = peer.strays();
      await peer.call("count", { to: 5, pause: 20 });
      if (peer.strays() === before) return;
    }
    holds(false, "reports still come after the end");
  });
  await check("many calls at once", async () => {
    const calls = Array.from({ length: 50 }, (_, index) => peer.call("add", { a: index, b: 1 }));
    const sums = (await Promise.all(calls)).map((result) => JSON.parse(text(result)).sum);
    same(
      sums,
      Array.from({ length: 50 }, (_, index) => index + 1),
      "the sums",
    );
  });
  await check("a large message", async () => {
    const long = "ö".repeat(1_000_000);
    holds(text(await peer.call("echo", { text: long })) === long, "the echo differs");
  });

  await check("list_changed", async () => {
    let told;
    const changed = new Promise((resolve) => (told = resolve));
    await peer.onToolsChanged(told);
    // Over HTTP, other clients add tools to the same server at the same time.
    const name = `sprout-${process.pid}`;
    await peer.call("grow", { name });
    await changed;
    const { tools } = await client.listTools();
    holds(
      tools.some((tool) => tool.name === name),
      "the new tool is not listed",
    );
    holds(text(await peer.call(name, {})).includes(name), "the new tool does not answer");
    await peer.call("shrink", { name });
    const after = (await client.listTools()).tools.map((tool) => tool.name);
    holds(!after.includes(name), "the tool is still listed");
  });
  await asks(peer, text);
  await check("logging", async () => {
    const heard = [];
    const meta = await peer.logged("error", (message) => heard.push(message));
    const said = text(await peer.call("log", { text: "careful" }, {}, meta));
    same(said, "said 4 times", "what the tool says");
    await until(() => heard.length === 4, "the messages did not come");
    same(
      heard.map(({ level }) => level),
      ["error", "critical", "alert", "emergency"],
      "the levels",
    );
    same([heard[0].logger, heard[0].data], ["demo", "careful"], "the message");
  });
  await check("resources/subscribe", async () => {
    let told;
    const updated = new Promise((resolve) => (told = resolve));
    await peer.onUpdated("demo://ticks", told);
    const tick = Number(text(await peer.call("tick", {})));
    same(await updated, "demo://ticks", "the resource");
    const { contents } = await client.readResource({ uri: "demo://ticks" });
    // Over HTTP, other clients change the counter of the same server.
    holds(Number(contents[0].text) >= tick, `${contents[0].text} is before ${tick}`);
  });
  if (peer.tasks) await checkTasks(peer, text);
  await check("close", async () => {
    // A running call must not prevent the server from ending.
    peer.call("count", { to: 1000, pause: 1000 }).catch(() => {});
    const start = Date.now();
    await peer.close();
    holds(Date.now() - start < 4_000, `closing took ${Date.now() - start} ms`);
  });
}

/** Calls as tasks. */
async function checkTasks({ tasks }, text) {
  await check("tasks/result", async () => {
    const id = await tasks.start("bake", { what: "loaf", time: 150 });
    same(text(await tasks.result(id)), "one loaf, still warm");
    same((await tasks.get(id)).status, "completed", "the status at the end");
    // Over HTTP clients are not identified, so tasks are not listed.
    if (!tasks.canList) return;
    const listed = (await tasks.list()).tasks.map((task) => task.taskId);
    holds(listed.includes(id), `it is not among ${listed}`);
  });
  await check("tasks/cancel", async () => {
    const id = await tasks.start("bake", { what: "stone", time: 600_000 });
    same((await tasks.get(id)).status, "working", "the status");
    same((await tasks.cancel(id)).status, "cancelled", "the status");
    same((await tasks.get(id)).status, "cancelled", "the status after that");
    holds((await rejected(tasks.cancel(id))).code === -32602, "it can be cancelled again");
  });
}

/** Questions of the demo server during a call, if the revision and the SDK support them. */
async function asks(peer, text) {
  if (peer.answers.form && peer.revision >= "2025-06-18") {
    await check("elicitation", async () => {
      same(text(await peer.call("greet", {})), "A very good day to you, Ada.");
    });
  }
  if (peer.answers.url && peer.revision >= "2025-11-25") {
    await check("elicitation by URL", async () => {
      same(text(await peer.call("visit", {})), "The page may be opened.");
    });
  }
  if (peer.answers.sampling) {
    await check("sampling", async () => {
      same(text(await peer.call("write", { about: "rope" })), "About rope. (interop)");
    });
  }
  if (peer.answers.roots) {
    await check("roots", async () => {
      same(text(await peer.call("roots", {})), "file:///interop");
    });
  }
}

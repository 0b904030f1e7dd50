// The checks of a client with a small server (as described in peer.mjs) and the gateway between them, for every SDK on
// both sides. `peer` is as in demo.mjs.

import { until } from "./over-http.mjs";
import { check, holds, rejected, same } from "./report.mjs";

export async function behind(peer, client) {
  const text = (result) => result.content[0].text;
  let names = [];

  await check("tools/list", async () => {
    const { tools } = await client.listTools();
    names = tools.map((tool) => tool.name);
    for (const name of ["echo", "add", "fail", "slow", "sample", "places", "grow"]) {
      holds(names.includes(name), `there is no ${name} among ${names}`);
    }
  });
  await check("tools/call echo", async () => {
    const said = "Grüße, 世界 🌍\nsecond line";
    same(text(await peer.call("echo", { text: said })), said);
  });
  await check("tools/call add", async () => {
    const result = await peer.call("add", { a: 2, b: 40 });
    // Servers of older SDKs, which have no structured content, use other words.
    const { sum } = result.structuredContent ?? { sum: Number(text(result).match(/[\d.]+/)?.[0]) };
    same(sum, 42);
  });
  await check("tools/call fail", async () => {
    const result = await peer.call("fail", {});
    same(result.isError, true, "whether it failed");
    holds(text(result).includes("on purpose"), text(result));
  });
  await check("tools/call of no tool", async () => {
    // Some SDKs answer with an error, some with a failed result.
    const answer = await peer.call("nothing", {}).catch((error) => ({ isError: error.code !== undefined }));
    holds(answer.isError, `it gave ${JSON.stringify(answer)}`);
  });
  await check("resources/list", async () => {
    const { resources } = await client.listResources();
    same(
      resources.map((resource) => resource.uri),
      ["peer://readme"],
    );
  });
  await check("resources/templates/list", async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    same(
      resourceTemplates.map((template) => template.uriTemplate),
      ["peer://greeting/{name}"],
    );
  });
  await check("resources/read", async () => {
    same((await client.readResource({ uri: "peer://readme" })).contents[0].text, "Read me.");
    same((await client.readResource({ uri: "peer://greeting/Ada" })).contents[0].text, "Hello, Ada!");
  });
  await check("resources/read of nothing", async () => {
    holds((await rejected(client.readResource({ uri: "peer://nowhere" }))).code !== undefined, "it has no code");
  });
  await check("prompts/list", async () => {
    const { prompts } = await client.listPrompts();
    same(
      prompts.map((prompt) => prompt.name),
      ["greet"],
    );
  });
  await check("prompts/get", async () => {
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    same(messages[0].content.text, "Greet Ada.");
  });
  if (client.getServerCapabilities().completions) {
    await check("completion/complete", async () => {
      const argument = { name: "name", value: "al" };
      const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument });
      same(completion.values, ["alan"]);
    });
  }
  await check("progress", async () => {
    peer.reports();
    const onprogress = () => {};
    same(text(await peer.call("slow", { steps: 5 }, { onprogress })), "done");
    // Older SDKs send reports outside the call: they may arrive after its end, and a newer report replaces older ones.
    const steps = peer.reports().map(([progress]) => progress);
    holds(steps.length > 0, "no report came");
    same(
      steps,
      [...steps].sort((one, other) => one - other),
      "the order of the reports",
    );
  });
  await check("many calls at once", async () => {
    const calls = Array.from({ length: 20 }, (_, index) => peer.call("echo", { text: `${index}` }));
    same(
      (await Promise.all(calls)).map(text),
      Array.from({ length: 20 }, (_, index) => `${index}`),
    );
  });
  if (names.includes("ask") && peer.answers.form && peer.revision >= "2025-06-18") {
    await check("elicitation", async () => same(text(await peer.call("ask", {})), "accept: Ada"));
  }
  await check("sampling", async () => same(text(await peer.call("sample", {})), "Say hello."));
  await check("roots", async () => same(text(await peer.call("places", {})), "file:///interop"));
  await check("list_changed", async () => {
    let told;
    const changed = new Promise((resolve) => (told = resolve));
    await peer.onToolsChanged(told);
    await peer.call("grow", {});
    await changed;
  });
  await check("logging", async () => {
    const heard = [];
    const meta = await peer.logged("info", (message) => heard.push(message));
    same(text(await peer.call("log", {}, {}, meta)), "logged");
    await until(() => heard.length > 0, "the message did not come");
    same([heard[0].level, heard[0].logger, heard[0].data], ["warning", "peer", "careful"], "the message");
  });
  if (client.getServerCapabilities().resources?.subscribe) {
    await check("resources/subscribe", async () => {
      let told;
      const updated = new Promise((resolve) => (told = resolve));
      await peer.onUpdated("peer://readme", told);
      await peer.call("touch", {});
      same(await updated, "peer://readme", "the resource");
    });
  }
  // Some servers do not survive a cancellation, so it comes last.
  await check("cancellation", async () => {
    const abort = new AbortController();
    const onprogress = () => abort.abort(new Error("enough"));
    await rejected(peer.call("slow", { steps: 2000 }, { onprogress, signal: abort.signal }));
    await until(async () => Number(text(await peer.call("stopped", {}))) > 0, "the call goes on");
  });
  await check("close", () => peer.close());
}

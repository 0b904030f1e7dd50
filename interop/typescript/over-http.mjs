// What only clients over HTTP can show: streams that break, and sessions that end.

import { setTimeout as sleep } from "node:timers/promises";

import { check, holds, same } from "./report.mjs";

/** How a server is reached: by a URL that ends in /sse, by another URL, or by a command. */
export function transportOf(place) {
  if (!/^https?:/.test(place)) return "stdio";
  return new URL(place).pathname.endsWith("/sse") ? "sse" : "http";
}

/** The progress reports that a connected transport receives, before the SDK does anything with them. */
export function reportsOf(transport) {
  let received = [];
  const receive = transport.onmessage;
  transport.onmessage = (message, ...rest) => {
    const { method, params } = message;
    if (method === "notifications/progress") received.push([params.progress, params.total]);
    return receive(message, ...rest);
  };
  return () => {
    const taken = received;
    received = [];
    return taken;
  };
}

/** Tears every connection once, and expects the SDK to find its way back. */
export async function brokenStreams(peer, relay, { resumesCalls }) {
  await check("standing stream", () => until(() => relay.reads() === 1, "the SDK opened none"));
  if (resumesCalls) {
    await check("a call whose stream breaks", async () => {
      const onprogress = ({ progress }) => {
        if (progress === 3) relay.cut();
      };
      peer.reports();
      const result = await peer.call("count", { to: 10, pause: 50 }, { onprogress });
      same(result.content[0].text, "counted to 10");
      // Some come while the client is away. None is lost and none comes twice.
      const received = peer.reports().map(([progress]) => progress);
      same(received, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "the reports");
    });
  } else {
    // Some come back only to a stream that had an event.
    await changed(peer, "before");
    relay.cut();
  }
  await check("a standing stream that breaks", async () => {
    await until(() => relay.reads() === (resumesCalls ? 3 : 2), "the SDK did not come back");
    await changed(peer, "back");
  });
}

/** Has the list of tools changed, and waits until the client is told. */
async function changed(peer, word) {
  const name = `${word}-${process.pid}`;
  const told = new Promise((resolve) => peer.onToolsChanged(resolve));
  await peer.call("grow", { name });
  await told;
  await peer.call("shrink", { name });
}

/** The status of a notification that the SDK has no part in: whether the server knows a session. */
export async function notified(url, headers) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/roots/list_changed" }),
  });
  await response.body?.cancel();
  return response.status;
}

/** Waits for something that happens by itself soon. */
export async function until(happened, otherwise) {
  const start = Date.now();
  while (!(await happened())) {
    holds(Date.now() - start < 10_000, otherwise);
    await sleep(20);
  }
}

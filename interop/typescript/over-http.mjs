// Checks that only apply to HTTP: broken streams and ended sessions.

import { setTimeout as sleep } from "node:timers/promises";

import { check, holds, same } from "./report.mjs";

/** The transport of a server: a URL that ends in /sse, another URL, or a command. */
export function transportOf(place) {
  if (!/^https?:/.test(place)) return "stdio";
  return new URL(place).pathname.endsWith("/sse") ? "sse" : "http";
}

/** The progress reports that a connected transport receives, before the SDK handles them. */
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

/** Breaks every connection once, and expects the SDK to reconnect. */
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
      // Some reports come while the client is disconnected. No report is lost or duplicated.
      const received = peer.reports().map(([progress]) => progress);
      same(received, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "the reports");
    });
  } else {
    // Some SDKs reconnect only to a stream that had an event.
    await changed(peer, "before");
    relay.cut();
  }
  await check("a standing stream that breaks", async () => {
    await until(() => relay.reads() === (resumesCalls ? 3 : 2), "the SDK did not come back");
    await changed(peer, "back");
  });
}

/** Changes the list of tools, and waits until the client is notified. */
async function changed(peer, word) {
  const name = `${word}-${process.pid}`;
  const told = new Promise((resolve) => peer.onToolsChanged(resolve));
  await peer.call("grow", { name });
  await told;
  await peer.call("shrink", { name });
}

/** The status of a notification that is sent without the SDK. It shows whether the server knows a session. */
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

/** Waits until a condition is true, for a limited time. */
export async function until(happened, otherwise) {
  const start = Date.now();
  while (!(await happened())) {
    holds(Date.now() - start < 10_000, otherwise);
    await sleep(20);
  }
}

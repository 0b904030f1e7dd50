// @modelcontextprotocol/server-everything over HTTP. It takes a port, and does not say when it is ready.
//
//   node everything.mjs PACKAGE http|sse

import { createServer, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [package_, kind] = process.argv.slice(2);

const probe = createServer();
await new Promise((resolve) => probe.listen(0, resolve));
const { port } = probe.address();
await new Promise((resolve) => probe.close(resolve));

const isOpen = () =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.end());
  });

process.env.PORT = port;
const file = kind === "sse" ? "sse" : "streamableHttp";
await import(new URL(`node_modules/${package_}/dist/transports/${file}.js`, import.meta.url));
while (!(await isOpen())) await sleep(20);
console.log(`listening at http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`);

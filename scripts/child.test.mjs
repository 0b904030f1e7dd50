// Tests of `child.mjs`: node --test scripts/child.test.mjs

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { test } from "node:test";

import { begin, hasEnded, listen, reservePort, stop } from "./child.mjs";

const AT = /listening at \S+/;
/** A program in JavaScript. */
const node = (/** @type {string} */ source) => /** @type {[string, string[]]} */ ([process.execPath, ["-e", source]]);
const server = (/** @type {string} */ more = "") =>
  node(`const server = require("net").createServer().listen(0, "127.0.0.1", () =>
    console.log("listening at http://127.0.0.1:" + server.address().port + "/")); ${more}`);

async function listensAt(/** @type {number} */ port) {
  const listener = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve, reject) => listener.once("listening", resolve).once("error", reject));
  listener.close();
}

test("a program is ready when its address accepts connections", async () => {
  const { child, found } = await begin(...server(), AT);
  assert.match(found[0], /127\.0\.0\.1:\d+/);
  await stop(child);
  assert.ok(hasEnded(child));
});

test("a program is not ready when it only prints its address", async () => {
  const port = await reservePort();
  const claims = `console.log("listening at 127.0.0.1:${port}")`;
  const late = `${claims}; setTimeout(() => require("net").createServer().listen(${port}, "127.0.0.1"), 300)`;
  const since = performance.now();
  const { child } = await begin(...node(late), AT);
  assert.ok(performance.now() - since >= 300);
  await stop(child);
  await assert.rejects(begin(...node(`${claims}; setTimeout(() => {}, 60000)`), AT, { patience: 500 }), /waited 0.5 s/);
});

test("a port in use ends the wait, and the error quotes the program", async () => {
  const taken = createServer();
  const port = await listen(taken);
  const source = `require("net").createServer().listen(${port}, "127.0.0.1", () => console.log("listening at x"))`;
  await assert.rejects(begin(...node(source), AT), /ended early \(exit code 1\)[^]*EADDRINUSE/);
  taken.close();
});

test("a program that ends before it is ready is an error", async () => {
  await assert.rejects(begin(...node(`console.log("no luck"); process.exit(3)`), AT), /exit code 3[^]*no luck/);
  await assert.rejects(begin("/no/such/program", [], AT), /could not be started/);
});

test("a program that has ended is not ready, even if another holds its output and its address", async () => {
  const other = createServer();
  const open = `127.0.0.1:${await listen(other)}`;
  for (const script of [
    "echo listening at 127.0.0.1:9; sleep 3 & exit 1",
    // Printed by a process that it leaves behind, after it has ended.
    `(sleep 0.1; echo listening at ${open}; sleep 3) & exit 1`,
  ]) {
    const since = performance.now();
    await assert.rejects(begin("sh", ["-c", script], AT), /ended early \(exit code 1\)[^]*listening at/);
    assert.ok(performance.now() - since < 2000);
  }
  other.close();
});

test("waiting for a silent program has a limit", async () => {
  const silent = begin(...node("setTimeout(() => {}, 60000)"), AT, { patience: 300 });
  await assert.rejects(silent, /waited 0.3 s for .* to listen[^]*it said nothing/);
});

test("ending a program that was killed or has ended returns at once", async () => {
  const { child } = await begin(...server(), AT);
  process.kill(/** @type {number} */ (child.pid), "SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const since = performance.now();
  await stop(child);
  await stop(child);
  assert.ok(performance.now() - since < 100);
});

test("a program that ignores SIGTERM is killed", async () => {
  const { child } = await begin(...server(`process.on("SIGTERM", () => {})`), AT);
  await stop(child, 300);
  assert.equal(child.signalCode, "SIGKILL");
});

test("a reserved port is free and not used for outgoing connections", async () => {
  const outgoing = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8").catch(() => "49152 65535");
  const [first, last] = outgoing.trim().split(/\s+/).map(Number);
  for (let turn = 0; turn < 20; turn += 1) {
    const port = await reservePort();
    const hasOthers = first > 10_000 || last < 65_535;
    assert.ok(!hasOthers || (port >= 10_000 && port <= 65_535 && (port < first || port > last)), `${port}`);
    await listensAt(port);
  }
});

test("if outgoing connections may use every port, the system chooses one", async () => {
  await listensAt(await reservePort([1024, 65_535]));
});

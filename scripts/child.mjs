// Child processes of the tests: starts them, waits until they accept connections, and ends them. Every wait has a
// limit. If a child ends before it is ready, the error quotes its last lines.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/** @typedef {import("node:child_process").SpawnOptions} SpawnOptions */

/** The limit for a program to accept connections, in milliseconds. A busy machine needs several seconds. */
const STARTING = 60_000;
/** The time after SIGTERM at which a program is killed, in milliseconds. */
const ENDING = 10_000;
/** The limit for the system to remove a process after SIGKILL, in milliseconds. */
const KILLING = 5_000;
/** How long to wait for the last lines of a program that has ended, in milliseconds. */
const READING = 250;
/** Milliseconds between two attempts to connect. */
const PAUSE = 20;
/** The number of a program's last lines in an error. */
const QUOTED = 20;
/** Attempts to find a free port. */
const ATTEMPTS = 100;
/** IANA's ports for outgoing connections, for systems that do not report theirs. */
const EPHEMERAL = [49_152, 65_535];
/** The lowest port that is used here. Many services have ports below it. */
const LOWEST = 10_000;

/** @type {Set<ChildProcess>} */
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill()));
for (const [signal, code] of /** @type {[NodeJS.Signals, number][]} */ ([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
])) {
  process.once(signal, () => process.exit(code));
}

/**
 * Whether a child has ended, or was never started.
 *
 * @param {ChildProcess} child
 */
export const hasEnded = (child) => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/**
 * Starts a program, waits for a line that matches `pattern`, and then until the address in the match, a URL or
 * `host:port`, accepts a connection.
 *
 * @param {string} program
 * @param {string[]} words its arguments
 * @param {RegExp} pattern
 * @param {SpawnOptions & { patience?: number }} options `patience` limits the wait, in milliseconds
 * @returns {Promise<{ child: ChildProcess, found: RegExpExecArray }>}
 */
export async function begin(program, words, pattern, { patience = STARTING, ...options } = {}) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], ...options });
  children.add(child);
  /** @type {string[]} */
  const last = [];
  const said = () => (last.length ? `its last lines:\n${last.join("\n")}` : "it said nothing");
  const ready = new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr]) {
      if (!input) continue;
      createInterface({ input }).on("line", (line) => {
        last.push(line);
        if (last.length > QUOTED) last.shift();
        const found = pattern.exec(line);
        if (!found) return;
        // The end of the child is reported below, with its last lines.
        accepts(found[0], child).then(
          () => resolve(found),
          (error) => hasEnded(child) || reject(error),
        );
      });
    }
    child.once("error", (error) => reject(new Error(`\`${program}\` could not be started: ${error.message}`)));
    const endedEarly = (/** @type {number | null} */ code, /** @type {NodeJS.Signals | null} */ signal) => {
      children.delete(child);
      reject(new Error(`\`${program}\` ended early (${signal ?? `exit code ${code}`}); ${said()}`));
    };
    // At `close` all output has been read, but it does not come while a process of the child holds the output open.
    child.once("close", endedEarly);
    child.once("exit", (code, signal) => setTimeout(endedEarly, READING, code, signal).unref());
  });
  try {
    const found = await within(patience, () => `\`${program}\` to listen (${pattern}); ${said()}`, ready);
    return { child, found };
  } catch (error) {
    await stop(child);
    // Processes that the child started may hold its output open.
    child.stdout?.destroy();
    child.stderr?.destroy();
    throw error;
  }
}

/**
 * Ends a child and waits until it has ended. Returns at once if it already has.
 *
 * @param {ChildProcess} child
 * @param {number} patience the time between SIGTERM and SIGKILL, in milliseconds
 */
export async function stop(child, patience = ENDING) {
  if (hasEnded(child)) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  const isOver = await within(patience, () => "", over).then(
    () => true,
    () => false,
  );
  if (isOver) return;
  child.kill("SIGKILL");
  await within(KILLING, () => `process ${child.pid} (${child.spawnfile}) to end after SIGKILL`, over);
}

/**
 * Lets a server of this process listen at a port that the system chooses. Returns the port.
 *
 * @param {import("node:net").Server} server
 */
export async function listen(server) {
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(undefined));
  });
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

/**
 * A promise with a time limit.
 *
 * @template T
 * @param {number} ms
 * @param {() => string} what the awaited event, for the error
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function within(ms, what, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<never>} */
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s for ${what()}`)), ms);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A port for a program that cannot choose one: free now, and never used for outgoing connections. If outgoing
 * connections may use every port, the system chooses one, and the caller has to retry with another on EADDRINUSE.
 *
 * @param {number[]} outgoing the first and the last port for outgoing connections
 */
export async function reservePort([first, last] = ephemeral()) {
  const below = Math.max(0, first - LOWEST);
  const above = 65_535 - last;
  if (below + above === 0) return freePort();
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const index = Math.floor(Math.random() * (below + above));
    const port = index < below ? LOWEST + index : last + 1 + index - below;
    if (port <= 65_535 && (await isFree(port))) return port;
  }
  throw new Error(`no free port outside of ${first} to ${last}, where outgoing connections are`);
}

/** A free port that the system chooses. */
async function freePort() {
  const probe = createServer();
  const port = await listen(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** The first and the last port that the system uses for outgoing connections. */
function ephemeral() {
  try {
    return readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);
  } catch {
    return EPHEMERAL;
  }
}

/**
 * Whether a program could listen at this port.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/**
 * The address in a text: `http://127.0.0.1:80/mcp`, `127.0.0.1:80`.
 *
 * @param {string} text
 */
function addressIn(text) {
  const [, host, port] = /([\w.-]+):(\d+)/.exec(text) ?? [];
  if (!port) throw new Error(`no address in \`${text}\``);
  return { host, port: Number(port) };
}

/**
 * Waits until the address in a text accepts a connection. Throws if the child has ended, because then another program
 * accepts it.
 *
 * @param {string} text
 * @param {ChildProcess} child
 */
async function accepts(text, child) {
  const address = addressIn(text);
  for (;;) {
    const isOpen = await connects(address);
    if (hasEnded(child)) throw new Error(`process ${child.pid} (${child.spawnfile}) has ended`);
    if (isOpen) return;
    await sleep(PAUSE);
  }
}

/**
 * @param {{ host: string, port: number }} address
 * @returns {Promise<boolean>}
 */
function connects({ host, port }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (/** @type {boolean} */ isOpen) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => finish(true));
    socket.once("error", () => finish(false));
  });
}

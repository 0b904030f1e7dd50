// Runs the suite leg by leg. Each leg must pass every scenario without a failure or a warning, and with at least one
// successful check of the scenario.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { begin, hasEnded, reservePort, stop } from "../scripts/child.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const suite = join(here, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const programs = resolve(process.env.CARGO_TARGET_DIR ?? join(here, "../target"), "debug");
const work = mkdtempSync(join(tmpdir(), "conformance-"));
const isTable = process.argv.includes("--table");
const only = process.argv[2]?.replace("--table", "gateway") ?? "";

// The time limit of a scenario, in milliseconds. The slowest needs four seconds on an idle machine.
const TIMEOUT = "60000";
// The time limit of a run of the suite, in milliseconds. The longest leg needs two minutes on a busy machine.
const LONGEST = 900_000;
// The number of attempts to start a callback server at a free port, which another program may take first.
const ATTEMPTS = 5;
// The line that our programs print when they listen.
const LISTENING = /listening at (http:\/\/\S+)/;
// The suite does not implement this scenario yet: it skips every check.
const EMPTY = new Set(["tasks-status-notifications"]);
// Scenarios about HTTP itself, with its headers, statuses, streams and sessions, do not apply to stdio.
const OF_HTTP = new Set([
  "server-stateless",
  "server-session-lifecycle",
  "server-sse-polling",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
  "http-header-validation",
  "http-custom-header-server-validation",
  "tasks-request-headers",
]);
// The name of a folder of results ends with the time of its run.
const TIMESTAMP = /-\d{4}-\d\d-\d\dT[\d-]+Z$/;

const client = ["client", "--command", join(programs, "conformance-client"), "--timeout", TIMEOUT];
const server = (url) => ["server", "--url", url, "--timeout", TIMEOUT];

/// Every leg with the number of its scenarios, and the scenarios that are left out.
/** @typedef {[string, number, string[], Set<string>?]} Leg */
/** @type {(url: string, stdio: string) => Leg[]} */
const legs = (url, stdio) => [
  ["server at 2025-11-25", 33, [...server(url), "--requirements", "2025-11-25"]],
  ["server at 2026-07-28", 50, [...server(url), "--requirements", "2026-07-28"]],
  ["server at 2025-06-18", 27, [...server(url), "--suite", "all", "--spec-version", "2025-06-18"]],
  ["server, every scenario", 65, [...server(url), "--suite", "all"]],
  [
    "server over stdio at 2025-06-18",
    26,
    [...server(stdio), "--suite", "all", "--spec-version", "2025-06-18"],
    OF_HTTP,
  ],
  ["server over stdio, every scenario", 57, [...server(stdio), "--suite", "all"], OF_HTTP],
  ["client at 2025-11-25", 25, [...client, "--requirements", "2025-11-25"]],
  ["client at 2026-07-28", 39, [...client, "--requirements", "2026-07-28"]],
  ["client, every scenario", 48, [...client, "--suite", "all"]],
];

/**
 * Runs the suite. Returns its exit code and its output.
 *
 * @param {string[]} args
 * @param {(output: string) => void} heard
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function run(args, heard = () => {}) {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [suite, ...args], { cwd: work, timeout: LONGEST, killSignal: "SIGKILL" });
    let output = "";
    child.stdout.on("data", (part) => heard((output += part)));
    child.stderr.on("data", (part) => (output += part));
    child.on("error", failed);
    child.on("close", (code, signal) => {
      if (signal) output += `\nended by ${signal}; it may take ${LONGEST / 1000} s`;
      done({ code, output });
    });
  });
}

/// The checks of each scenario that left results in a folder.
function scenarios(folder, prefix = "") {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const checks = join(path, "checks.json");
    if (!entry.isDirectory()) return [];
    if (!existsSync(checks)) return scenarios(path, `${prefix}${entry.name}/`);
    const name = prefix + entry.name.replace(TIMESTAMP, "").replace(/^server-(?!initialize|stateless|session|sse)/, "");
    return [{ name, checks: JSON.parse(readFileSync(checks, "utf8")) }];
  });
}

/// The problems of a scenario, or an empty list if it passed. `lost` has the names of scenarios and the ids of checks
/// that cannot pass.
function faults({ name, checks }, lost) {
  const bad = checks.filter(({ status, id }) => !lost.has(id) && (status === "FAILURE" || status === "WARNING"));
  const said = bad.map((check) => `${name}: ${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
  const proved = checks.some(({ status, id }) => status === "SUCCESS" && id !== "wire-schema-valid");
  const isEmpty = EMPTY.has(name.replace(/^server-/, "")) || lost.has(name);
  if (!said.length && !proved && !isEmpty) said.push(`${name}: no check succeeded`);
  return said;
}

let ran = 0;
let failed = 0;
/// The result of each leg through the gateway, for the table.
const through = new Map();
function report(leg, passed, wanted, checks, seconds, said, notShown = 0) {
  ran += 1;
  const isGood = passed === wanted && !said.length;
  if (!isGood) failed += 1;
  through.set(leg, `${passed} of ${wanted}${notShown ? `, ${notShown} without a check` : ""}`);
  console.log(`${isGood ? "ok  " : "FAIL"} ${leg}: ${passed}/${wanted} scenarios, ${checks} checks, ${seconds} s`);
  for (const line of said) console.log(`       ${line}`);
}

/**
 * `port` finds a port, for a leg whose last argument is a port.
 *
 * @param {Leg} leg
 * @param {{ heard?: (output: string) => void, port?: () => Promise<number>, lost?: Set<string> }} options
 */
async function suiteLeg([leg, wanted, args, passedOver = new Set()], { heard, port, lost = new Set() } = {}) {
  const folder = join(work, leg.replace(/\W+/g, "-"));
  const begun = Date.now();
  let output = "";
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const last = port ? [`${await port()}`] : [];
    ({ output } = await run([...args, ...last, "-o", folder], heard));
    if (!port || !output.includes("EADDRINUSE")) break;
  }
  const all = scenarios(folder).filter(({ name }) => !passedOver.has(name));
  const said = all.flatMap((scenario) => faults(scenario, lost));
  const bad = new Set(said.map((line) => line.split(":")[0]));
  const notShown = all.filter(({ name }) => lost.has(name)).length;
  if (!all.length) said.push(output.slice(-2000));
  const checks = all.reduce((sum, one) => sum + one.checks.filter(({ status }) => status === "SUCCESS").length, 0);
  report(leg, all.length - bad.size, wanted, checks, Math.round((Date.now() - begun) / 1000), said, notShown);
}

/// Runs each client scenario that a revision requires separately. Only then does the suite check the client's exit
/// code, timeouts and warnings.
async function strictLeg(revision, wanted) {
  const leg = `client alone at ${revision}`;
  const begun = Date.now();
  const { output } = await run(["list", "--requirements", revision]);
  const section = output.split(/^Client scenarios.*$/m)[1]?.split(/^Run and reported/m)[0] ?? "";
  const names = [...section.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1]);
  const said = [];
  let passed = 0;
  const next = async () => {
    for (let name; (name = names.pop());) {
      const args = [...client, "--scenario", name, "--spec-version", revision, "-o", join(work, "alone")];
      const { code, output: told } = await run(args);
      if (code === 0) passed += 1;
      else said.push(`${name}: ${told.trim().split("\n").slice(-12).join("\n         ")}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
  report(leg, passed, wanted, passed, Math.round((Date.now() - begun) / 1000), said);
}

/// The authorization server for tests and demos. The suite prints a URL for the user, which this opens.
async function authorizationLeg(leg) {
  const theirs = await begin(join(programs, "examples/authorization_server"), ["127.0.0.1:0"], LISTENING);
  const issuer = theirs.found[1];
  let opened = false;
  const open = (output) => {
    const url = output.match(/^http:\S+\/authorize\?\S+$/m)?.[0];
    if (!url || opened || !output.includes("Callback server started")) return;
    opened = true;
    fetch(url).catch((error) => console.error(`${leg}: ${error}`));
  };
  try {
    const args = ["authorization", "--url", issuer, "--client-id", "app", "-p"];
    await suiteLeg([leg, 2, args], { heard: open, port: reservePort });
  } finally {
    await stop(theirs.child);
  }
}

/// A server that closes its stream and is polled. The gateway polls the server, and its client sees one stream: closing
/// the client's stream as well would only make it reconnect.
const HIDDEN = ["server-sse-polling"];
/// Facts that a session cannot express, so that the gateway does not know them. Inventing them would be worse: a name
/// that the server does not know, or an error in place of the tool's result.
const UNSAID = [
  // The server's names of its questions: a request in a session only has an id. The two scenarios check nothing else.
  "input-required-result-basic-elicitation",
  "input-required-result-ignore-extra-params",
  "sep-2322-elicitation-incomplete",
  "sep-2322-ignore-unexpected-params",
  // A tool that fails because the session's client cannot be asked returns an ordinary result.
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  // A tool that asks before it becomes a task: a session gets the task first, and the question afterwards.
  "tasks-mrtr-composition",
  "sep-2663-mrtr-synchronous-before-task-creation",
];

/// Upstreams of the gateway: the transport to the conformance server, and the era.
const UPSTREAMS = [
  ["modern, Streamable HTTP", "modern", "http"],
  ["legacy, Streamable HTTP", "legacy", "http"],
  ["legacy, HTTP+SSE", "legacy", "sse"],
  ["modern, stdio", "modern", "stdio"],
  ["legacy, stdio", "legacy", "stdio"],
];

const serverLeg = (revision, name) => `gateway at ${revision}, server ${name}`;

/// The conformance server behind the gateway: every scored scenario of both revisions passes as it does
/// directly.
async function gatewayLegs(url) {
  for (const [name, era, way] of UPSTREAMS) {
    const wanted = [
      [serverLeg("2025-11-25", name), 33, "2025-11-25"],
      [serverLeg("2026-07-28", name), 50, "2026-07-28"],
    ].filter(([leg]) => `${leg}`.includes(only));
    if (!wanted.length) continue;
    const upstream = { http: [url], sse: [url.replace(/mcp$/, "sse")], stdio: [program, "--stdio"] }[way];
    const gateway = await begin(join(programs, "conformance-gateway"), ["--era", era, ...upstream], LISTENING, {
      stdio,
    });
    try {
      for (const [leg, count, revision] of wanted) {
        const args = ["server", "--url", gateway.found[1], "--timeout", TIMEOUT, "--requirements", `${revision}`];
        const isTranslated = era === "legacy" && revision === "2026-07-28";
        const lost = new Set(isTranslated ? [...HIDDEN, ...UNSAID] : HIDDEN);
        await suiteLeg([`${leg}`, Number(count), args], { lost });
      }
    } finally {
      await stop(gateway.child);
    }
  }
}

/// Starts Redis. Returns the process and its URL. Redis does not print its address, so the shell that starts it does.
async function beginRedis() {
  for (let attempt = 1; ; attempt += 1) {
    const port = await reservePort();
    const start = `echo 127.0.0.1:${port}; exec redis-server --port ${port} --bind 127.0.0.1 --save '' --dir "$0"`;
    try {
      const { child, found } = await begin("sh", ["-c", start, work], /127\.0\.0\.1:\d+/);
      return { child, url: `redis://${found[0]}/` };
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/// Three replicas of the conformance server with a Redis between them, behind a balancer that sends each request to the
/// next one.
async function replicaLegs() {
  /** @type {Leg[]} */
  const wanted = legs("URL", "")
    .slice(0, 3)
    .map(([leg, count, args]) => [leg.replace("server", "replicas"), count, args]);
  const chosen = wanted.filter(([leg]) => leg.includes(only));
  if (!chosen.length) return;
  const secret = join(work, "secret");
  writeFileSync(secret, randomBytes(32));
  const redis = await beginRedis();
  const started = [redis.child];
  try {
    const urls = [];
    for (let replica = 0; replica < 3; replica += 1) {
      const args = ["--port", "0", "--redis", redis.url, "--secret-file", secret];
      const begun = await begin(program, args, LISTENING, { stdio });
      started.push(begun.child);
      urls.push(begun.found[1]);
    }
    const balancer = await begin(process.execPath, [join(here, "balance.mjs"), ...urls], LISTENING, { stdio });
    started.push(balancer.child);
    const ended = started.map((child) => ending("a replica, Redis or the balancer", child));
    for (const [leg, count, args] of chosen) {
      const at = args.map((word) => (word === "URL" ? balancer.found[1] : word));
      await Promise.race([suiteLeg([leg, count, at]), ...ended]);
    }
  } finally {
    for (const child of started.reverse()) await stop(child);
  }
}

/// Our client in front of the gateway, and the suite's servers behind it. Each leg has the revision of the suite's
/// servers, that of our client, and the number of scenarios.
/** @type {[string, string, number][]} */
const CLIENTS = [
  ["2025-11-25", "2025-11-25", 25],
  ["2026-07-28", "2026-07-28", 39],
];

const clientLeg = (behind, front) => `gateway before the suite's servers at ${behind}, client at ${front}`;

async function gatewayClientLegs() {
  for (const [behind, front, count] of CLIENTS) {
    const leg = clientLeg(behind, front);
    if (!leg.includes(only)) continue;
    const command = `${join(programs, "conformance-client")} --through-gateway ${front}`;
    await suiteLeg([leg, count, ["client", "--command", command, "--timeout", TIMEOUT, "--requirements", behind]]);
  }
}

const PAGE = join(here, "../docs/gateway.md");
const [BEGIN, END] = ["<!-- suite -->", "<!-- /suite -->"];

/// The table in docs/gateway.md with the results of this run. Legs that did not run keep their figures.
function table(page) {
  const old = page.split(BEGIN)[1]?.split(END)[0] ?? "";
  const figure = (leg) =>
    through.get(leg) ?? old.match(new RegExp(`^\\| ${leg.replace(/\W/g, ".")} \\| (.*) \\|$`, "m"))?.[1];
  const names = [
    ...UPSTREAMS.flatMap(([name]) => [serverLeg("2025-11-25", name), serverLeg("2026-07-28", name)]),
    ...CLIENTS.map(([behind, front]) => clientLeg(behind, front)),
  ];
  const rows = names.map((leg) => `| ${leg} | ${figure(leg) ?? "–"} |`);
  return ["", "", "| leg | scenarios that pass |", "|---|---|", ...rows, "", ""].join("\n");
}

/// Writes the table, or reports how it differs from the results of this run.
function publish() {
  const page = readFileSync(PAGE, "utf8");
  const [before, rest] = page.split(BEGIN);
  const [old, after] = rest?.split(END) ?? [];
  if (old === undefined || after === undefined) throw new Error(`docs/gateway.md has no ${BEGIN} and ${END}`);
  const made = table(page);
  if (isTable) writeFileSync(PAGE, before + BEGIN + made + END + after);
  else if (made !== old) {
    failed += 1;
    console.log("FAIL the table in docs/gateway.md: `./conformance/run --table` would write");
    console.log(made);
  }
}

/// Rejects when a program that the whole run needs ends.
const ending = (name, child) =>
  new Promise((_, reject) => {
    const say = () => reject(new Error(`${name} ended before the suite did (${child.signalCode ?? child.exitCode})`));
    if (hasEnded(child)) say();
    else child.once("exit", say);
  });

async function allLegs(url, stdio) {
  for (const leg of legs(url, stdio)) if (leg[0].includes(only)) await suiteLeg(leg);
  if ("client alone at 2025-11-25".includes(only)) await strictLeg("2025-11-25", 18);
  if ("client alone at 2026-07-28".includes(only)) await strictLeg("2026-07-28", 32);
  if ("authorization server".includes(only)) await authorizationLeg("authorization server");
  await replicaLegs();
  await gatewayLegs(url);
  await gatewayClientLegs();
}

const program = join(programs, "conformance-server");
// The log of our server is shown.
/** @type {import("node:child_process").StdioOptions} */
const stdio = ["ignore", "pipe", "inherit"];
const ours = await begin(program, ["--port", "0"], LISTENING, { stdio });
const relay = await begin(process.execPath, [join(here, "stdio.mjs"), program, "--stdio"], LISTENING, { stdio });
try {
  const ended = [ending("our server", ours.child), ending("the relay to stdio", relay.child)];
  await Promise.race([allLegs(ours.found[1], relay.found[1]), ...ended]);
} finally {
  await stop(ours.child);
  await stop(relay.child);
  rmSync(work, { recursive: true, force: true });
}
if (!ran) {
  console.error(`error: no leg has \`${only}\` in its name: the legs are in conformance/README.md`);
  process.exit(2);
}
publish();
console.log(failed ? `${failed} legs failed` : "every scenario passed");
process.exit(failed ? 1 : 0);

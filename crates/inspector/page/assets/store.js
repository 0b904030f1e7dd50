// The page's state: servers, their lists, calls, questions, messages on the wire, and log lines.
//
// Views listen to topics. They are notified at most once per frame.

import { get, post, follow } from "./api.js";
import { announce, messageOf, plural } from "./element.js";
import { sound } from "./offer.js";
import { pairUp } from "./wire-pairs.js";

/** The most rows of the wire that the page keeps. The binary's recording is complete. */
const WIRE_KEPT = 100_000;
/** The most log lines that the page keeps. */
const LOGS_KEPT = 10_000;
/** The most lines of standard error that the page keeps for each server. */
const STDERR_KEPT = 2000;
/** Rows in a request. */
const WIRE_PAGE = 2000;

/**
 * @typedef {object} State
 * @property {string} version
 * @property {"open" | "lost" | "refused"} connection
 * @property {Map<string, Server>} servers by id
 * @property {Map<string, Offer>} offers by the server's id
 * @property {Map<number, Exchange>} exchanges
 * @property {Map<string, Question>} asks
 * @property {WireRow[]} wire in the order of their numbers
 * @property {WirePair[]} pairs requests with their responses, and all other messages, in the order of their numbers
 * @property {number} wireDropped
 * @property {Map<number, WireRow[]>} wireOf by exchange
 * @property {LogLine[]} logs
 * @property {Change[]} changes
 * @property {Map<string, AuthStep[]>} auth by the server's id
 * @property {Map<string, Set<string>>} watched URIs by the server's id
 * @property {Map<string, number>} askedAt when each open question arrived
 * @property {{ uri: string, name?: string }[]} roots
 * @property {ConfigFile[]} files
 * @property {boolean} gateway whether the page belongs to a gateway
 */
/** @type {State} */
export const state = {
  version: "",
  connection: "open",
  servers: new Map(),
  offers: new Map(),
  exchanges: new Map(),
  asks: new Map(),
  wire: [],
  pairs: [],
  wireDropped: 0,
  wireOf: new Map(),
  logs: [],
  changes: [],
  auth: new Map(),
  watched: new Map(),
  askedAt: new Map(),
  roots: [],
  files: [],
  gateway: false,
};

/** @typedef {(keys: Set<unknown>) => unknown} Listener */
/** @type {Map<string, Set<Listener>>} */
const listeners = new Map();
/** @type {Map<string, Set<unknown>>} */
const changed = new Map();
let scheduled = false;

/**
 * Calls `react` with the keys that changed. Returns a function that stops it.
 *
 * @param {string} topic
 * @param {Listener} react
 * @returns {() => void}
 */
export function on(topic, react) {
  const own = listeners.get(topic) ?? new Set();
  listeners.set(topic, own.add(react));
  return () => void own.delete(react);
}

/**
 * @param {string} topic
 * @param {unknown} key
 */
export function touch(topic, key) {
  changed.set(topic, (changed.get(topic) ?? new Set()).add(key));
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(flush, 16);
  else requestAnimationFrame(flush);
}

function flush() {
  scheduled = false;
  const topics = [...changed];
  changed.clear();
  for (const [topic, keys] of topics) {
    for (const react of [...(listeners.get(topic) ?? [])]) react(keys);
  }
}

/**
 * Reads the state and follows its changes. Resolves when the first state has arrived.
 *
 * @returns {Promise<void>}
 */
export function open() {
  let isFirst = true;
  return new Promise((ready) => {
    void follow(reload, take, (how) => {
      state.connection = how;
      touch("connection", how);
      if (how === "lost") return;
      // A view that is created now draws the current state, so it need not be notified.
      if (isFirst) changed.clear();
      isFirst = false;
      ready();
    });
  });
}

async function reload() {
  const whole = await get("state");
  state.version = whole.version;
  // Servers may have gone while the connection was lost: no event reports that again.
  const known = new Set(whole.servers.map((/** @type {Server} */ server) => server.id));
  for (const id of [...state.servers.keys()]) if (!known.has(id)) take("server-gone", { id });
  for (const [id, offer] of Object.entries(whole.offers ?? {})) takeOffer(id, offer);
  state.asks.clear();
  for (const server of whole.servers) take("server", server);
  // Long lists are not part of the state. The binary still has those of a stopped server.
  for (const { id, status, info } of state.servers.values()) {
    if (info && (status === "closed" || status === "failed") && !state.offers.has(id)) {
      get(`servers/${id}/offer`)
        .then((offer) => takeOffer(id, offer))
        .catch(() => {});
    }
  }
  for (const exchange of whole.exchanges) take("exchange", exchange, true);
  for (const ask of whole.asks ?? []) state.asks.set(ask.id, ask);
  state.roots = whole.roots ?? [];
  state.files = whole.files ?? [];
  state.gateway = whole.hasGateway === true;
  if (!state.logs.length) state.logs.push(...(whole.logs ?? []));
  touch("asks", "all");
  touch("logs", "all");
  readWire();
  return whole.event;
}

async function readWire() {
  let after = state.wire.at(-1)?.seq ?? 0;
  for (;;) {
    const page = await get(`wire?after=${after}&limit=${WIRE_PAGE}`);
    state.wireDropped = page.dropped ?? 0;
    // Events may have delivered newer rows than this part of the list.
    const newest = state.wire.at(-1)?.seq ?? 0;
    for (const row of page.rows) if (row.seq > newest || !knows(row.seq)) takeWire(row);
    if (page.next === null || page.next === undefined || !page.rows.length) return;
    after = page.next;
  }
}

/** The handler of each kind of event. */
const TAKES = {
  /** @param {Server} server */
  server(server) {
    const before = state.servers.get(server.id)?.status;
    state.servers.set(server.id, server);
    touch("servers", server.id);
    const isNew = before !== undefined && before !== "open";
    if (server.status === "open" && (isNew || !state.offers.has(server.id))) loadOffer(server.id);
    // The lists of a server that failed or was stopped are kept, so that the user can still look at them.
  },
  /** @param {{ id: string }} gone */
  "server-gone"({ id }) {
    state.servers.delete(id);
    state.offers.delete(id);
    touch("servers", id);
  },
  missed() {
    // Events were dropped because there were too many: read the whole state again.
    return reload().catch(() => {});
  },
  /**
   * @param {Exchange} exchange
   * @param {boolean} [isOld]
   */
  exchange(exchange, isOld) {
    const before = state.exchanges.get(exchange.n);
    state.exchanges.set(exchange.n, exchange);
    // Later questions arrive as separate events.
    if (isOld && !exchange.ended) for (const ask of exchange.asks ?? []) state.asks.set(ask.id, ask);
    touch("exchanges", exchange.n);
    if (!isOld && exchange.ended && !before?.ended) {
      announce(`${exchange.object ?? exchange.method} ${exchange.status}`);
    }
  },
  /** @param {Question} ask */
  ask(ask) {
    state.asks.set(ask.id, ask);
    state.askedAt.set(ask.id, Date.now());
    touch("exchanges", ask.exchange);
    touch("asks", ask.id);
    announce(`${state.servers.get(ask.server)?.name ?? "the server"} asks you something`);
  },
  /** @param {{ id: string }} gone */
  "ask-gone"({ id }) {
    const ask = state.asks.get(id);
    state.asks.delete(id);
    state.askedAt.delete(id);
    touch("asks", id);
    if (ask) touch("exchanges", ask.exchange);
  },
  wire: takeWire,
  /** @param {{ server: string, number: number, lines: string[] }} printed */
  stderr({ server: id, number, lines }) {
    const server = state.servers.get(id);
    if (!server) return;
    // Skip lines that arrived before with the server's state.
    const fresh = lines.slice(Math.max(0, (server.stderrEnd ?? 0) - number));
    if (!fresh.length) return;
    const stderr = [...(server.stderr ?? []), ...fresh].slice(-STDERR_KEPT);
    state.servers.set(id, { ...server, stderr, stderrEnd: number + lines.length });
    touch("stderr", id);
  },
  /** @param {{ uri: string, name?: string }[]} roots */
  roots(roots) {
    state.roots = roots;
    touch("roots", "all");
  },
  /** @param {ConfigFile[]} files */
  files(files) {
    state.files = files;
    touch("servers", "files");
  },
  /** @param {LogLine} line */
  log(line) {
    state.logs.push(line);
    if (state.logs.length > LOGS_KEPT) state.logs.splice(0, LOGS_KEPT / 10);
    touch("logs", line.server);
  },
  /** @param {Change} change */
  change(change) {
    state.changes.push({ ...change, time: Date.now() });
    if (state.changes.length > LOGS_KEPT) state.changes.splice(0, LOGS_KEPT / 10);
    touch("changes", change.server);
    if (change.kind !== "resource") loadOffer(change.server, true);
  },
  /** @param {AuthStep} step */
  auth(step) {
    // A new attempt shows only its own steps.
    const isNew = step.step === "sign in" && step.state === "doing";
    const steps = (isNew ? null : state.auth.get(step.server)) ?? [];
    const known = steps.findIndex((other) => other.step === step.step && other.state !== "missing");
    if (known < 0) steps.push(step);
    else steps[known] = { ...step, detail: step.detail ?? steps[known].detail };
    // Steps in progress end with the sign-in.
    if (step.step === "sign in" && step.state !== "doing") {
      for (const [at, one] of steps.entries()) if (one.state === "doing") steps[at] = { ...one, state: step.state };
    }
    state.auth.set(step.server, steps);
    touch("servers", step.server);
  },
};

/**
 * @param {string} name
 * @param {any} data the data of an event with this name
 * @param {boolean} [isOld]
 */
function take(name, data, isOld) {
  return /** @type {Record<string, (data: any, isOld?: boolean) => unknown>} */ (TAKES)[name]?.(data, isOld);
}

/** @param {number} seq */
function knows(seq) {
  let at = state.wire.length - 1;
  while (at >= 0 && state.wire[at].seq > seq) at -= 1;
  return state.wire[at]?.seq === seq;
}

/** @param {WireRow} row */
function takeWire(row) {
  const rows = state.wire;
  const last = rows.at(-1);
  if (!last || row.seq > last.seq) rows.push(row);
  else {
    let at = rows.length - 1;
    while (at >= 0 && rows[at].seq > row.seq) at -= 1;
    // A row is sent again when its response has arrived.
    if (rows[at]?.seq === row.seq) rows[at] = row;
    else rows.splice(at + 1, 0, row);
  }
  if (rows.length > WIRE_KEPT) rows.splice(0, WIRE_KEPT / 10);
  const pair = pairUp(state.pairs, row);
  if (state.pairs.length > WIRE_KEPT) state.pairs.splice(0, WIRE_KEPT / 10);
  if (row.exchange !== null && row.exchange !== undefined) {
    const own = state.wireOf.get(row.exchange) ?? [];
    const known = own.findIndex((other) => other.seq === row.seq);
    if (known < 0) own.push(row);
    else own[known] = row;
    state.wireOf.set(row.exchange, own);
    touch("exchanges", row.exchange);
  }
  touch("wire", pair);
}

/**
 * Reads a server's lists: once, and again when the server reports a change.
 *
 * @param {string} id
 * @param {boolean} isFresh
 */
export async function loadOffer(id, isFresh = false) {
  try {
    takeOffer(id, await get(`servers/${id}/offer${isFresh ? "?fresh=1" : ""}`));
  } catch (error) {
    state.offers.set(id, {
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
      problems: [{ list: "everything", error: { who: "transport", message: messageOf(error), causes: [] } }],
    });
    touch("offers", id);
  }
}

/**
 * @param {string} id
 * @param {JsonObject} given
 */
function takeOffer(id, given) {
  const offer = sound(given);
  state.offers.set(id, offer);
  announce(plural(offer.tools.length, "tool"));
  touch("offers", id);
}

/**
 * Starts a call and returns its number.
 *
 * @param {string} server
 * @param {string} method
 * @param {unknown} params
 * @param {object} more
 * @returns {Promise<number>}
 */
export async function start(server, method, params, more = {}) {
  const { exchange } = await post(`servers/${server}/exchanges`, { method, params, ...more });
  return exchange;
}

/**
 * Starts a call and waits until it ends.
 *
 * @param {string} server
 * @param {string} method
 * @param {unknown} params
 * @returns {Promise<Exchange>}
 */
export async function finish(server, method, params) {
  const n = await start(server, method, params);
  return new Promise((resolve) => {
    const look = () => {
      const exchange = state.exchanges.get(n);
      if (!exchange?.ended) return;
      stop();
      resolve(exchange);
    };
    const stop = on("exchanges", look);
    look();
  });
}

/**
 * The calls of one object, newest first.
 *
 * @param {string} server
 * @param {string} method
 * @param {string | undefined} object
 */
export const callsOf = (server, method, object) =>
  [...state.exchanges.values()]
    .filter((call) => call.server === server && call.method === method && call.object === object)
    .sort((one, other) => other.n - one.n);

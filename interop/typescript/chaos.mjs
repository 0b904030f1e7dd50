// Clients of several SDKs that work while replicas are killed and stopped, for `bench chaos`.
//
//   node chaos.mjs URL PACKAGE=COUNT…
//
// Each request has a number, and each answer must have the right number and caller. Each line on stdout is an action of
// a client, or the failure of an action; `bench` decides whether the failure has an explanation. Ends when stdin ends.

import { setTimeout as sleep } from "node:timers/promises";

import { Network } from "./network.mjs";
import { open } from "./sdk.mjs";

/** The time limit of a request, in milliseconds. */
const ANSWER_WITHIN = 40_000;

/** How long a call may run after it was cancelled, and the limit for an update, in milliseconds. */
const SOON = 10_000;

/** How long a client may be without success, in milliseconds. */
const DONE_WITHIN = 90_000;

/** The longest pause of a client between two actions, in milliseconds. */
const IDLE = 3_600;

/** The number of steps that the tool `steps` reports. */
const STEPS = 20;

/** A failure in place of an answer, with the name that `bench` uses for it. */
class Trouble extends Error {
  constructor(name, text) {
    super(text);
    this.trouble = name;
  }
}

let isOver = false;
process.stdin.on("end", () => (isOver = true)).resume();

const between = (least, most) => least + Math.floor(Math.random() * (most - least + 1));

class Guest {
  constructor(url, sdk, number) {
    this.name = `${sdk}-${number}`;
    this.url = url;
    this.sdk = sdk;
    this.next = 1;
    this.updates = 0;
    /** The number of abandoned calls, whose answers may still arrive. */
    this.abandoned = 0;
    this.lastDone = Date.now();
    this.network = new Network(this.name);
    this.uri = `bench://box/${this.name}`;
  }

  say(line) {
    const { name: guest, sdk, revision = "" } = this;
    console.log(JSON.stringify({ guest, sdk, revision, ...line }));
  }

  fault(kind, fault, text) {
    this.say({ kind, fault, text: String(text).slice(0, 1000) });
  }

  /** Works until the run is over. */
  async work() {
    await sleep(between(0, 3_000));
    while (!isOver) {
      if (!this.client && !(await this.attempt("open", () => this.open()))) {
        await sleep(100);
        continue;
      }
      await sleep(between(200, IDLE));
      if (!(await this.something())) await sleep(100);
    }
    await this.close();
  }

  /** Runs one action. Returns whether it succeeded. */
  something() {
    const chance = between(0, 99);
    if (chance < 40) return this.attempt("call", () => this.call("order"));
    if (chance < 60) return this.attempt("ask", () => this.ask());
    if (chance < 72) return this.attempt("cancel", () => this.cancel());
    if (chance < 85) return this.attempt("resume", () => this.resume());
    if (chance < 98) return this.attempt("update", () => this.update());
    return this.attempt("end", () => this.close());
  }

  async attempt(kind, action) {
    const began = Date.now();
    this.doing = kind;
    this.network.begin();
    try {
      await action();
      this.lastDone = Date.now();
      this.say({ kind });
      return true;
    } catch (error) {
      const { trouble, status, text } = this.met(error);
      this.say({ kind, trouble, status, text, ms: Date.now() - began });
      // The session continues, unless the server no longer knows it or a call hangs.
      if (trouble === "no session" || trouble === "hung" || kind === "open") await this.close().catch(() => {});
      if (Date.now() - this.lastDone > DONE_WITHIN) {
        this.lastDone = Date.now();
        this.fault(kind, "hung", `nothing done within ${DONE_WITHIN} ms`);
      }
      return false;
    }
  }

  /** What an error means. The network's failure takes precedence: SDKs do not resend a rejected answer. */
  met(error) {
    let text = "";
    for (let cause = error; cause; cause = cause.cause) text += `${cause.name}: ${cause.message}; `;
    text = text.slice(0, 1000);
    if (error.trouble) return { trouble: error.trouble, text };
    if (/call again/.test(text)) return { trouble: "told", text };
    const [failure] = this.network.failures;
    if (failure) return { ...failure, text: `${failure.text}; ${text}` };
    if (/timed out|timeout/i.test(text)) return { trouble: "hung", text };
    if (/try again/.test(text)) return { trouble: "error", text };
    return { trouble: "odd", text };
  }

  async open() {
    this.client = await open(this.sdk, this.url, this);
    this.revision = this.client.revision;
    this.network.resumesCalls = this.client.resumesCalls;
    if (!this.client.isModern) await this.client.subscribe(this.uri);
  }

  async close() {
    const { client } = this;
    this.client = undefined;
    await client?.close();
  }

  /** Answers a question, which must belong to this client. */
  asked(question) {
    if (!question?.endsWith(` for ${this.name}`)) this.fault("ask", "wrong caller", `asked \`${question}\``);
    return this.name;
  }

  updated(uri) {
    if (uri === this.uri) this.updates += 1;
    else this.fault("update", "wrong caller", `told of ${uri}`);
  }

  /** Handles messages that the SDK cannot use. */
  stray(error) {
    if (!/unknown message ID/.test(error.message)) return;
    if (this.abandoned > 0) this.abandoned -= 1;
    else this.fault(this.doing, "doubled", error.message);
  }

  /** Calls a tool, and checks the number and the caller in the answer. */
  async call(tool, { expected = "", onprogress = undefined, signal = undefined } = {}) {
    const number = this.next++;
    const signals = [this.network.given(), ...(signal ? [signal] : [])];
    const options = { timeout: ANSWER_WITHIN, onprogress, signal: AbortSignal.any(signals) };
    let result;
    try {
      result = await this.client.call(tool, { number }, options);
    } catch (error) {
      this.abandoned += 1;
      throw error;
    }
    const text = result.content?.[0]?.text;
    if (result.isError && /call again/.test(text)) throw new Trouble("told", text);
    const wanted = `${tool} ${number} for ${this.name}${expected}`;
    if (text !== wanted) {
      this.fault(this.doing, "wrong caller", `expected \`${wanted}\`, got ${JSON.stringify(result)}`);
    }
  }

  ask() {
    return this.call(this.client.canElicit ? "ask" : "sample", { expected: `: ${this.name}` });
  }

  async cancel() {
    const enough = new AbortController();
    const onprogress = () => {
      this.network.finish();
      enough.abort("enough");
    };
    let isAnswered = true;
    try {
      await this.call("endless", { onprogress, signal: enough.signal });
    } catch (error) {
      if (!enough.signal.aborted || this.network.failures.length > 0) throw error;
      isAnswered = false;
    }
    if (isAnswered) throw new Trouble("not cancelled", "there was an answer");
    await this.until(() => this.network.isIdle(), new Trouble("not cancelled", "its stream stays open"));
  }

  /** A call whose stream breaks and is resumed by the SDK, if it can: each step once, and one answer. */
  async resume() {
    if (this.client.resumesCalls) this.network.tear(between(2, 12));
    let last = 0;
    await this.call("steps", {
      onprogress: ({ progress }) => {
        if (progress !== last + 1) {
          this.fault("resume", progress > last ? "lost" : "doubled", `step ${progress} after ${last}`);
        }
        last = progress;
      },
    });
    if (last !== STEPS) this.fault("resume", "lost", `the answer came after step ${last}`);
  }

  async update() {
    if (this.client.isModern) await this.client.subscribe(this.uri);
    else await this.listen();
    const before = this.updates;
    await this.call("touch");
    await this.until(() => this.updates > before, new Trouble("missed", "an update did not come"));
  }

  /**
   * Waits for the stream with the session's updates. Some SDKs do not reconnect to a stream that broke before it had an
   * event; then a program has to open a new session.
   */
  async listen() {
    const missing = new Trouble("missed", "there is no stream");
    const isListening = () => this.network.isListening;
    try {
      await this.until(isListening, missing);
    } catch {
      await this.close();
      await this.open();
      await this.until(isListening, missing);
    }
  }

  /** Waits until a condition is true, for a limited time. */
  async until(happened, otherwise) {
    const began = Date.now();
    while (!happened()) {
      if (Date.now() - began > SOON) throw otherwise;
      await sleep(20);
    }
  }
}

const [url, ...wanted] = process.argv.slice(2);
const guests = wanted.flatMap((words) => {
  const [sdk, count] = words.split("=");
  return Array.from({ length: Number(count) }, (_, number) => new Guest(url, sdk, number));
});
await Promise.all(guests.map((guest) => guest.work()));
// Some SDKs leave timers running.
process.exit();

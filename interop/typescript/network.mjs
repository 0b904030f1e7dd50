// What one client's SDK sends and receives, seen from below: it knows which requests failed, and can tear a stream.
//
// Older SDKs take no `fetch` of their own, so the global one is replaced; each client is known by its token.

const networks = new Map();
const globalFetch = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const network = networks.get(new Headers(init?.headers).get("authorization"));
  return network ? network.fetch(input, init) : globalFetch(input, init);
};

export class Network {
  /** The streams that are open, each with the last id of its events. */
  #streams = new Set();
  /** Ids of the last events of calls that are over, and of streams that ended since the client began what it does. */
  #over = new Set();
  #ended = new Set();
  #tearAfter = 0;
  #calls = new AbortController();
  /** Ids of events of standing streams. */
  #standing = new Set();

  constructor(name) {
    networks.set(`Bearer ${name}`, this);
    /** What went wrong since the client began what it does. */
    this.failures = [];
    /** Whether the SDK comes back for the rest of a stream that breaks off. */
    this.resumesCalls = false;
  }

  /** The client begins something. */
  begin() {
    this.failures = [];
    this.#tearAfter = 0;
    this.#calls = new AbortController();
    this.finish();
    for (const last of this.#ended) this.#over.add(last);
    this.#ended.clear();
    for (const stream of this.#streams) {
      if (!stream.isStanding) this.#streams.delete(stream);
    }
  }

  /** The calls that run are over: no client comes back for the rest of their streams. */
  finish() {
    for (const stream of this.#streams) stream.isOver ||= !stream.isStanding;
  }

  /** Aborted when the SDK cannot get an answer any more, and would wait until its time is over. */
  given() {
    return this.#calls.signal;
  }

  /** Tears the next stream of a call after so many pieces. */
  tear(pieces) {
    this.#tearAfter = pieces;
  }

  /** Whether no stream of a call is open. */
  isIdle() {
    return ![...this.#streams].some((stream) => !stream.isStanding);
  }

  /** Whether the stream is open on which the session as a whole is told something. */
  get isListening() {
    return [...this.#streams].some((stream) => stream.isStanding);
  }

  async fetch(input, init = {}) {
    const { method = "GET", signal } = init;
    const headers = new Headers(init.headers);
    const last = headers.get("last-event-id");
    // Some SDKs resume a call that was cancelled. They take this for a server that has no such streams.
    if (last && this.#over.has(last)) return new Response(null, { status: 405 });
    const isListen = headers.get("mcp-method") === "subscriptions/listen";
    const isOfCall = method === "POST" ? !isListen : last !== null && !this.#standing.has(last);
    let response;
    try {
      response = await globalFetch(input, init);
    } catch (error) {
      // A stream is resumed again by the SDK itself.
      if (method !== "GET" && !signal?.aborted) this.#fail({ trouble: "broken", text: String(error.cause ?? error) });
      throw error;
    }
    if (!response.ok && (isOfCall || isListen || method === "DELETE")) this.#refused(response, method);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
    return this.#watched(response, { isStanding: !isOfCall, last }, signal);
  }

  #refused(response, method) {
    const { status } = response;
    const text = `${method} got ${status}`;
    const isToTryAgain = [429, 502, 503, 504].includes(status);
    if (status === 404) {
      this.#fail({ trouble: "no session", text });
    } else if (method !== "GET" && isToTryAgain) {
      this.#fail({ trouble: "refused", status, text });
    } else if (method === "GET" && status === 400) {
      // Nothing is kept of the stream.
      this.#fail({ trouble: "told", text });
    } else if (method === "POST" && status >= 500) {
      this.#fail({ trouble: "odd", text });
    }
  }

  #fail(failure) {
    this.failures.push(failure);
    this.#calls.abort(failure.text);
  }

  /** The same response. What comes on it is noted, and it breaks off if it is to. */
  #watched(response, stream, signal) {
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    this.#streams.add(stream);
    let left = stream.isStanding ? 0 : this.#tearAfter;
    if (left) this.#tearAfter = 0;
    const body = new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) {
            this.#end(stream, stream.isAnswered ? undefined : "the stream ended without an answer");
            controller.close();
            return;
          }
          const text = decoder.decode(value, { stream: true });
          stream.isAnswered ||= /"(result|error)":/.test(text);
          for (const [, id] of text.matchAll(/^id: ?(.+)$/gm)) {
            stream.last = id;
            if (stream.isStanding) this.#standing.add(id);
          }
          controller.enqueue(value);
          if (left && --left === 0) {
            this.#streams.delete(stream);
            reader.cancel().catch(() => {});
            controller.error(new TypeError("terminated"));
          }
        } catch (error) {
          this.#end(stream, signal?.aborted ? undefined : error);
          controller.error(error);
        }
      },
      cancel: (reason) => {
        this.#end(stream);
        return reader.cancel(reason);
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  }

  #end(stream, error) {
    this.#streams.delete(stream);
    if (!stream.isStanding && stream.last) (stream.isOver ? this.#over : this.#ended).add(stream.last);
    const isLost = error && !stream.isStanding && !stream.isOver;
    // Without an id no SDK comes back for the rest.
    if (isLost && !(this.resumesCalls && stream.last)) this.#fail({ trouble: "broken", text: String(error) });
  }
}

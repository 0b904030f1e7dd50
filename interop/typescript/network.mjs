// The network below one client's SDK. It records which requests failed, and can break a stream.
//
// Older SDKs do not accept a custom `fetch`, so the global one is replaced. Clients are identified by their tokens.

const networks = new Map();
const globalFetch = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const network = networks.get(new Headers(init?.headers).get("authorization"));
  return network ? network.fetch(input, init) : globalFetch(input, init);
};

export class Network {
  /** The open streams, each with its last event id. */
  #streams = new Set();
  /** The last event ids of finished calls, and of streams that ended during the current action. */
  #over = new Set();
  #ended = new Set();
  #tearAfter = 0;
  #calls = new AbortController();
  /** Ids of events on GET streams. */
  #standing = new Set();

  constructor(name) {
    networks.set(`Bearer ${name}`, this);
    /** The failures during the current action. */
    this.failures = [];
    /** Whether the SDK resumes broken streams. */
    this.resumesCalls = false;
  }

  /** The client starts an action. */
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

  /** Abandons the running calls: their streams must not be resumed. */
  finish() {
    for (const stream of this.#streams) stream.isOver ||= !stream.isStanding;
  }

  /** Aborted when the SDK can no longer get an answer, and would wait until its timeout. */
  given() {
    return this.#calls.signal;
  }

  /** Breaks the next stream of a call after this many pieces. */
  tear(pieces) {
    this.#tearAfter = pieces;
  }

  /** Whether no stream of a call is open. */
  isIdle() {
    return ![...this.#streams].some((stream) => !stream.isStanding);
  }

  /** Whether the session's GET stream is open. */
  get isListening() {
    return [...this.#streams].some((stream) => stream.isStanding);
  }

  async fetch(input, init = {}) {
    const { method = "GET", signal } = init;
    const headers = new Headers(init.headers);
    const last = headers.get("last-event-id");
    // Some SDKs resume cancelled calls. With this status they assume that the server has no GET streams.
    if (last && this.#over.has(last)) return new Response(null, { status: 405 });
    const isListen = headers.get("mcp-method") === "subscriptions/listen";
    const isOfCall = method === "POST" ? !isListen : last !== null && !this.#standing.has(last);
    let response;
    try {
      response = await globalFetch(input, init);
    } catch (error) {
      // The SDK itself retries to resume a stream.
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
      // The server has no events of this stream.
      this.#fail({ trouble: "told", text });
    } else if (method === "POST" && status >= 500) {
      this.#fail({ trouble: "odd", text });
    }
  }

  #fail(failure) {
    this.failures.push(failure);
    this.#calls.abort(failure.text);
  }

  /** The same response. Records its events, and breaks its stream if requested. */
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
    // Without an event id no SDK resumes the stream.
    if (isLost && !(this.resumesCalls && stream.last)) this.#fail({ trouble: "broken", text: String(error) });
  }
}

// Requests to the binary, with the token of this launch, and its stream of events.

import { print } from "./json.js";
import { parseLarge } from "./json-slices.js";

const KEPT_TOKEN = "turnbuckle.token";
/** Delays between attempts to reconnect to the binary, in ms. */
const AGAIN_AFTER = [250, 500, 1000, 2000, 5000];

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Partial<Failure> | null} error
   */
  constructor(status, error) {
    super(error?.message ?? `the inspector answered ${status}`);
    this.status = status;
    this.error = error;
  }
}

/** Moves the token from the address, where it is visible, into the storage of this tab. */
function takeToken() {
  const found = /(?:^#|[&?])token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEPT_TOKEN, decodeURIComponent(found[1]));
  const rest = location.hash.replace(/([#&?])token=[^&]+&?/, "$1").replace(/[#&?]$/, "");
  history.replaceState(null, "", location.pathname + rest);
}

// This runs before any module reads the address.
takeToken();

const headers = () => ({ authorization: `Bearer ${sessionStorage.getItem(KEPT_TOKEN) ?? ""}` });

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} the body of the answer
 */
async function request(method, path, body) {
  const isJson = body !== undefined;
  const response = await fetch(`/api/${path}`, {
    method,
    headers: isJson ? { ...headers(), "content-type": "application/json" } : headers(),
    body: isJson ? print(body) : undefined,
  });
  const text = await response.text();
  /** @type {any} */
  let value = null;
  try {
    value = text ? await parseLarge(text) : null;
  } catch {
    if (response.ok) throw new ApiError(response.status, { message: "the inspector's answer is not JSON" });
  }
  if (!response.ok) throw new ApiError(response.status, value?.error ?? value ?? { message: text });
  return value;
}

/** @param {string} path */
export const get = (path) => request("GET", path);
/**
 * @param {string} path
 * @param {unknown} body
 */
export const post = (path, body = {}) => request("POST", path, body);
/** @param {string} path */
export const remove = (path) => request("DELETE", path);

/**
 * The bytes of a file that the binary generates.
 *
 * @param {string} path
 * @param {unknown} body
 */
export async function file(path, body = {}) {
  const response = await fetch(`/api/${path}`, {
    method: "POST",
    headers: { ...headers(), "content-type": "application/json" },
    body: print(body),
  });
  if (!response.ok) throw new ApiError(response.status, null);
  return response.blob();
}

/**
 * Follows the stream of events for as long as the page is open, and reconnects when it breaks. `reload` reads the
 * current state and returns the id of the newest event in it. `react` gets one event at a time. `connected` gets each
 * change of the connection.
 *
 * @param {() => Promise<string | number>} reload
 * @param {(name: string, data: any) => unknown} react
 * @param {(how: "open" | "lost" | "refused") => void} connected
 */
export async function follow(reload, react, connected) {
  let last = "";
  let failures = 0;
  for (;;) {
    try {
      const known = await reload();
      connected("open");
      const response = await fetch(`/api/events?after=${encodeURIComponent(last || known)}`, { headers: headers() });
      if (!response.ok || !response.body) throw new ApiError(response.status, null);
      failures = 0;
      for await (const event of events(response.body)) {
        if (event.id) last = event.id;
        await react(event.name, event.data);
      }
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return connected("refused");
      // Every other error is handled in the same way: report it, wait, and try again.
    }
    connected("lost");
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER[Math.min(failures, AGAIN_AFTER.length - 1)]));
    failures += 1;
  }
}

/**
 * The events of a stream. An event may have megabytes, so no character is read twice.
 *
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // Pieces of an incomplete event.
  /** @type {string[]} */
  let kept = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const isEnd = value.startsWith("\n") && kept.at(-1)?.endsWith("\n");
    if (!isEnd && !value.includes("\n\n")) {
      kept.push(value);
      continue;
    }
    const text = kept.length ? kept.join("") + value : value;
    let from = 0;
    for (;;) {
      // The pieces before the newest one contain no end of an event.
      const end = text.indexOf("\n\n", from || Math.max(0, text.length - value.length - 1));
      if (end < 0) break;
      const event = await read(text, from, end);
      if (event) yield event;
      from = end + 2;
    }
    kept = from < text.length ? [text.slice(from)] : [];
  }
}

/**
 * @param {string} text
 * @param {number} from
 * @param {number} to
 */
async function read(text, from, to) {
  const event = { name: "message", id: "", data: null };
  const data = [];
  for (let at = from; at < to;) {
    const found = text.indexOf("\n", at);
    const end = found < 0 || found > to ? to : found;
    const colon = text.indexOf(":", at);
    if (colon > at && colon < end) {
      const field = text.slice(at, colon);
      const value = text.slice(colon + (text[colon + 1] === " " ? 2 : 1), end);
      if (field === "data") data.push(value);
      else if (field === "event") event.name = value;
      else if (field === "id") event.id = value;
    }
    at = end + 1;
  }
  if (!data.length) return null;
  event.data = await parseLarge(data.length === 1 ? data[0] : data.join("\n"));
  return event;
}

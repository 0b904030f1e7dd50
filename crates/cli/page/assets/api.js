// The binary behind the page: requests with the launch's token, and its stream of events.

import { parse, print } from "./json.js";

const KEPT_TOKEN = "turnbuckle.token";
/** Waits between attempts to reach the binary again, in ms. */
const AGAIN_AFTER = [250, 500, 1000, 2000, 5000];

export class ApiError extends Error {
  constructor(status, error) {
    super(error?.message ?? `the inspector answered ${status}`);
    this.status = status;
    this.error = error;
  }
}

/** Takes the token out of the address, where it would be seen, and keeps it for this tab. */
function takeToken() {
  const found = /(?:^#|[&?])token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEPT_TOKEN, decodeURIComponent(found[1]));
  const rest = location.hash.replace(/([#&?])token=[^&]+&?/, "$1").replace(/[#&?]$/, "");
  history.replaceState(null, "", location.pathname + rest);
}

// Before anything reads the address.
takeToken();

const headers = () => ({ authorization: `Bearer ${sessionStorage.getItem(KEPT_TOKEN) ?? ""}` });

async function request(method, path, body) {
  const init = { method, headers: headers() };
  if (body !== undefined) {
    init.headers["content-type"] = "application/json";
    init.body = print(body);
  }
  const response = await fetch(`/api/${path}`, init);
  const text = await response.text();
  let value = null;
  try {
    value = text ? parse(text) : null;
  } catch {
    if (response.ok) throw new ApiError(response.status, { message: "the inspector's answer is not JSON" });
  }
  if (!response.ok) throw new ApiError(response.status, value?.error ?? value ?? { message: text });
  return value;
}

export const get = (path) => request("GET", path);
export const post = (path, body = {}) => request("POST", path, body);
export const remove = (path) => request("DELETE", path);

/** The bytes of a file that the binary writes. */
export async function file(path) {
  const response = await fetch(`/api/${path}`, { method: "POST", headers: headers() });
  if (!response.ok) throw new ApiError(response.status, null);
  return response.blob();
}

/** Follows the events, for as long as the page lives. `connected` hears how that goes. */
export async function follow(react, connected) {
  let last = "";
  let failures = 0;
  for (;;) {
    try {
      const response = await fetch(`/api/events${last && `?after=${encodeURIComponent(last)}`}`, { headers: headers() });
      if (response.status === 401 || response.status === 403) return connected("refused");
      if (!response.ok) throw new ApiError(response.status, null);
      failures = 0;
      await connected(last ? "again" : "open");
      for await (const event of events(response.body)) {
        if (event.id) last = event.id;
        react(event.name, event.data);
      }
    } catch {
      // Whatever it was, the answer is the same: say so, wait, and ask again.
    }
    connected("lost");
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER[Math.min(failures, AGAIN_AFTER.length - 1)]));
    failures += 1;
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const end = value.lastIndexOf("\n");
    if (end < 0) {
      kept.push(value);
      continue;
    }
    // Only the piece after the last line break waits for more: a large event is joined once.
    kept.push(value.slice(0, end + 1));
    const text = kept.join("").replaceAll("\r\n", "\n");
    const whole = text.lastIndexOf("\n\n");
    kept = [text.slice(whole < 0 ? 0 : whole + 2), value.slice(end + 1)];
    if (whole < 0) continue;
    for (const block of text.slice(0, whole).split("\n\n")) {
      const event = read(block);
      if (event) yield event;
    }
  }
}

function read(block) {
  const event = { name: "message", id: "", data: null };
  const data = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    const field = line.slice(0, colon);
    if (field === "data") data.push(value);
    else if (field === "event") event.name = value;
    else if (field === "id") event.id = value;
  }
  if (!data.length) return null;
  event.data = parse(data.join("\n"));
  return event;
}

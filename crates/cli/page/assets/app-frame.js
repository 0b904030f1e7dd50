// An MCP App in a frame of another origin: it sees the call it belongs to, and may ask for more.

import { get } from "./api.js";
import { h } from "./element.js";
import { finish, state } from "./store.js";

/** The revision of the Apps extension that is spoken with the frame. */
const APPS = "2026-01-26";
/** What an app may ask of its server through the page. */
const PASSED_ON = new Set(["tools/call", "resources/read", "resources/list", "resources/templates/list", "prompts/list", "ping"]);
const TALLEST = 2000;

/** The frame of the app at `uri`, told of the call's arguments and result. */
export function openApp(exchange, uri) {
  const box = h("div.app", null, h("p.dim", null, `Opening ${uri} …`));
  get(`apps/${exchange.server}?uri=${encodeURIComponent(uri)}`).then(
    ({ url }) => box.replaceChildren(frame(url, exchange)),
    (error) => box.replaceChildren(h("p.problem", null, error.message)));
  return box;
}

function frame(url, exchange) {
  const origin = new URL(url).origin;
  const made = h("iframe", { src: url, sandbox: "allow-scripts allow-forms allow-same-origin", title: `App of ${exchange.object}`, referrerpolicy: "no-referrer" });
  // An app on our own origin could read the page; such a one is not shown.
  if (origin === location.origin) return h("p.problem", null, "The app is not on an origin of its own, and was not opened.");
  const send = (message) => made.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, origin);
  const hear = async (event) => {
    if (!made.isConnected) return removeEventListener("message", hear);
    if (event.source !== made.contentWindow || event.data?.jsonrpc !== "2.0") return undefined;
    return answer(event.data, { send, made, exchange });
  };
  addEventListener("message", hear);
  return made;
}

async function answer({ id, method, params }, { send, made, exchange }) {
  if (method === "ui/initialize") {
    return send({ id, result: {
      protocolVersion: APPS, hostInfo: { name: "turnbuckle", version: state.version },
      hostCapabilities: { serverTools: {}, serverResources: {} },
      hostContext: { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", displayMode: "inline" },
    } });
  }
  if (method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: exchange.params?.arguments ?? {} } });
    return send({ method: "ui/notifications/tool-result", params: exchange.result });
  }
  if (method === "ui/notifications/size-changed" && Number.isFinite(params?.height)) {
    made.style.height = `${Math.min(TALLEST, Math.max(40, params.height))}px`;
    return undefined;
  }
  if (id === undefined) return undefined;
  if (!PASSED_ON.has(method)) return send({ id, error: { code: -32601, message: `the inspector does not do \`${method}\`` } });
  const done = await finish(exchange.server, method, params ?? {});
  return send(done.result ? { id, result: done.result } : { id, error: { code: done.error?.code ?? -32603, message: done.error?.message ?? done.status } });
}

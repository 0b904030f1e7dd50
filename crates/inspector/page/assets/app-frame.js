// An MCP App in a frame of another origin. It gets its call's arguments and result, and may send requests.

import { get } from "./api.js";
import { announce, button, h, messageOf, time } from "./element.js";
import { asList, print } from "./json.js";
import { finish, state } from "./store.js";
import { isDestructive, mayDestroy } from "./subject.js";
import { theme } from "./theme.js";

/** The revision of the Apps extension. */
const APPS = "2026-01-26";
/** Methods that an app may call on its server through the page. */
const PASSED_ON = new Set([
  "tools/call",
  "resources/read",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
]);
/** The heights that a frame may ask for, in px. */
const [SHORTEST, TALLEST] = [40, 2000];
/** The most lines kept of an app's log. */
const MOST_SAID = 50;
/** The most questions of an app that may be open at once. */
const MOST_ASKED = 5;

/**
 * The frame of the app at `uri`. The app gets the call's arguments and result.
 *
 * @param {Exchange} exchange
 * @param {string} uri
 */
export function openApp(exchange, uri) {
  const box = h("div.app", null, h("p.dim", null, `Opening ${uri} …`));
  get(`apps/${exchange.server}?uri=${encodeURIComponent(uri)}`).then(
    (ready) => box.isConnected && box.replaceChildren(...new App(ready, exchange, uri).elements()),
    (error) => box.replaceChildren(h("p.problem", null, messageOf(error))),
  );
  return box;
}

/** @typedef {{ url: string, permissions?: string, prefers_border?: boolean, refused?: string[] }} Ready */
/** @typedef {string | number | undefined} Id of a request */
/** @typedef {{ id?: Id, method?: string, params?: any }} Message from the app; `params` depend on the method */

/**
 * Whether apps may call a tool. Without a `visibility`, they may.
 *
 * @param {Tool} tool
 */
function isForApps(tool) {
  const visibility = tool._meta?.ui?.visibility;
  return visibility === undefined || (Array.isArray(visibility) && visibility.includes("app"));
}

class App {
  /**
   * @param {Ready} ready
   * @param {Exchange} exchange
   * @param {string} uri
   */
  constructor({ url, permissions, prefers_border: hasBorder, refused = [] }, exchange, uri) {
    this.url = url;
    this.exchange = exchange;
    this.uri = uri;
    this.refused = refused;
    /** Tools that the user allowed this app to call. @type {Set<string>} */
    this.agreed = new Set();
    // Without `allow-same-origin` the app has an opaque origin, which no other app shares.
    this.frame = h(`iframe${hasBorder === false ? "" : ".bordered"}`, {
      src: url,
      sandbox: "allow-scripts allow-forms",
      allow: permissions || null,
      title: `App of ${exchange.object}`,
      referrerpolicy: "no-referrer",
    });
    this.said = h("ul.said.plainlist", { "aria-label": "What the app said" });
    this.asked = h("div.appasks", { role: "status" });
  }
  elements() {
    // An app on the page's own origin could read the page, so it is not shown.
    if (new URL(this.url).origin === location.origin) {
      return [h("p.problem", null, "The app is not on an origin of its own, and was not opened.")];
    }
    const hear = (/** @type {MessageEvent} */ event) => {
      if (!this.frame.isConnected) return removeEventListener("message", hear);
      // Its origin is opaque, so it is identified by its window.
      if (event.source !== this.frame.contentWindow || event.data?.jsonrpc !== "2.0") return undefined;
      return this.hear(event.data);
    };
    addEventListener("message", hear);
    const notAllowed = this.refused.length ? ` · not allowed: ${this.refused.join(", ")}` : "";
    return [
      h("p.dim.small", null, `${this.uri} · in a sandbox of its own origin${notAllowed}`),
      this.frame,
      this.asked,
      this.said,
    ];
  }
  /** @param {object} message */
  send(message) {
    // An opaque origin cannot be named as the target. The window cannot leave the sandbox's port.
    this.frame.contentWindow?.postMessage(JSON.parse(print({ jsonrpc: "2.0", ...message })), "*");
  }
  /** @param {Message} message */
  hear({ id, method, params }) {
    const act = ACTS[method ?? ""];
    if (act) return act(this, id, params ?? {});
    if (id === undefined || method === undefined) return undefined;
    if (PASSED_ON.has(method)) return this.passOn(id, method, params ?? {});
    return this.refuse(id, -32601, `the inspector does not support \`${method}\``);
  }
  /**
   * @param {Id} id
   * @param {number} code
   * @param {string} message
   */
  refuse(id, code, message) {
    this.send({ id, error: { code, message } });
  }
  /** @param {string} words */
  tell(words) {
    this.said.append(h("li", null, h("span.when", null, time(Date.now())), ` ${words}`));
    if (this.said.childElementCount > MOST_SAID) this.said.firstChild?.remove();
  }
  /**
   * Whether the app may call a tool. The tool must be visible to apps, and the user confirms each call of a destructive
   * tool. For a tool without annotations, the user confirms once for this app.
   *
   * @param {Id} id
   * @param {any} params of the call
   */
  async mayCall(id, params) {
    const tool = state.offers.get(this.exchange.server)?.tools.find((one) => one.name === params.name);
    if (!tool || !isForApps(tool)) {
      this.tell(`refused: ${tool ? "this tool is not for apps" : "the server has no tool with this name"}`);
      this.refuse(id, -32602, `the tool \`${params.name}\` is not for apps`);
      return false;
    }
    if (!mayDestroy(tool) || this.agreed.has(tool.name)) return true;
    if (await this.confirm(tool, params.arguments ?? {})) {
      if (!isDestructive(tool)) this.agreed.add(tool.name);
      return true;
    }
    this.refuse(id, -32000, "the user declined");
    return false;
  }
  /**
   * Shows a question, unless too many are open.
   *
   * @param {HTMLElement} question
   */
  ask(question) {
    if (this.asked.childElementCount >= MOST_ASKED) return false;
    this.asked.append(question);
    return true;
  }
  /**
   * Asks the user whether the app may call a tool that may be destructive.
   *
   * @param {Tool} tool
   * @param {any} values of the call
   * @returns {Promise<boolean>}
   */
  confirm(tool, values) {
    const { name } = tool;
    const why = isDestructive(tool)
      ? "says that it is destructive"
      : "may be destructive, because it does not say otherwise";
    return new Promise((answer) => {
      const question = h("div.elsewhere", { role: "group", "aria-label": `The app asks to call ${name}` });
      const done = (/** @type {boolean} */ isWanted) => {
        question.remove();
        answer(isWanted);
      };
      question.append(
        h("span.pill.asked", null, "the app asks"),
        "to call ",
        h("strong", null, name),
        `, which ${why}, with `,
        h("code", null, print(values, 0, 500).slice(0, 500)),
        button(isDestructive(tool) ? "Call" : "Allow in this app", () => done(true)),
        button("No", () => done(false)),
      );
      if (!this.ask(question)) answer(false);
      announce(`the app asks to call ${name}, which ${why}`);
    });
  }
  /**
   * @param {Id} id
   * @param {string} method
   * @param {any} params what the app asks for
   */
  async passOn(id, method, params) {
    this.tell(`${method} ${params.name ?? params.uri ?? ""}`);
    if (method === "tools/call" && !(await this.mayCall(id, params))) return;
    try {
      const { result, error, status } = await finish(this.exchange.server, method, params);
      if (result) this.send({ id, result });
      else this.refuse(id, error?.code ?? -32603, error?.message ?? status);
    } catch (error) {
      this.refuse(id, -32603, messageOf(error));
    }
  }
}

const isDark = () => (theme() === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme() === "dark");

/** @type {Record<string, (app: App, id: Id, params: any) => unknown>} */
const ACTS = {
  "ui/initialize": (app, id) =>
    app.send({
      id,
      result: {
        protocolVersion: APPS,
        hostInfo: { name: "turnbuckle", version: state.version },
        hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {} },
        hostContext: {
          theme: isDark() ? "dark" : "light",
          displayMode: "inline",
          availableDisplayModes: ["inline"],
          locale: navigator.language,
          platform: "web",
          toolInfo: { tool: { name: app.exchange.object } },
        },
      },
    }),
  "ui/notifications/initialized": (app) => {
    app.send({ method: "ui/notifications/tool-input", params: { arguments: app.exchange.params?.arguments ?? {} } });
    app.send({ method: "ui/notifications/tool-result", params: app.exchange.result });
  },
  "ui/notifications/size-changed": (app, _, { height }) => {
    if (Number.isFinite(height)) app.frame.style.height = `${Math.min(TALLEST, Math.max(SHORTEST, height))}px`;
  },
  "ui/open-link": (app, id, { url }) => {
    if (!/^https?:\/\//.test(url ?? "")) return app.refuse(id, -32602, "only web addresses are opened");
    const question = h("div.elsewhere");
    const done = (/** @type {() => void} */ answer) => {
      answer();
      question.remove();
    };
    // No link opens automatically: the user sees the host and clicks.
    question.append(
      h("span.pill.asked", null, "the app asks"),
      "to open ",
      h(
        "a",
        {
          href: url,
          target: "_blank",
          rel: "noopener noreferrer",
          onclick: () => done(() => app.send({ id, result: {} })),
        },
        new URL(url).host,
      ),
      button("No", () => done(() => app.refuse(id, -32000, "the user declined"))),
    );
    if (!app.ask(question)) return app.refuse(id, -32000, "too many questions wait for an answer");
    return announce("the app asks to open a link");
  },
  "ui/message": (app, id, { content }) => {
    const words = asList(content ?? []).map((block) => block.text ?? block.type);
    app.tell(`to the conversation: ${words.join(" ").slice(0, 500)}`);
    app.send({ id, result: {} });
  },
  "ui/update-model-context": (app, id, params) => {
    app.tell(`for the model: ${print(params.structuredContent ?? params.content ?? null, 0, 500).slice(0, 500)}`);
    app.send({ id, result: {} });
  },
  "ui/request-display-mode": (app, id) => app.send({ id, result: { mode: "inline" } }),
  "notifications/message": (app, _, { level, data }) =>
    app.tell(`${level ?? "log"}: ${print(data ?? null, 0, 300).slice(0, 300)}`),
  ping: (app, id) => app.send({ id, result: {} }),
};

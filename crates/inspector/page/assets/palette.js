// The command palette (Ctrl+K): finds servers, tools, prompts, resources, calls and actions.

import { post } from "./api.js";
import { focusOn, h, messageOf } from "./element.js";
import { MESSAGES } from "./rail.js";
import { go, place, set } from "./router.js";
import { state, touch } from "./store.js";
import { sift } from "./offer-list.js";
import { nextTheme } from "./theme.js";
import { label } from "./tile.js";
import "./virtual-list.js";

/** @typedef {ReturnType<typeof thing>} Thing */

/** The most entries shown at once. */
const MOST = 500;

/** Opens the palette. After a failed action, with its text and the error. */
export function openPalette(text = "", wrong = "") {
  if (document.querySelector("dialog[open]")) return;
  const back = document.activeElement;
  const all = things();
  const input = h("input.filter", {
    type: "text",
    "aria-label": "Search servers, tools and actions",
    placeholder:
      innerWidth < 480 ? "Search, or a URL" : "A server, a tool, an action; or a URL or command to connect to",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = document.createElement("tb-list").setup({
    label: "Found",
    height: 32,
    choose: (one) => act(one),
    draw: (one) =>
      h(
        "div.offer",
        null,
        h("span.name.cut", null, one.name),
        h("span.gist.cut", null, one.about),
        h("span.count", null, one.kind),
      ),
  });
  const problem = h("p.problem", { role: "alert" }, wrong);
  const dialog = h("dialog.palette", { "aria-label": "Search" }, input, problem, list);
  input.value = text;
  const close = () => dialog.close();
  const act = (/** @type {Thing} */ one) => {
    close();
    one.act();
  };
  const read = () => {
    const found = sift(all, input.value).slice(0, MOST);
    if (/^https?:\/\/|\s/.test(input.value.trim()) && input.value.trim()) found.push(adding(input.value.trim()));
    list.show(found);
    list.moveTo(0);
  };
  input.addEventListener("input", read);
  input.addEventListener("keydown", (event) => {
    if (["ArrowDown", "ArrowUp", "Enter", "PageDown", "PageUp"].includes(event.key)) list.key(event);
  });
  dialog.addEventListener("click", (event) => event.target === dialog && close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    focusOn(back);
  });
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
  read();
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {string | undefined} about
 * @param {() => unknown} act
 */
const thing = (kind, name, about, act) => ({
  kind,
  name,
  about,
  act,
  low: name.toLowerCase(),
  all: `${kind} ${about ?? ""}`.toLowerCase(),
});

/** @returns {Thing[]} */
function things() {
  const here = [...state.servers.values()].find((server) => server.name === place().server);
  const offer = state.offers.get(here?.id ?? "") ?? { tools: [], prompts: [], resources: [], resourceTemplates: [] };
  const line = (/** @type {string | undefined} */ text) => (text ?? "").split("\n", 1)[0].slice(0, 120);
  return [
    ...[...state.servers.values()].map((server) =>
      thing("server", label(server), server.target, () => go({ server: server.name, tab: "tools" })),
    ),
    ...["tools", "prompts", "resources", "tasks", "logs", "server"].map((tab) =>
      thing("tab", tab, `${tab} of ${here?.name ?? "the server"}`, () => go({ tab })),
    ),
    thing("action", "messages", "of this server", () => set("wire", place().query.has("wire") ? "" : "1")),
    thing("action", "all messages", "of all servers", () => go({ server: MESSAGES })),
    thing("action", "servers", "all servers", () => (location.hash = "#/")),
    thing("action", "add server", "by a command or a URL", () => (location.hash = "#/?add=1")),
    thing("action", "theme", "system, light or dark", nextTheme),
    ...offer.tools.map((tool) =>
      thing("tool", tool.name, line(tool.description), () => go({ tab: "tools", object: tool.name })),
    ),
    ...offer.prompts.map((prompt) =>
      thing("prompt", prompt.name, line(prompt.description), () => go({ tab: "prompts", object: prompt.name })),
    ),
    ...offer.resources.map((one) =>
      thing("resource", one.uri, one.name, () => go({ tab: "resources", object: one.uri })),
    ),
    ...offer.resourceTemplates.map((one) =>
      thing("template", one.uriTemplate, one.name, () => go({ tab: "resources", object: one.uriTemplate })),
    ),
  ];
}

/** @param {string} target */
function adding(target) {
  return thing("add", `connect to ${target}`, "adds a server to this page", async () => {
    const server = await post("servers", { target }).catch((error) => {
      openPalette(target, messageOf(error));
    });
    if (!server) return;
    // An event may already have delivered a newer state of this server.
    if (!state.servers.has(server.id)) state.servers.set(server.id, server);
    touch("servers", server.id);
    go({ server: server.name, tab: "tools" });
  });
}

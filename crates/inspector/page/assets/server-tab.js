// A server's own description, its connection, and the steps of authorization.

import { post, remove } from "./api.js";
import { View, button, focusOn, h, messageOf, span, time } from "./element.js";
import { failure } from "./failure.js";
import { about, prose } from "./prose.js";
import { state, touch } from "./store.js";
import { condition, label, tile } from "./tile.js";
import { tree } from "./tree.js";

/** @type {Record<string, string>} */
const PILLS = { ok: "done" };
const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

export class ServerTab extends View {
  /** @type {string} */
  server;
  /** @type {string | undefined} the revision to connect with */
  pinned;
  /** @param {{ server: string }} options */
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    this.className = "page";
    this.watch("servers", (keys) => keys.has(this.server) && this.draw());
    this.watch("changes", () => this.draw());
    this.watch("stderr", (keys) => {
      const shown = this.querySelector(".stderr");
      if (!keys.has(this.server)) return;
      if (shown) shown.textContent = (state.servers.get(this.server)?.stderr ?? []).join("\n");
      else this.draw();
    });
    this.draw();
  }
  draw() {
    const server = state.servers.get(this.server);
    if (!server) return;
    const [look, word] = condition(server);
    const { activeElement: active } = document;
    const focused = active instanceof HTMLElement ? active.dataset.keep : undefined;
    this.replaceChildren(
      h(
        "div.serverhead",
        null,
        tile(server, { dot: true }),
        h("h1", null, label(server)),
        h(`span.pill.${PILLS[look] ?? look}`, null, word),
        server.status === "open" ? h("span.dim", null, sentence(server)) : "",
      ),
      server.error ? failure(server.error) : "",
      this.controls(server),
      h(
        "div.sections",
        null,
        section("About", facts(server)),
        isRemote(server) ? section("Authorization", this.authorization(server)) : "",
        server.instructions ? section("Instructions", prose(server.instructions)) : "",
        server.capabilities ? section("Capabilities", tree(server.capabilities, { search: false })) : "",
        section("Changes", changes(this.server)),
        server.stderr?.length
          ? section(
              "Standard error",
              h(
                "pre.text.stderr",
                { tabindex: "0", role: "log", "aria-label": "Standard error" },
                server.stderr.join("\n"),
              ),
            )
          : "",
      ),
    );
    if (focused) focusOn(this.querySelector(`[data-keep="${focused}"]`));
  }
  /** @param {Server} server */
  controls(server) {
    const pin = h(
      "select",
      { "aria-label": "Revision", "data-keep": "pin" },
      h("option", { value: "" }, "Any revision"),
      REVISIONS.map((one) => h("option", { value: one }, one)),
    );
    pin.value = this.pinned ?? "";
    pin.addEventListener("change", () => (this.pinned = pin.value));
    const act =
      (/** @type {string} */ path, /** @type {() => object} */ body = () => ({})) =>
      async () => {
        try {
          // The result arrives as events, possibly before the response.
          await post(`servers/${server.id}/${path}`, body());
        } catch (error) {
          this.append(h("p.problem", { role: "alert" }, messageOf(error)));
        }
      };
    return h(
      "div.actions",
      null,
      pin,
      button(
        server.status === "open" ? "Restart" : server.status === "failed" ? "Retry" : "Connect",
        act("connect", () => (this.pinned ? { revision: this.pinned } : {})),
        { look: server.status === "open" ? "plain" : "main", "data-keep": "connect" },
      ),
      server.status === "open" ? button("Stop", act("close"), { "data-keep": "close" }) : null,
      button(
        "Remove from this list",
        async () => {
          await remove(`servers/${server.id}`);
          state.servers.delete(server.id);
          touch("servers", server.id);
        },
        { "data-keep": "remove" },
      ),
    );
  }
  /**
   * @param {Server} server
   * @returns {Child[]}
   */
  authorization(server) {
    const steps = state.auth.get(server.id) ?? [];
    return [
      steps.length
        ? h(
            "ol.steps",
            null,
            steps.map((step) =>
              h(
                "li",
                null,
                h(
                  `span.pill.${{ doing: "running", done: "done", failed: "failed", missing: "cancelled" }[step.state]}`,
                  null,
                  step.state === "missing" ? "not there" : step.state,
                ),
                h("span", null, step.step),
                detail(step.detail),
                step.url && step.state === "doing" ? link(step.url) : "",
              ),
            ),
          )
        : h("p.dim", null, "No authorization has taken place."),
      h(
        "div.actions",
        null,
        button(
          "Sign in",
          () =>
            post(`servers/${server.id}/login`).catch((error) =>
              this.append(h("p.problem", { role: "alert" }, messageOf(error))),
            ),
          { "data-keep": "login" },
        ),
        button("Sign out", () => post(`servers/${server.id}/logout`).catch(() => {}), { "data-keep": "logout" }),
      ),
    ];
  }
}
customElements.define("tb-server", ServerTab);

/** @param {Field} given */
function detail(given) {
  if (given === null || given === undefined) return "";
  return typeof given === "string" ? h("span.dim.detail", null, given) : tree(given, { search: false });
}

/**
 * A link to the page for signing in. It shows the host and opens only on a click.
 *
 * @param {string} url
 */
function link(url) {
  if (!/^https?:\/\//.test(url)) return h("code", null, url);
  return h("a.plain", { href: url, target: "_blank", rel: "noopener noreferrer" }, `Sign in at ${new URL(url).host}`);
}

/** Only remote servers have a sign-in. */
const isRemote = (/** @type {Server} */ server) => /^https?:\/\//.test(server.target);

const section = (/** @type {string} */ name, /** @type {Child[]} */ ...body) =>
  h("section", null, h("h2", null, name), body);

/**
 * A sentence about the connection.
 *
 * @param {Server} server
 */
export function sentence(server) {
  if (server.status !== "open") return server.error?.message ?? condition(server)[1];
  return [
    server.revision,
    server.transport?.replace("Streamable ", ""),
    server.latencyMs !== null && server.latencyMs !== undefined ? span(Number(server.latencyMs)) : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {Server} server */
function facts(server) {
  const info = server.info ?? {};
  /** @type {[string, string | undefined][]} */
  const rows = [
    ["name", info.name],
    ["title", info.title],
    ["version", info.version],
    ["description", info.description],
    ["website", info.websiteUrl],
    ["target", server.target],
    ["known from", server.source],
  ];
  return h(
    "dl.given",
    null,
    rows
      .filter(([, value]) => value)
      .flatMap(([name, value]) => [
        h("dt", null, name),
        h("dd", null, name === "description" ? about(String(value)) : String(value)),
      ]),
  );
}

/** @param {string} id */
function changes(id) {
  const own = state.changes
    .filter((change) => change.server === id)
    .slice(-20)
    .reverse();
  if (!own.length) return h("p.dim", null, "No changes yet.");
  return h(
    "ul.plainlist",
    null,
    own.map((change) =>
      h(
        "li",
        null,
        h("span.when", null, time(change.time)),
        ` ${change.kind === "missed" ? "some changes were missed" : change.kind} ${change.uri ?? ""}`,
      ),
    ),
  );
}

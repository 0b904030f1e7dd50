// The page: its head, its tabs, and what stands below them.

import { askElement, askWords } from "./ask.js";
import { View, button, focusOn, h, messageOf } from "./element.js";
import { icon } from "./icon.js";
import { failure } from "./failure.js";
import { listenToKeys, openHelp } from "./keys.js";
import { openPalette } from "./palette.js";
import { post } from "./api.js";
import { asList, same } from "./json.js";
import { address, go, onPlace, place, set } from "./router.js";
import { sentence } from "./server-tab.js";
import { open, state } from "./store.js";
import { subject } from "./subject.js";
import { applyTheme, nextTheme, theme } from "./theme.js";
import "./logs-tab.js";
import "./offer-list.js";
import "./panel.js";
import "./tasks-tab.js";
import "./welcome.js";
import "./wire.js";

const TABS = [
  ["tools", "Tools", "tool"],
  ["prompts", "Prompts", "prompt"],
  ["resources", "Resources", "resource"],
  ["tasks", "Tasks", "task"],
  ["logs", "Logs", "log"],
  ["server", "Server", "server"],
];
const LISTED = new Set(["tools", "prompts", "resources"]);

/**
 * The connection in words; where there is little room, the revision alone.
 *
 * @param {string} words
 */
function connection(words) {
  const [first, ...rest] = words.split(" · ");
  return h("span", null, first, h("span.more", null, rest.map((one) => ` · ${one}`).join("")));
}

/**
 * What to call a server: what it calls itself, and its name where another has the same title.
 *
 * @param {Server} server
 */
function label(server) {
  const titleOf = (/** @type {Server} */ one) => one.info?.title || one.name;
  const others = [...state.servers.values()].filter((one) => one.id !== server.id);
  const title = titleOf(server);
  return others.some((one) => titleOf(one) === title) && title !== server.name ? `${title} · ${server.name}` : title;
}

/**
 * Whether there is something to look at: the server is there, or was until it broke down.
 *
 * @param {Server | null} server
 */
const isShown = (server) =>
  server !== null && (server.status === "open" || (server.status !== "closed" && state.offers.has(server.id)));

class Page extends View {
  /** @type {HTMLElement} */
  head;
  /** @type {HTMLElement} */
  nav;
  /** @type {HTMLElement} */
  waiting;
  /** @type {HTMLElement} */
  main;
  /** @type {HTMLElement} */
  drawer;
  /** @type {HTMLElement} */
  grip;
  /** @type {HTMLElement | undefined} */
  panelPlace;
  /** @type {string | null | undefined} what `main` shows */
  mainKey;
  /** @type {string | null | undefined} what the panel shows */
  panelKey;
  /** @type {string | null | undefined} the server whose wire is open */
  drawerKey;
  start() {
    this.head = h("header");
    this.nav = h("nav", { "aria-label": "Tabs" });
    this.waiting = h("section.waitingbar", { "aria-label": "Waiting for you" });
    this.main = h("main");
    this.drawer = h("section.drawer", { hidden: true, "aria-label": "Wire" });
    this.append(this.head, this.nav, this.waiting, this.main, this.drawer);
    this.watch("servers", () => this.draw());
    this.watch("offers", () => this.draw());
    this.watch("connection", () => this.draw());
    this.watch("wire", () => this.drawCount());
    this.watch("asks", () => this.drawWaiting());
    onPlace((now, before) => this.moved(now, before));
    this.drag();
    this.draw();
  }
  get server() {
    const all = [...state.servers.values()];
    return all.find((server) => server.name === place().server || server.id === place().server) ?? null;
  }
  draw() {
    if (!place().server && state.servers.size) {
      const all = [...state.servers.values()];
      // Where none was asked for, all are listed.
      const first = all.find((server) => server.status !== "closed") ?? (all.length === 1 ? all[0] : null);
      if (first) {
        history.replaceState(null, "", address({ server: first.name }));
        dispatchEvent(new PopStateEvent("popstate"));
        return;
      }
    }
    this.drawHead();
    this.drawNav();
    this.drawWaiting();
    this.drawMain();
    this.drawDrawer();
  }
  /**
   * @param {import("./router.js").Place} now
   * @param {import("./router.js").Place} before
   */
  moved(now, before) {
    if (now.server !== before.server) return this.draw();
    this.drawNav();
    if (now.tab !== before.tab || now.object !== before.object) {
      this.drawMain(before.object !== "" && now.object === "");
    }
    this.drawDrawer();
    return undefined;
  }
  drawHead() {
    const { server } = this;
    const { activeElement: active } = document;
    const isChoosing = active?.matches("select") && this.head.contains(active);
    if (isChoosing) return;
    /** @type {HTMLSelectElement} */
    const select = h(
      "select.servers",
      {
        "aria-label": "Server",
        onchange: () => (select.value ? go({ server: select.value, tab: place().tab }) : openPalette()),
      },
      server ? null : h("option", { value: "", disabled: true }, "Choose a server"),
      [...state.servers.values()].map((one) => h("option", { value: one.name }, label(one))),
      h("option", { value: "" }, "Connect to another…"),
    );
    select.value = server?.name ?? "";
    const isLost = state.connection !== "open";
    const word = isLost
      ? state.connection === "refused"
        ? "this page's token is not valid: open the address that turnbuckle printed"
        : "the inspector does not answer; trying again"
      : server?.isDown
        ? "the server does not answer"
        : server
          ? sentence(server)
          : "no server";
    this.head.replaceChildren(
      h("h1.outside", null, server ? label(server) : "turnbuckle"),
      h("a.brand", { href: address({ tab: "tools" }) }, "turnbuckle"),
      h("span.pick", null, select, icon("down")),
      h(
        `span.state.${isLost || server?.isDown ? "failed" : (server?.status ?? "closed")}`,
        { role: "status" },
        h("i", { "aria-hidden": "true" }),
        isLost || server?.isDown || server?.status !== "open"
          ? h("span", null, word.replaceAll("`", ""))
          : connection(word),
      ),
      h("span.spring"),
      button("Search", () => openPalette(), {
        picture: "search",
        look: "bare.find",
        "aria-keyshortcuts": "Control+K",
        title: "Search (Ctrl+K)",
      }),
      button("Wire", () => set("wire", place().query.has("wire") ? "" : "1"), {
        picture: "wire",
        look: "bare.wiretoggle",
        "aria-pressed": String(place().query.has("wire")),
        title: "Wire (w)",
      }),
      button("Theme", nextTheme, { picture: "theme", quiet: true, look: "bare", "data-theme-word": true }),
      button("Help", openHelp, { picture: "help", quiet: true, look: "bare.helptoggle" }),
    );
    this.head.querySelector("[data-theme-word]")?.setAttribute("title", `Theme: ${theme()}`);
    this.drawCount();
  }
  drawCount() {
    const toggle = this.head.querySelector(".wiretoggle span");
    const id = this.server?.id;
    const count = state.wire.reduce((sum, row) => sum + Number(row.server === id), 0);
    if (toggle) toggle.textContent = count ? `Wire ${count}` : "Wire";
  }
  drawNav() {
    const { server } = this;
    const offer = state.offers.get(server?.id ?? "");
    /** @type {Record<string, number | undefined>} */
    const counts = {
      tools: offer?.tools.length,
      prompts: offer?.prompts.length,
      resources: offer && offer.resources.length + offer.resourceTemplates.length,
    };
    const isWire = place().query.has("wire");
    const { activeElement: active } = document;
    const focused = active instanceof HTMLElement && this.nav.contains(active) ? active.dataset.tab : null;
    this.nav.replaceChildren(
      ...TABS.map(([id, word, picture]) =>
        h(
          "a",
          {
            href: address({ tab: id, query: { wire: innerWidth < 900 ? "" : place().query.get("wire") } }),
            "data-tab": id,
            "aria-current": place().tab === id && !(isWire && innerWidth < 900) ? "page" : null,
          },
          icon(picture),
          h("span", null, word.slice(0, 3), h("span.rest", null, word.slice(3))),
          counts[id] ? h("span.count", null, String(counts[id])) : null,
        ),
      ),
      h(
        "a.onlynarrow",
        {
          href: address({ object: place().object, query: { wire: "1" } }),
          "data-tab": "wire",
          "aria-current": isWire ? "page" : null,
        },
        icon("wire"),
        h("span", null, "Wire"),
      ),
    );
    if (focused) focusOn(this.nav.querySelector(`[data-tab="${focused}"]`));
  }
  drawWaiting() {
    const here = place();
    const shown = [...state.asks.values()].filter((ask) => {
      const call = state.exchanges.get(ask.exchange);
      return !(call && call.object === here.object && document.querySelector("tb-run")?.n === call.n);
    });
    const bars = /** @type {HTMLElement[]} */ ([...this.waiting.children]);
    for (const one of bars) if (!shown.some((ask) => ask.id === one.dataset.ask)) one.remove();
    for (const ask of shown) {
      if (bars.some((one) => one.dataset.ask === ask.id)) continue;
      const call = state.exchanges.get(ask.exchange);
      const server = state.servers.get(ask.server);
      const body = call
        ? h(
            "div.elsewhere",
            null,
            h("span.pill.asked", null, "waiting for you"),
            h(
              "a",
              { href: address({ server: server?.name, tab: "tools", object: call.object, query: { run: call.n } }) },
              `${call.object ?? call.method} asks you something`,
            ),
          )
        : // Nothing says which call it belongs to: it waits in a line, and opens above the work when somebody wants to
          // answer.
          h(
            "details",
            null,
            h(
              "summary",
              null,
              h("span.pill.asked", null, "waiting for you"),
              h("span", null, `${server?.name ?? ask.server} asks: ${askWords(ask)}`),
            ),
            askElement(ask),
          );
      this.waiting.append(h("div", { "data-ask": ask.id }, body));
    }
    this.drawTrouble();
  }
  /** Says that the server broke down, above what it had to offer. */
  drawTrouble() {
    const { server } = this;
    const isBroken = server !== null && server.status !== "open" && isShown(server);
    const shown = this.waiting.querySelector(".trouble");
    if (!isBroken || server.status === "connecting") return shown?.remove();
    const words = server.error?.message ?? "the server is gone";
    if (shown?.getAttribute("data-words") === words) return undefined;
    shown?.remove();
    return this.waiting.prepend(
      h(
        "div.trouble",
        { role: "alert", "data-words": words },
        h(
          "div.elsewhere",
          null,
          h("span.pill.failed", null, server.status),
          h("span", null, `${label(server)}: ${words}`),
          button("Restart", () => this.connect(server), { look: "main" }),
        ),
      ),
    );
  }
  /** @param {Server} server */
  connect(server) {
    return post(`servers/${server.id}/connect`).catch((error) =>
      this.main.append(h("p.problem", { role: "alert" }, messageOf(error))),
    );
  }
  drawMain(isBack = false) {
    const { server } = this;
    const { tab, object } = place();
    document.title = `${object || tab} · ${server ? label(server) : "turnbuckle"}`;
    const looks = isShown(server) ? "shown" : server ? server.status : this.homeKey;
    const key = `${server?.id} ${looks} ${tab} ${state.offers.has(server?.id ?? "")}`;
    this.main.dataset.object = object ? "yes" : "no";
    if (key !== this.mainKey) {
      this.mainKey = key;
      this.panelKey = null;
      this.main.className = LISTED.has(tab) && isShown(server) ? "listed" : "single";
      this.main.replaceChildren(...asList(this.body(server, tab)));
    }
    if (server && LISTED.has(tab) && this.panelPlace?.isConnected) this.drawPanel(this.panelPlace, server, tab, object);
    if (isBack) this.main.querySelector("tb-list")?.focus();
  }
  /**
   * @param {Server | null} server
   * @param {string} tab
   * @returns {HTMLElement | HTMLElement[]}
   */
  body(server, tab) {
    if (!server && state.connection === "refused") {
      return h(
        "div.page",
        null,
        h("h1", null, "The key of this page is not valid"),
        h("p", null, "Open the address that turnbuckle printed when it started."),
      );
    }
    if (!server && !place().server && state.servers.size) return this.home();
    if (!server) {
      return h(
        "div.page",
        null,
        h("h1", null, "No server"),
        h(
          "p",
          null,
          place().server
            ? `There is no server named “${place().server}”.`
            : "Connect to one with Ctrl+K: type a URL or a command.",
        ),
        h(
          "div.actions",
          null,
          button("Connect to a server", () => openPalette(), { look: "main" }),
        ),
      );
    }
    const options = { server: server.id, tab };
    if (tab === "server") return document.createElement("tb-server").setup(options);
    if (!isShown(server)) return this.dead(server);
    if (tab === "tasks") return document.createElement("tb-tasks").setup(options);
    if (tab === "logs") return document.createElement("tb-logs").setup(options);
    if (!LISTED.has(tab)) return h("div.page", null, h("h1", null, "No such tab"));
    this.panelPlace = h("div.panelplace");
    return [document.createElement("tb-offers").setup(options), this.panelPlace];
  }
  /** What the list of servers shows. */
  get homeKey() {
    const all = [...state.servers.values()].map((one) => `${one.id} ${one.status} ${label(one)}`);
    return `${state.connection} ${all.join(" ")}`;
  }
  /** All servers, each to be connected to. */
  home() {
    const row = (/** @type {Server} */ server) =>
      h(
        "li",
        null,
        h(
          "div.elsewhere",
          null,
          h("a", { href: address({ server: server.name, tab: "tools" }) }, label(server)),
          h("code.dim", null, server.target),
          button("Connect", () => this.connect(server).then(() => go({ server: server.name, tab: "tools" }))),
        ),
        h("p.dim.small", null, server.source),
      );
    return h(
      "div.page",
      null,
      h("h1", null, "Servers"),
      h("ul.plainlist", { "aria-label": "Servers" }, [...state.servers.values()].map(row)),
    );
  }
  /** @param {Server} server */
  dead(server) {
    const retry = () => this.connect(server);
    return h(
      "div.page",
      null,
      h("h1", null, label(server)),
      h("p", null, h(`span.pill.${server.status === "failed" ? "failed" : "running"}`, null, server.status)),
      server.error ? failure(server.error) : h("p.dim", null, server.target),
      server.status === "connecting"
        ? null
        : h(
            "div.actions",
            null,
            button(server.status === "failed" ? "Retry" : "Connect", retry, { look: "main" }),
            h("a", { href: address({ tab: "server" }) }, "More about this server"),
          ),
    );
  }
  /**
   * @param {HTMLElement} panelPlace
   * @param {Server} server
   * @param {string} tab
   * @param {string} object
   */
  drawPanel(panelPlace, server, tab, object) {
    const key = `${server.id} ${tab} ${object}`;
    const offer = state.offers.get(server.id);
    const found = subject(server, offer, tab, object);
    const shown = panelPlace.querySelector("tb-panel");
    // A list that was read again changes nothing for a tool that is the same.
    if (key === this.panelKey && same(shown?.subject.item ?? null, found?.item ?? null)) return undefined;
    this.panelKey = key;
    if (!object) {
      return panelPlace.replaceChildren(document.createElement("tb-welcome").setup({ server: server.id, tab }));
    }
    const back = h(
      "div.back.onlynarrow",
      null,
      h("a", { href: address({}) }, icon("left"), TABS.find(([id]) => id === tab)?.[1]),
      h("code", { "aria-hidden": "true" }, object),
    );
    const panel = found
      ? document.createElement("tb-panel").setup({ server, subject: found })
      : h("p.empty", null, offer ? `The server no longer offers “${object}”.` : "Reading what the server offers…");
    return panelPlace.replaceChildren(back, panel);
  }
  drawDrawer() {
    const server = place().query.has("wire") ? this.server : null;
    const isOpen = server !== null;
    this.classList.toggle("wired", isOpen);
    this.head.querySelector(".wiretoggle")?.setAttribute("aria-pressed", String(isOpen));
    if ((server?.id ?? null) === this.drawerKey) return;
    this.drawerKey = server?.id ?? null;
    this.drawer.hidden = !isOpen;
    this.drawer.replaceChildren(
      ...(server ? [this.grip, document.createElement("tb-wire").setup({ server: server.id })] : []),
    );
  }
  /** The edge of the drawer moves with the pointer and with the arrow keys, and is remembered. */
  drag() {
    const KEPT = "turnbuckle.drawer";
    const size = (/** @type {number} */ wanted) => {
      const bounded = Math.max(15, Math.min(70, wanted));
      this.style.setProperty("--drawer", `${bounded}%`);
      this.grip.setAttribute("aria-valuenow", String(Math.round(bounded)));
      localStorage.setItem(KEPT, String(bounded));
      return bounded;
    };
    this.grip = h("div.grip", {
      role: "separator",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": "Height of the wire",
      "aria-valuemin": "15",
      "aria-valuemax": "70",
      "aria-valuenow": "35",
    });
    let share = size(Number(localStorage.getItem(KEPT)) || 35);
    this.grip.addEventListener("pointerdown", (event) => this.grip.setPointerCapture(event.pointerId));
    this.grip.addEventListener("pointermove", (event) => {
      if (this.grip.hasPointerCapture(event.pointerId)) {
        share = size(((innerHeight - event.clientY) / innerHeight) * 100);
      }
    });
    this.grip.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 5, ArrowDown: -5 }[event.key];
      if (step) share = size(share + step);
    });
  }
}
customElements.define("tb-page", Page);

applyTheme();
listenToKeys();
await open();
document.getElementById("app")?.replaceWith(Object.assign(document.createElement("tb-page"), { id: "app" }));

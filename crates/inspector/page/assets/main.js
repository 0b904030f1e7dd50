// The page: the rail, the bar with the tabs, the line of open questions, and the current view.

import { View, button, focusOn, h, isNarrow, messageOf } from "./element.js";
import { applyFavicon, icon } from "./icon.js";
import { failure } from "./failure.js";
import { listenToKeys, openHelp } from "./keys.js";
import { openPalette } from "./palette.js";
import { post } from "./api.js";
import { asList, same } from "./json.js";
import { GATEWAY, MESSAGES, dock, isView, rail } from "./rail.js";
import { renew } from "./renew.js";
import { address, onPlace, place, set } from "./router.js";
import { sentence } from "./server-tab.js";
import { open, state } from "./store.js";
import { subject } from "./subject.js";
import { applyTheme } from "./theme.js";
import { condition, label, tile } from "./tile.js";
import "./gateway.js";
import "./home.js";
import "./logs-tab.js";
import "./offer-list.js";
import "./panel.js";
import "./questions-tab.js";
import "./tasks-tab.js";
import "./waiting-line.js";
import "./welcome.js";
import "./wire.js";

const TABS = [
  ["tools", "Tools"],
  ["prompts", "Prompts"],
  ["resources", "Resources"],
  ["tasks", "Tasks"],
  ["logs", "Logs"],
  ["server", "Server"],
];
const LISTED = new Set(["tools", "prompts", "resources"]);
/** @type {Record<string, "tb-server" | "tb-tasks" | "tb-logs" | "tb-questions">} */
const ELEMENTS = { server: "tb-server", tasks: "tb-tasks", logs: "tb-logs", questions: "tb-questions" };

/**
 * Whether a server can be shown: it is connected, or it was and its lists are still known.
 *
 * @param {Server | null} server
 */
const isShown = (server) => server !== null && (server.status === "open" || state.offers.has(server.id));

class Page extends View {
  /** @type {HTMLElement} */
  rail;
  /** @type {HTMLElement} */
  head;
  /** @type {HTMLElement} */
  main;
  /** @type {HTMLElement} */
  drawer;
  /** @type {HTMLElement} */
  dock;
  /** @type {HTMLElement} */
  grip;
  /** @type {HTMLElement | undefined} */
  panelPlace;
  /** @type {string | null | undefined} the key of the view in `main` */
  mainKey;
  /** @type {string | null | undefined} the key of the shown panel */
  panelKey;
  /** @type {string | null | undefined} the server whose messages are open */
  drawerKey;
  start() {
    this.rail = h("nav.rail", { "aria-label": "Servers and views" });
    this.head = h("header.top");
    const waiting = document.createElement("tb-waiting").setup((server) => this.connect(server));
    this.main = h("main");
    this.drawer = h("section.drawer", { hidden: true, "aria-label": "Messages" });
    this.dock = h("nav.dock", { "aria-label": "Views" });
    this.append(this.rail, this.head, waiting, this.main, this.drawer, this.dock);
    for (const topic of ["servers", "offers", "connection", "gateway"]) this.watch(topic, () => this.draw());
    this.watch("wire", () => this.drawCount());
    // The bar shows the number of tasks.
    this.watch("exchanges", (keys) => [...keys].some((n) => state.exchanges.get(Number(n))?.taskId) && this.drawHead());
    onPlace((now, before) => this.moved(now, before));
    this.drag();
    this.draw();
  }
  get server() {
    const all = [...state.servers.values()];
    return all.find((server) => server.name === place().server || server.id === place().server) ?? null;
  }
  draw() {
    if (!location.hash && state.connection !== "refused") {
      // The address names no place: open the first server that is not closed, or else the list of all servers.
      const first = [...state.servers.values()].find((server) => server.status !== "closed");
      history.replaceState(null, "", first ? address({ server: first.name }) : "#/");
      if (first) {
        dispatchEvent(new PopStateEvent("popstate"));
        return;
      }
    }
    this.drawFrame();
    this.drawMain();
    this.drawDrawer();
  }
  /** The rail, the bar and the dock. */
  drawFrame() {
    keepFocus(this.rail, () => renew(this.rail, rail(this.server)));
    renew(this.dock, dock(this.server));
    this.drawHead();
  }
  /**
   * @param {import("./router.js").Place} now
   * @param {import("./router.js").Place} before
   */
  moved(now, before) {
    if (now.server !== before.server) return this.draw();
    const isOther = now.tab !== before.tab || now.object !== before.object;
    if (isOther || now.query.get("wire") !== before.query.get("wire")) this.drawFrame();
    if (isOther) this.drawMain(before.object !== "" && now.object === "");
    this.drawDrawer();
    return undefined;
  }
  drawHead() {
    const { server } = this;
    // The other views have their own bar.
    this.head.hidden = !server;
    if (!server) return;
    const { object, tab } = place();
    keepFocus(this.head, () =>
      renew(this.head, [
        h(
          "div.line",
          null,
          object && LISTED.has(tab)
            ? h(
                "a.back.onlynarrow",
                { href: address({ object: "", query: { wire: "" } }), "aria-label": `Back to the ${tab}` },
                icon("left"),
              )
            : null,
          tile(server),
          this.who(server),
        ),
        this.views(server),
        h("span.spring"),
        h(
          "div.line.tight",
          null,
          this.search(),
          this.toggle(),
          button("Help", openHelp, { picture: "help", quiet: true, look: "bare.helptoggle" }),
        ),
      ]),
    );
  }
  toggle() {
    const made = button("Messages", () => set("wire", place().query.has("wire") ? "" : "1"), {
      picture: "messages",
      look: "bare.wiretoggle",
      "aria-pressed": String(place().query.has("wire")),
      title: "Messages of this server (w)",
    });
    this.drawCount(made);
    return made;
  }
  search() {
    const made = button("Search", () => openPalette(), {
      picture: "search",
      look: "bare.find",
      "aria-keyshortcuts": "Control+K",
      title: "Search (Ctrl+K)",
    });
    made.querySelector("span")?.classList.add("words");
    made.append(h("kbd", null, "Ctrl K"));
    return made;
  }
  /** @param {Server} server */
  who(server) {
    const [look, word] = condition(server);
    const isLost = state.connection !== "open";
    const words = isLost
      ? state.connection === "refused"
        ? "this page's token is not valid: open the address that turnbuckle printed"
        : "the inspector does not answer; trying again"
      : look === "ok"
        ? sentence(server)
        : server.isDown
          ? "the server does not answer"
          : word;
    return h(
      "div.who.serverid",
      null,
      h("h1.cut", { title: server.target }, label(server)),
      h(
        `p.state.${look === "ok" ? "open" : look}`,
        { role: "status" },
        h(`i.dot.${look}`, { "aria-hidden": "true" }),
        h("span.cut", null, words),
      ),
    );
  }
  /** @param {Server} server */
  views(server) {
    const offer = state.offers.get(server.id);
    const tasks = [...state.exchanges.values()].filter((call) => call.server === server.id && call.taskId);
    /** @type {Record<string, number | undefined>} */
    const counts = {
      tools: offer?.tools.length,
      prompts: offer?.prompts.length,
      resources: offer && offer.resources.length + offer.resourceTemplates.length,
      tasks: tasks.length,
    };
    return h(
      "nav.views",
      { "aria-label": label(server) },
      TABS.map(([id, word]) =>
        h(
          "a",
          {
            href: address({ tab: id, query: { wire: isNarrow() ? "" : place().query.get("wire") } }),
            "data-tab": id,
            "aria-current": place().tab === id ? "page" : null,
          },
          h("span", null, word),
          counts[id] ? h("span.count", null, String(counts[id])) : null,
        ),
      ),
    );
  }
  drawCount(toggle = this.head.querySelector(".wiretoggle")) {
    const id = this.server?.id;
    const count = state.wire.reduce((sum, row) => sum + Number(row.server === id), 0);
    toggle
      ?.querySelector("span")
      ?.replaceChildren(h("span.words", null, "Messages"), " ", h("span.count", null, String(count)));
  }
  /** @param {Server} server */
  connect(server) {
    return post(`servers/${server.id}/connect`).catch((error) =>
      this.main.append(h("p.problem", { role: "alert" }, messageOf(error))),
    );
  }
  drawMain(isBack = false) {
    const { server } = this;
    const { tab, object, server: name } = place();
    const view = name === MESSAGES ? "Messages" : name === GATEWAY ? "Gateway" : "Servers";
    document.title = server ? `${object || tab} · ${label(server)}` : `${view} · Turnbuckle`;
    const looks = isShown(server) ? "shown" : server ? `${server.status} ${server.error?.message}` : "";
    const key = `${server?.id ?? name} ${looks} ${tab} ${state.offers.has(server?.id ?? "")} ${state.connection}`;
    this.main.dataset.object = object ? "yes" : "no";
    if (key !== this.mainKey) {
      this.mainKey = key;
      this.panelKey = null;
      this.main.className = server ? (LISTED.has(tab) && isShown(server) ? "listed" : "single") : "view";
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
    if (!server) return this.view();
    const options = { server: server.id, tab };
    if (tab === "server") return document.createElement("tb-server").setup(options);
    if (!isShown(server)) return this.dead(server);
    if (Object.hasOwn(ELEMENTS, tab)) return document.createElement(ELEMENTS[tab]).setup(options);
    if (!LISTED.has(tab)) return h("div.page", null, h("h1", null, "No such tab"));
    this.panelPlace = h("div.panelplace");
    return [document.createElement("tb-offers").setup(options), this.panelPlace];
  }
  /** The views that do not belong to a server. */
  view() {
    if (state.connection === "refused") {
      return h(
        "div.page",
        null,
        h("h1", null, "The key of this page is not valid"),
        h("p", null, "Open the address that turnbuckle printed when it started."),
      );
    }
    const { server } = place();
    if (server === GATEWAY && state.gateway) {
      return document.createElement(place().tab === "messages" ? "tb-gateway-messages" : "tb-gateway");
    }
    if (server === MESSAGES) return document.createElement("tb-wire").setup({ server: null });
    if (server === GATEWAY) {
      return h(
        "div.page",
        null,
        h("h1", null, "No gateway here"),
        h("p", null, "Start one with ", h("code", null, "turnbuckle up"), " and open the page that it prints."),
      );
    }
    if (server && !isView(server)) {
      return h(
        "div.page",
        null,
        h("h1", null, "No such server"),
        h("p", null, `There is no server named “${server}”.`),
        h("p", null, h("a", { href: "#/" }, "All servers")),
      );
    }
    return document.createElement("tb-home").setup((one) => this.connect(one));
  }
  /** @param {Server} server */
  dead(server) {
    const { blocked } = server;
    const [look, word] = condition(server);
    return h(
      "div.page",
      null,
      h("h1", null, label(server)),
      h("p", null, h(`span.pill.${look}`, null, word)),
      server.error ? failure(server.error) : h("p", null, h("code.dim", null, server.target)),
      server.status === "connecting"
        ? null
        : h(
            "div.actions",
            null,
            blocked
              ? h("a.plain", { href: "#/" }, "All servers")
              : button(server.status === "failed" ? "Retry" : "Connect", () => this.connect(server), { look: "main" }),
            h("a.plain", { href: address({ tab: "server" }) }, "More about this server"),
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
    // An unchanged tool is not drawn again when its list was read again.
    if (key === this.panelKey && same(shown?.subject.item ?? null, found?.item ?? null)) return undefined;
    this.panelKey = key;
    if (!object) {
      return panelPlace.replaceChildren(document.createElement("tb-welcome").setup({ server: server.id, tab }));
    }
    return panelPlace.replaceChildren(
      found
        ? document.createElement("tb-panel").setup({ server, subject: found })
        : h("p.empty", null, offer ? `The server no longer offers “${object}”.` : "Reading what the server offers…"),
    );
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
  /** Lets the user resize the drawer with the pointer and the arrow keys. The size is remembered. */
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
      "aria-label": "Height of the messages",
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

/**
 * Draws a part again and restores the focus.
 *
 * @param {HTMLElement} part
 * @param {() => void} draw
 */
function keepFocus(part, draw) {
  const { activeElement: active } = document;
  const keyOf = (/** @type {Element} */ one) => one.getAttribute("href") ?? one.className;
  const key = active && part.contains(active) ? keyOf(active) : null;
  draw();
  if (key !== null) focusOn([...part.querySelectorAll("a, button")].find((one) => keyOf(one) === key));
}

applyTheme();
applyFavicon();
listenToKeys();
await open();
document.getElementById("app")?.replaceWith(Object.assign(document.createElement("tb-page"), { id: "app" }));

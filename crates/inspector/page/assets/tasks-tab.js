// Calls that became tasks: their states, how long the server keeps them, and their actions.

import { View, button, h, span } from "./element.js";
import { failure } from "./failure.js";
import { renew } from "./renew.js";
import { address } from "./router.js";
import { finish, start, state } from "./store.js";
import { keptFor } from "./task-time.js";
import { tree } from "./tree.js";

export class TasksTab extends View {
  /** @type {string} */
  server;
  /** @type {Map<string, Task>} by id */
  known = new Map();
  /** @param {{ server: string }} options */
  setup({ server }) {
    this.server = server;
    return this;
  }
  start() {
    this.className = "page";
    this.watch("exchanges", () => this.draw());
    const timer = setInterval(() => this.tick(), 1000);
    this.stopped = () => clearInterval(timer);
    this.draw();
    this.readList();
  }
  async readList() {
    const server = state.servers.get(this.server);
    if (!server?.capabilities?.tasks?.list) return;
    const done = await finish(this.server, "tasks/list", {}).catch(() => null);
    const { tasks = [] } = /** @type {{ tasks?: Task[] }} */ (done?.result ?? {});
    for (const task of tasks) this.known.set(task.taskId ?? "", task);
    this.draw();
  }
  draw() {
    const calls = [...state.exchanges.values()]
      .filter((call) => call.server === this.server && call.taskId && !call.method.startsWith("tasks/"))
      .sort((one, other) => other.n - one.n);
    for (const call of state.exchanges.values()) {
      if (call.method === "tasks/get" && call.server === this.server && call.result) {
        this.known.set(String(call.params?.taskId), /** @type {Task} */ (call.result.task ?? call.result));
      }
    }
    const ids = [...new Set([...calls.map((call) => call.taskId ?? ""), ...this.known.keys()])];
    renew(this, [
      h("h1", null, "Tasks"),
      ids.length
        ? h(
            "ul.tasks",
            null,
            ids.map((id) =>
              this.row(
                id,
                calls.find((call) => call.taskId === id),
              ),
            ),
          )
        : h(
            "p.dim",
            null,
            "No tasks yet. A tool that can run as a task is marked “task”: tick “as a task” beside its button, ",
            "or the server decides.",
          ),
    ]);
    this.tick();
  }
  /**
   * @param {string} id
   * @param {Exchange | undefined} call
   */
  row(id, call) {
    const task = newest(this.known.get(id), call?.task);
    // A cancelled call shows as cancelled before the server reports it.
    const status = call?.status === "cancelled" ? "cancelled" : (task?.status ?? call?.status ?? "unknown");
    const left = keptFor(task);
    const ends = left === null ? null : Date.now() + left;
    const act = (/** @type {string} */ method, /** @type {object} */ params) => () =>
      start(this.server, method, params).catch(() => {});
    return h(
      "li",
      { "data-key": id },
      h(
        "div.line",
        null,
        h(`span.pill.${lookOf(status)}`, null, status),
        call
          ? h("a", { href: address({ tab: "tools", object: call.object, query: { run: call.n } }) }, call.object)
          : null,
        h("code", null, id),
        h("span.dim.ttl", ends ? { "data-ends": ends } : null),
      ),
      task?.statusMessage ? h("p", null, task.statusMessage) : null,
      h(
        "div.actions",
        null,
        button("Refresh", act("tasks/get", { taskId: id })),
        /complet|done|fail|cancel/.test(status) ? null : button("Cancel task", act("tasks/cancel", { taskId: id })),
        state.servers.get(this.server)?.era === "legacy" ? button("Result", act("tasks/result", { taskId: id })) : null,
      ),
      call?.error ? failure(call.error) : null,
      task ? h("details", null, h("summary", null, "The whole task"), tree(task, { search: false })) : null,
    );
  }
  tick() {
    for (const place of this.querySelectorAll(".ttl[data-ends]")) {
      if (!(place instanceof HTMLElement)) continue;
      const left = Number(place.dataset.ends) - Date.now();
      place.textContent = left > 0 ? `kept for ${span(left)}` : "no longer kept";
    }
  }
}
customElements.define("tb-tasks", TasksTab);

/** The style of a status, in either revision's terms. */
function lookOf(/** @type {string} */ status) {
  if (/fail|cancel/.test(status)) return "failed";
  if (/complet|done/.test(status)) return "done";
  return /input|ask/.test(status) ? "asked" : "running";
}

/**
 * @param {Task | null | undefined} one
 * @param {Task | null | undefined} other
 */
function newest(one, other) {
  if (!one || !other) return one ?? other;
  return Date.parse(one.lastUpdatedAt ?? "") > Date.parse(other.lastUpdatedAt ?? "") ? one : other;
}

// A call: its form on the left, its run on the right.

import { post } from "./api.js";
import { View, button, copyButton, h, isNarrow, messageOf, plural, span, tabs, time } from "./element.js";
import { commandLine } from "./command-line.js";
import { parse, print } from "./json.js";
import { brief, description } from "./prose.js";
import { onPlace, place, set } from "./router.js";
import { callsOf, start, state, touch } from "./store.js";
import { hasSecret } from "./schema-form.js";
import { tree } from "./tree.js";
import "./run.js";

/** Longer arguments are not put into the address. */
const LONGEST_IN_ADDRESS = 4000;
/** The pause in typing after which the binary checks the arguments, in ms. */
const CHECK_AFTER = 300;
/** The arguments that were typed, by object, until the page is closed. */
/** @type {Map<string, unknown>} */
const typed = new Map();
const session = { runsDestructive: false };

export class Panel extends View {
  /** @type {Server} */
  server;
  /** @type {Subject} */
  subject;
  /** @type {string} */
  key;
  /** @type {string} form, json, schema or history */
  view = "form";
  /** @type {import("./schema-form.js").SchemaForm} */
  form;
  /** @type {HTMLElement} */
  tabsPlace;
  /** @type {HTMLElement} */
  formPlace;
  /** @type {HTMLElement} */
  line;
  /** @type {HTMLButtonElement} */
  runButton;
  /** @type {HTMLButtonElement} */
  attention;
  /** @type {HTMLButtonElement} */
  anyway;
  /** @type {HTMLElement} the current actions */
  acts;
  /** @type {HTMLElement} the progress of the running call */
  running;
  /** @type {HTMLElement} */
  confirm;
  /** @type {HTMLInputElement | null} */
  asTask;
  /** @type {HTMLElement} */
  side;
  /** @type {import("./run.js").Run | undefined} */
  runView;
  /** @type {Change | undefined} the last change after which the resource was read again */
  seen;
  /** Whether there were arguments before the user typed. */
  hasArguments = false;
  /** @type {unknown} the arguments that the binary checked last */
  checked;
  /** @type {number | undefined} the number of calls shown in the tabs */
  shownCount;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @param {{ server: Server, subject: Subject }} options */
  setup({ server, subject }) {
    this.server = server;
    this.subject = subject;
    this.key = `${server.id} ${subject.method} ${subject.name}`;
    return this;
  }
  start() {
    if (this.form) return;
    const { subject } = this;
    const query = place().query;
    this.view = query.get("view") ?? "form";
    const first = this.firstValue(query);
    this.hasArguments = first !== undefined;
    this.form = document.createElement("tb-form").setup({
      schema: subject.schema,
      value: first,
      view: this.view === "json" ? "json" : "form",
      complete: subject.complete,
      changed: () => this.changed(),
    });
    this.build();
    this.watch("exchanges", () => {
      this.drawHistory();
      this.drawFoot();
    });
    this.stopped = onPlace((now, before) => this.moved(now, before));
    const wanted = Number(query.get("run"));
    const last = callsOf(this.server.id, subject.method, subject.object ?? this.object)[0]?.n;
    this.showRun(wanted || last);
    this.changed(true);
  }
  /** @param {URLSearchParams} query */
  firstValue(query) {
    try {
      const given = query.get("args");
      if (given !== null) return parse(given);
    } catch {
      // The address was cut off: start with the arguments that were typed.
    }
    return typed.get(this.key);
  }
  /**
   * A link or a pasted address has other arguments or another run.
   *
   * @param {import("./router.js").Place} now
   * @param {import("./router.js").Place} before
   */
  moved(now, before) {
    if (!this.isConnected || now.object !== before.object) return;
    const given = now.query.get("args");
    if (given && given !== before.query.get("args") && given !== print(this.form.value)) {
      const value = this.firstValue(now.query);
      if (value !== undefined) this.form.set(value);
    }
    const run = now.query.get("run");
    if (run && run !== before.query.get("run")) this.showRun(Number(run));
  }
  get object() {
    return this.subject.object ?? this.subject.uri?.(this.form.value);
  }
  build() {
    const { subject } = this;
    this.tabsPlace = h("div");
    this.formPlace = h("div.formplace");
    this.line = h("code.command", { tabindex: "0", role: "region", "aria-label": "The same on the command line" });
    this.runButton = button(subject.act, () => this.run(), { look: "main", "aria-keyshortcuts": "Control+Enter" });
    this.runButton.append(h("kbd", null, "Ctrl Enter"));
    this.attention = button("", () => this.form.focusFirst(), { look: "link.problems", hidden: true });
    this.anyway = button("Send anyway", () => this.run("anyway"), {
      title: "Sends it as it is, to see what the server says",
      look: "bare",
    });
    this.confirm = h("div.confirm", { role: "alert" });
    this.asTask = subject.task
      ? h("input", { type: "checkbox", checked: subject.task === "required", disabled: subject.task === "required" })
      : null;
    this.side = h("section.side.column", { "aria-label": "Result" });
    this.acts = h(
      "div.actions",
      null,
      this.runButton,
      this.attention,
      this.asTask ? h("label.check", null, this.asTask, "as a task") : null,
      this.watching(),
      h("span.spring"),
      this.anyway,
    );
    this.running = h("div.stack", { hidden: true });
    const form = h(
      "section.callform.column",
      { "aria-label": "Call" },
      h(
        "div.scroll",
        null,
        h(
          "h1",
          null,
          h("code", null, brief(subject.name)),
          subject.marks.map(([look, word]) => h(`span.pill.${look}`, null, word)),
        ),
        subject.title && subject.title !== subject.name ? h("p.title", null, brief(subject.title)) : null,
        subject.description ? h("div.description", null, description(subject.description)) : null,
        subject.about ? h("p.dim.small", null, subject.about) : null,
        this.tabsPlace,
        this.formPlace,
      ),
      h(
        "footer.foot",
        null,
        this.confirm,
        h(
          "div.commandline",
          null,
          h("code", { "aria-hidden": "true" }, "$"),
          this.line,
          copyButton("Copy command line", () => this.line.textContent, { quiet: true, look: "bare" }),
        ),
        this.running,
        this.acts,
      ),
    );
    this.replaceChildren(form, this.side);
    this.drawView();
  }
  /** While the shown call runs, the bar shows its progress and a button to cancel it. */
  drawFoot() {
    const call = this.runView?.isConnected ? this.runView.exchange : undefined;
    const isOpen = Boolean(call && !call.ended);
    this.acts.hidden = isOpen;
    if (this.running.hidden !== isOpen && !isOpen) return;
    this.running.hidden = !isOpen;
    if (!call || !isOpen) return;
    const progress = advance(call);
    const known = this.running.querySelector(".advance");
    if (known) return void known.replaceWith(progress);
    const cancel = button("Cancel call", () => this.runView?.cancel(), { "aria-keyshortcuts": "Escape" });
    cancel.append(h("kbd", null, "Esc"));
    this.running.replaceChildren(
      progress,
      h("div.actions", null, cancel, h("span.dim.small", null, "You can change the arguments for the next call.")),
    );
  }
  watching() {
    const { subject, server } = this;
    const uriOf = subject.uri;
    if (!uriOf || !server.capabilities?.resources?.subscribe) return null;
    /** @type {Set<string>} */
    const watched = state.watched.get(server.id) ?? new Set();
    const box = h("input", { type: "checkbox", checked: subject.isFixed && watched.has(uriOf({})) });
    box.addEventListener("change", async () => {
      const uri = uriOf(this.form.value);
      if (box.checked) watched.add(uri);
      else watched.delete(uri);
      state.watched.set(server.id, watched);
      await post(`servers/${server.id}/listen`, {
        tools: true,
        prompts: true,
        resources: true,
        uris: [...watched],
      }).catch((error) => (this.confirm.textContent = messageOf(error)));
      touch("changes", server.id);
    });
    this.watch("changes", () => {
      const latest = state.changes.findLast(
        (change) => change.server === server.id && change.kind === "resource" && change.uri === uriOf(this.form.value),
      );
      if (latest && latest !== this.seen && box.checked) {
        this.seen = latest;
        this.run();
      }
    });
    return h("label.check", { title: "Reads it again when it changes" }, box, "Subscribe");
  }
  drawView() {
    const count = this.calls().length;
    /** @type {[string, string, number?][]} */
    const choices = [
      ["form", "Form"],
      ["json", "JSON"],
      ["schema", "Schema"],
      ["history", "History", count],
    ];
    if (this.subject.isFixed) choices.splice(0, 3, ["form", "Read"]);
    else if (this.subject.method !== "tools/call") choices.splice(2, 1);
    this.tabsPlace.replaceChildren(
      tabs("Arguments", choices, this.view, (view) => {
        this.view = view;
        set("view", view === "form" ? "" : view);
        if (view === "form" || view === "json") this.form.see(view);
        this.drawView();
      }),
    );
    this.shownCount = count;
    if (this.view === "history") this.formPlace.replaceChildren(this.history());
    else if (this.view === "schema") this.formPlace.replaceChildren(this.schemas());
    else if (this.formPlace.firstChild !== this.form) this.formPlace.replaceChildren(this.form);
  }
  /** The schemas of a tool as the server sent them. */
  schemas() {
    const tool = /** @type {Tool} */ (this.subject.item);
    const part = (/** @type {string} */ words, /** @type {unknown} */ schema) =>
      schema === undefined ? null : h("section", null, h("h2.kind", null, words), tree(schema));
    return h(
      "div.schemaview",
      null,
      part("Input", tool.inputSchema ?? {}),
      part("Output", tool.outputSchema),
      part("Annotations", tool.annotations),
    );
  }
  calls() {
    return callsOf(this.server.id, this.subject.method, this.object);
  }
  drawHistory() {
    if (this.view === "history" || this.shownCount !== this.calls().length) this.drawView();
  }
  history() {
    const calls = this.calls();
    if (!calls.length) return h("p.dim", null, "Not called yet.");
    return h(
      "ul.history",
      null,
      calls.slice(0, 100).map((call) =>
        h(
          "li",
          null,
          h(
            "button.bare.past",
            {
              type: "button",
              onclick: () => this.reuse(call),
              "aria-current": call.n === this.runView?.n ? "true" : null,
            },
            h(
              `span.pill.${call.result?.isError ? "failed" : call.status}`,
              null,
              call.result?.isError ? "tool failed" : call.status,
            ),
            h(
              "span.dim.nums",
              null,
              `${time(call.started)}, ${span(Math.max(0, (call.ended ?? Date.now()) - call.started))}`,
            ),
            h("code", null, print(this.subject.values(call.params) ?? call.params, 0, 120).slice(0, 120)),
          ),
        ),
      ),
    );
  }
  /** @param {Exchange} call */
  reuse(call) {
    const values = this.subject.values(call.params);
    if (values) this.form.set(values);
    this.showRun(call.n);
    this.drawView();
  }
  changed(isFirst = false) {
    const { subject, form, server } = this;
    typed.set(this.key, form.value);
    this.line.title = this.line.textContent = commandLine(
      server,
      subject.verb,
      subject.verb === "read" ? this.object : subject.name,
      subject.verb === "read" ? null : form.value,
      subject.schema,
    );
    this.drawButton();
    // Arguments from the address or from before are checked at once.
    if (isFirst) return void (this.hasArguments && this.check());
    this.confirm.replaceChildren();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), CHECK_AFTER);
  }
  async settle() {
    if (!this.isConnected) return;
    const { subject, form } = this;
    const text = print(form.value);
    set("args", text.length > LONGEST_IN_ADDRESS || hasSecret(subject.schema) ? "" : text);
    await this.check();
  }
  /** Lets the binary check the arguments against the whole schema, if the page finds no problem. */
  async check() {
    const { subject, form, server } = this;
    const asked = form.value;
    if (subject.method !== "tools/call" || this.checked === asked || form.draft || form.problems.length) return;
    const { problems } = await post(`servers/${server.id}/check`, { tool: subject.name, arguments: asked }).catch(
      () => ({ problems: [] }),
    );
    if (form.value !== asked) return;
    this.checked = asked;
    if (!problems) return;
    form.further = problems;
    form.mark();
    this.drawButton();
  }
  drawButton() {
    const { form } = this;
    const problems = form.problems;
    const isShown = form.touched || problems.some((problem) => !problem.isMissing);
    const verb = problems.length === 1 ? "needs" : "need";
    this.attention.textContent = `${plural(problems.length, "field")} ${verb} attention`;
    this.attention.hidden = !(problems.length && isShown);
    this.anyway.hidden = !(problems.length && isShown) || Boolean(form.draft);
  }
  /** @param {"anyway" | "confirmed"} [how] */
  async run(how) {
    const { form, subject, server } = this;
    const { value } = form;
    if (!how) await this.check();
    if (form.problems.length && how !== "anyway" && how !== "confirmed") {
      form.focusFirst();
      this.drawButton();
      return;
    }
    if (subject.isDestructive && !session.runsDestructive && how !== "confirmed") {
      this.askFirst();
      return;
    }
    this.confirm.replaceChildren();
    const more = this.asTask?.checked ? { task: true } : {};
    try {
      const n = await start(server.id, subject.method, subject.params(value), more);
      set("run", String(n));
      this.showRun(n);
      // On a narrow page the run is below the form.
      if (isNarrow()) this.side.scrollIntoView({ block: "start" });
    } catch (error) {
      this.confirm.replaceChildren(h("p.problem", null, messageOf(error)));
    }
  }
  askFirst() {
    const never = h("input", { type: "checkbox" });
    const yes = button(
      `Call ${this.subject.name}`,
      () => {
        session.runsDestructive = never.checked;
        this.run("confirmed");
        this.runButton.focus();
      },
      { look: "danger" },
    );
    const no = button("Do not call", () => {
      this.confirm.replaceChildren();
      this.runButton.focus();
    });
    this.confirm.replaceChildren(
      h(
        "div.box",
        null,
        h("p", null, h("code", null, this.subject.name), " is marked as destructive. It is called with:"),
        h("pre.text", { tabindex: "0" }, print(this.form.value, 2, 2000)),
        h("div.actions", null, yes, no, h("label.check", null, never, "Do not ask again until the page is closed")),
      ),
    );
    yes.focus();
  }
  /** @param {number | undefined} n */
  showRun(n) {
    const previous = this.runView?.n;
    if (!n) {
      this.side.replaceChildren(
        h(
          "p.empty",
          null,
          "The answer appears here.",
          h("span.onlykeys", null, ` ${this.subject.act} with Ctrl+Enter.`),
        ),
      );
      this.drawFoot();
      return;
    }
    if (previous === n && this.runView?.isConnected) return;
    this.runView = document
      .createElement("tb-run")
      .setup({ n, look: place().query.get("look") ?? "content", app: this.subject.app, previous });
    this.side.replaceChildren(this.runView);
    this.drawFoot();
    touch("asks", n);
  }
}
customElements.define("tb-panel", Panel);

/**
 * The progress of a running call.
 *
 * @param {Exchange} call
 */
function advance({ progress, status, started }) {
  const isPaused = status === "asked";
  if (!progress) {
    return h(
      "div.advance",
      null,
      h("span.dim", null, isPaused ? "Waiting for your answer" : "No progress reported yet"),
    );
  }
  const total = Number(progress.total);
  const done = Number(progress.progress);
  const hasTotal = progress.total !== undefined && progress.total !== null;
  const elapsed = Date.now() - started;
  const words = [
    hasTotal ? `${done} of ${total}` : done > 0 ? String(done) : null,
    isPaused ? "paused" : elapsed > 500 && done > 0 ? `${(done / (elapsed / 1000)).toFixed(1)} a second` : null,
  ];
  return h(
    "div.advance",
    null,
    h(
      "div.line",
      null,
      h("span.cut", null, progress.message ?? "Progress"),
      h("span.spring"),
      h("span.dim.nums", null, words.filter(Boolean).join(", ")),
    ),
    h("progress", {
      "aria-label": "Progress of the call",
      ...(total > 0 ? { max: total, value: Math.min(done, total) } : {}),
    }),
  );
}

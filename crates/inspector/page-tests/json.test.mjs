// The page's modules that need no browser.

import { claim, end } from "./claim.mjs";
import { Digits, parse, print } from "../page/assets/json.js";
import { initial, shape } from "../page/assets/schema.js";
import { expand, variables } from "../page/assets/uri-template.js";
import { validate } from "../page/assets/validate.js";
import { wireFilter } from "../page/assets/wire-filter.js";
import { commandLine } from "../page/assets/command-line.js";
import { parseLarge } from "../page/assets/json-slices.js";
import { everything } from "./fake-offer.mjs";
import { put } from "./put-document.mjs";

put();
const { looksMarked, markdown } = await import("../page/assets/markdown.js");
/** @returns {import("./put-document.mjs").Element} */
const drawn = (text) => /** @type {any} */ (markdown(text));

await claim("numbers keep their digits", (assert) => {
  for (const text of [
    "9007199254740993",
    "1.0",
    "1e400",
    "-0",
    "0.1",
    "12345678901234567890.5",
    '{"a":[1.50,{"b":1E5}]}',
  ]) {
    assert.equal(print(parse(text)), text);
  }
  assert.ok(parse("9007199254740993") instanceof Digits);
  assert.equal(parse("42"), 42);
});
await claim("invalid JSON is an error with a position", (assert) => {
  for (const text of ["", "{", "[1,]", "01", "nul", '"\n"', '{"a" 1}', "1 2", '"\\x"', "1.", "+1"]) {
    assert.throws(() => parse(text), /line \d+, column \d+/, text);
  }
  assert.throws(() => parse("[".repeat(5000)), /levels/);
});
await claim("strings and odd keys survive", (assert) => {
  const text = '{"__proto__":1.0,"constructor":"\\u0000\\n\\ud83d","é":"\\"\\\\"}';
  assert.equal(print(parse(text)), text);
  assert.equal({}.polluted, undefined);
});
await claim("printing stops at its limit", (assert) => {
  const value = { rows: Array.from({ length: 100_000 }, (_, index) => index) };
  assert.ok(print(value, 2, 1000).length < 1100);
});
await claim("problems name their field", (assert) => {
  const value = { who: "A", target: { kind: "point", lat: 91, lon: 1 }, tree: { value: 1, children: [{}] } };
  const problems = validate({ ...value, big: parse("9007199254740993.5") }, everything);
  assert.deepEqual(problems.map((one) => one.path).sort(), ["/big", "/target/lat", "/tree/children/0/value", "/who"]);
});
await claim("large integers are compared by their digits", (assert) => {
  const schema = { type: "integer", maximum: parse("9007199254740993") };
  assert.equal(validate(parse("9007199254740993"), schema).length, 0);
  assert.equal(validate(parse("9007199254740994"), schema).length, 1);
});
await claim("schemas become the right kinds of fields", (assert) => {
  const kind = (schema) => shape(schema, everything).kind;
  assert.deepEqual(Object.values(everything.properties ?? {}).map(kind), [
    "string",
    "union",
    "nullable",
    "enum",
    "enum",
    "array",
    "integer",
    "boolean",
    "string",
    "string",
    "string",
    "map",
    "object",
    "any",
  ]);
  assert.equal(kind({ $ref: "#" }), "object");
  assert.equal(kind({ oneOf: [{ const: "a" }, { const: null }] }), "nullable");
  assert.equal(kind({ $ref: "#/$defs/none" }), "any");
  const loop = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
  assert.equal(shape({ $ref: "#/$defs/a" }, loop).kind, "any");
  const endless = { type: "object", required: ["next"], properties: { next: { $ref: "#" } } };
  assert.ok(initial(endless, endless));
});
await claim("the wire's filter understands its words", (assert) => {
  /** @type {WireRow} */
  const row = {
    seq: 1,
    server: "s1",
    time: 0,
    method: "tools/call",
    object: "echo",
    kind: "request",
    status: "200",
    ms: 150,
    bytes: 2000,
    exchange: 7,
    direction: "out",
  };
  for (const text of [
    "",
    "method:tools",
    "echo",
    ">100ms",
    "<1s",
    ">1kb",
    "call:7",
    "-ping",
    "method:tools -ping >100ms",
  ]) {
    assert.ok(wireFilter(text)(row), text);
  }
  for (const text of ["ping", "-echo", ">200ms", "<1kb", "call:8"]) assert.ok(!wireFilter(text)(row), text);
});
await claim("templates are filled in as RFC 6570 says", (assert) => {
  assert.deepEqual(variables("a://{id}/{+path}{?q,r*}"), ["id", "path", "q", "r"]);
  assert.equal(expand("a://{id}/{+path}{?q,r}", { id: "a b", path: "x/y", r: "1" }), "a://a%20b/x/y?r=1");
});
await claim("the command line is quoted for a shell", (assert) => {
  /** @type {Server} */
  const server = { id: "s1", status: "open", name: "lab", source: "file", target: "http://x" };
  assert.equal(
    commandLine(server, "call", "t", parse('{"who":"it\'s","big":9007199254740993,"tags":["a"]}'), everything),
    "turnbuckle call lab t 'who=it'\\''s' big=9007199254740993 'tags:=[\"a\"]'",
  );
  assert.equal(
    commandLine(server, "call", "t", parse('{"e=f":"x"}'), everything),
    'printf %s \'{"e=f":"x"}\' | turnbuckle call lab t -',
  );
  assert.equal(
    commandLine(
      { ...server, shell: { options: "--era legacy", server: "", command: "-- npx srv --a" } },
      "call",
      "t",
      {},
      everything,
    ),
    "turnbuckle call --era legacy t -- npx srv --a",
  );
});
await claim("large JSON read in slices gives the same value and the same errors", async (assert) => {
  const rows = Array.from(
    { length: 9000 },
    (_, index) =>
      `{ "n": ${index}, "text": "},{ \\"${index}\\\\", "list": [{"a":1.50},{"b":[]}], ` +
      `"big": 9007199254740993${index} }`,
  );
  for (const text of [
    `[${rows.join(", ")}]`,
    `{"a":[],"rows":[${rows.join(",")}],"last":{"x":{}}}`,
    `{${rows.map((row, index) => `"${index}":${row}`).join(",")}}`,
    `["${"x\\\\".repeat(150_000)}",-0]`,
    `${"[".repeat(900)}${" ".repeat(300_000)}${"]".repeat(900)}`,
  ]) {
    assert.ok(text.length > 200_000);
    assert.equal(print(await parseLarge(text)), print(parse(text)));
  }
  for (const [start, rest] of [
    ["[", "1,2,"],
    ["{", '"a":}'],
    ["[", "1 2]"],
    ["{", '"a":1,}'],
    ["[", "1,,2]"],
    ["[", '"a]'],
    ["[", "1]x"],
    ["[", "{}]}"],
  ]) {
    const text = `${start}${" ".repeat(250_000)}${rest}`;
    const told = (() => {
      try {
        return parse(text);
      } catch (error) {
        return error instanceof Error ? error.message : error;
      }
    })();
    assert.equal(
      await parseLarge(text).then(
        () => "it was read",
        (error) => error.message,
      ),
      told,
    );
  }
});
await claim("hostile text is drawn as fast as any other", (assert) => {
  // An algorithm with quadratic time would need half an hour for this text, and the test would be stopped.
  const much = 1_000_000;
  for (const part of [
    "[",
    "![",
    "[a](",
    "[a](b ",
    "`",
    "``",
    "*",
    "**",
    "*a",
    "**a",
    "_",
    "__a",
    "h",
    "http",
    "# ",
    " #",
  ]) {
    const text = part.repeat(much / part.length);
    assert.ok(drawn(text).children.length > 0, part);
    looksMarked(text.slice(0, 100_000));
  }
  const heading = drawn(`# ${" ".repeat(much)}x ##`);
  assert.equal(heading.text(), "x");
  const quoted = drawn(">".repeat(5_000));
  assert.ok(quoted.depth() < 20, `${quoted.depth()}`);
  assert.equal(drawn("- a `b`\n".repeat(100_000)).children[0].children.length, 100_000);
});
await claim("Markdown becomes the right elements", (assert) => {
  for (const [text, wanted] of [
    ["a **b** *c* `d`", "<p>a <strong>b</strong> <em>c</em> <code>d</code></p>"],
    ["snake_case_name and __both__", "<p>snake_case_name and <strong>both</strong></p>"],
    ['[x](https://a.example/b "t")!', "<p><a>x</a>!</p>"],
    ["[x](javascript:alert)", "<p><span>x</span></p>"],
    ["![](https://a.example/p.png)", "<p><a>https://a.example/p.png</a></p>"],
    ["see https://a.example/b) or http", "<p>see <a>https://a.example/b</a>) or http</p>"],
    ["[a] (b) [c](", "<p>[a] (b) [c](</p>"],
    ["*a\nb*", "<p>*a\nb*</p>"],
    ["# T ##", "<p>T</p>"],
    ["# C#", "<p>C#</p>"],
    ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
    ["- a\n  more\n- b", "<ul><li>a more</li><li>b</li></ul>"],
    [
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "<div><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></div>",
    ],
  ]) {
    assert.equal(drawn(text).inner(), wanted, text);
  }
});
await claim("a union is checked against the variant that was chosen", (assert) => {
  const file = { type: "object", required: ["path"], properties: { path: { type: "string" } } };
  const all = { type: "object", properties: { limit: { type: "integer" } } };
  const schema = { type: "object", properties: { of: { oneOf: [file, all] } } };
  assert.deepEqual(validate({ of: {} }, schema), []);
  const problems = validate({ of: {} }, schema, new Map([["/of", file]]));
  assert.deepEqual(problems, [{ path: "/of/path", message: "is required", isMissing: true }]);
});
await claim("a task is offered where the tool and the server allow it", async (assert) => {
  const { subject } = await import("../page/assets/subject.js");
  const tool = (taskSupport) => ({ name: "t", inputSchema: {}, execution: { taskSupport } });
  const task = (taskSupport, capabilities) => {
    const offer = { tools: [tool(taskSupport)], prompts: [], resources: [], resourceTemplates: [] };
    return subject(/** @type {any} */ ({ capabilities }), /** @type {any} */ (offer), "tools", "t")?.task;
  };
  const legacy = { tasks: { requests: { tools: { call: {} } } } };
  const modern = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  assert.equal(task("optional", legacy), "optional");
  assert.equal(task("required", modern), "required");
  assert.equal(task("forbidden", legacy), undefined);
  assert.equal(task(undefined, legacy), undefined);
  assert.equal(task("optional", {}), undefined);
});
end();

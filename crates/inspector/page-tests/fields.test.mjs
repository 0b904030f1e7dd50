// Fields that are hard to draw: unions, and lists that must have items; and what a form says before it is filled in.

import { claim, end } from "./claim.mjs";
import { browser, on, run } from "./stage.mjs";

const text = { type: "string" };
const object = (properties, required = []) => ({ type: "object", properties, required });
const shapes = {
  name: "shapes",
  description: "A description that is broken\nwhere the line is full.\n\nAnd a second paragraph.",
  inputSchema: {
    ...object({
      plain: { anyOf: [object({ a: text }, ["a"]), object({ b: { type: "integer" } }, ["b"])] },
      mix: { anyOf: [{ type: "integer", minimum: 10 }, { type: "boolean" }, { type: "null" }] },
      place: { anyOf: [{ $ref: "#/$defs/Place" }, { type: "null" }] },
      really: { type: "boolean", title: "Really?" },
    }),
    $defs: {
      Place: {
        oneOf: [
          { title: "City", ...object({ kind: { const: "city" }, name: text }, ["kind", "name"]) },
          { title: "Point", ...object({ kind: { const: "point" }, lat: { type: "number" } }, ["kind", "lat"]) },
        ],
      },
    },
  },
};
const lists = {
  name: "lists",
  inputSchema: object(
    {
      who: object({ name: text }, ["name"]),
      tags: { type: "array", items: text, minItems: 1, maxItems: 3, description: "What it is about" },
      pairs: { type: "object", additionalProperties: text, minProperties: 1 },
    },
    ["who", "tags", "pairs"],
  ),
};
const more = [shapes, lists];
const given = (value) => `args=${encodeURIComponent(JSON.stringify(value))}`;
const at = (page, path) => page.locator(`[data-path="${path}"]`);

/** The arguments of the call that was sent last. */
const sent = (fake) => JSON.parse(fake.sent.findLast((one) => one.path.endsWith("/exchanges")).body).params.arguments;

/** Calls, and checks what was sent. */
async function sends(page, fake, wanted) {
  const before = fake.sent.length;
  await run(page);
  await page.locator(".pill.done").waitFor();
  while (!fake.sent.slice(before).some((one) => one.path.endsWith("/exchanges"))) await page.waitForTimeout(20);
  const is = JSON.stringify(sent(fake));
  if (is !== JSON.stringify(wanted)) throw new Error(is);
}

await claim("an optional union is filled in with the form, and left out again", () =>
  on({ hash: "#/lab/tools/shapes", more }, async (page, fake) => {
    await at(page, "/plain").getByText("with a", { exact: true }).click();
    await at(page, "/plain/a").locator("textarea").fill("x");
    await sends(page, fake, { plain: { a: "x" } });
    await at(page, "/plain").getByText("with b", { exact: true }).click();
    await at(page, "/plain/b").locator("input").fill("7");
    await sends(page, fake, { plain: { b: 7 } });
    await page.getByRole("button", { name: "Clear plain" }).click();
    await sends(page, fake, {});
  }),
);

await claim("null is one more variant of a union, and the others can be chosen after it", () =>
  on({ hash: "#/lab/tools/shapes", more }, async (page, fake) => {
    const mix = at(page, "/mix");
    await mix.getByText("null", { exact: true }).first().click();
    await sends(page, fake, { mix: null });
    await mix.getByText("integer", { exact: true }).click();
    await mix.locator("input.number").fill("3");
    await mix.getByText("Must be at least 10").waitFor();
    await mix.locator("input.number").fill("12");
    await sends(page, fake, { mix: 12 });
    await mix.getByText("boolean", { exact: true }).click();
    await mix.getByRole("checkbox").check();
    await sends(page, fake, { mix: true });
  }),
);

await claim("a reference to a union that may be null has all variants in one choice", () =>
  on({ hash: "#/lab/tools/shapes", more }, async (page, fake) => {
    const place = at(page, "/place");
    await place.getByText("Point", { exact: true }).click();
    await at(page, "/place/lat").locator("input").fill("x");
    await at(page, "/place/lat").getByText("Must be a number").waitFor();
    await at(page, "/place/lat").locator("input").fill("53.5");
    await sends(page, fake, { place: { kind: "point", lat: 53.5 } });
    await place.getByText("null", { exact: true }).first().click();
    await sends(page, fake, { place: null });
  }),
);

await claim("a value that fits no variant has the choice, and one message that names all of them", () =>
  on({ hash: `#/lab/tools/shapes?${given({ place: { kind: "river" } })}`, more }, async (page, fake) => {
    const place = at(page, "/place");
    await place.getByText('Kind: must be "city" or "point"').waitFor();
    await page.getByRole("button", { name: "1 field needs attention" }).waitFor();
    await place.getByLabel("place", { exact: true }).first().waitFor();
    await place.getByText("City", { exact: true }).click();
    await at(page, "/place/name").locator("textarea").fill("Oslo");
    await sends(page, fake, { place: { kind: "city", name: "Oslo" } });
    await page.goto(`${page.url().split("#")[0]}#/lab/tools/shapes?${given({ mix: "three" })}`);
    await at(page, "/mix").getByText("Fits none of integer, boolean, null").waitFor();
  }),
);

await claim("a value that is not complete yet has the variant that its tag names", () =>
  on({ hash: `#/lab/tools/shapes?${given({ place: { kind: "point" } })}`, more }, async (page) => {
    await at(page, "/place/lat").locator("input").waitFor();
    if (!(await at(page, "/place").getByRole("radio", { name: "Point" }).isChecked())) throw new Error("not chosen");
  }),
);

await claim("a form that nobody touched is not in error, and says what is missing when it is sent", () =>
  on({ hash: "#/lab/tools/lists", more }, async (page) => {
    await page.locator("tb-panel .callform h1").waitFor();
    await page.waitForTimeout(500);
    if (await page.locator(".callform .problem:not(:empty)").count()) throw new Error("it begins in error");
    if (await page.getByRole("button", { name: /attention/ }).isVisible()) throw new Error("it begins in error");
    await run(page);
    await page.getByRole("button", { name: "3 fields need attention" }).waitFor();
    await at(page, "/tags").getByText("Needs at least 1 item", { exact: true }).waitFor();
    await at(page, "/pairs").getByText("Needs at least 1 entry", { exact: true }).waitFor();
  }),
);

await claim("on a telephone a list, what it is about and what is wrong stand below each other", () =>
  on({ hash: "#/lab/tools/lists", more, width: 390 }, async (page) => {
    await run(page);
    const tags = at(page, "/tags");
    const edges = await Promise.all(
      [".items", ".about", ".problem"].map((part) =>
        tags
          .locator(`> .body ${part}`)
          .first()
          .evaluate((one) => Math.round(one.getBoundingClientRect().left)),
      ),
    );
    if (new Set(edges).size > 1) throw new Error(edges.join(", "));
  }),
);

await claim("the button that adds an item is called what it says", () =>
  on({ hash: "#/lab/tools/lists", more }, async (page) => {
    const button = page.getByRole("button", { name: "Add item to tags" });
    await button.waitFor();
    if (!(await button.innerText()).includes("Add item")) throw new Error(await button.innerText());
  }),
);

await claim("the title of a checkbox stands once", () =>
  on({ hash: "#/lab/tools/shapes", more }, async (page) => {
    const row = at(page, "/really");
    await row.getByRole("checkbox").waitFor();
    const count = (await row.innerText()).split("Really?").length - 1;
    if (count !== 1) throw new Error(`${count} times`);
  }),
);

await claim("the list shows a description's first paragraph, whatever its lines", () =>
  on({ more }, async (page) => {
    const option = page.getByRole("option", { name: /shapes/ });
    await option.getByText("A description that is broken where the line is full.", { exact: true }).waitFor();
  }),
);

await browser.close();
end();

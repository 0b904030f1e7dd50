// Fields that are hard to draw: unions, and lists that must have items; and the hints of an empty form.

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
const nests = {
  name: "nests",
  inputSchema: object(
    {
      shipping_and_billing_address: object({ street_and_house_number_as_printed: text }, [
        "street_and_house_number_as_printed",
      ]),
      orders: { type: "array", items: object({ notes: { type: "array", items: text } }, ["notes"]) },
      grid: { type: "array", items: { type: "array", items: { type: "integer" } } },
    },
    ["shipping_and_billing_address"],
  ),
};
const more = [shapes, lists, nests];
const given = (value) => `args=${encodeURIComponent(JSON.stringify(value))}`;
const at = (page, path) => page.locator(`[data-path="${path}"]`);

/** The arguments of the last call that was sent. */
const sent = (fake) => JSON.parse(fake.sent.findLast((one) => one.path.endsWith("/exchanges")).body).params.arguments;

/** Calls, and checks the arguments that were sent. */
async function sends(page, fake, wanted) {
  const before = fake.sent.length;
  await run(page);
  await page.locator(".pill.done").waitFor();
  while (!fake.sent.slice(before).some((one) => one.path.endsWith("/exchanges"))) await page.waitForTimeout(20);
  const is = JSON.stringify(sent(fake));
  if (is !== JSON.stringify(wanted)) throw new Error(is);
}

await claim("an optional union can be filled in, and left out again", () =>
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

await claim("a value that fits no variant shows the choice of variants, and one message that names them all", () =>
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

await claim("an incomplete value has the variant of its tag", () =>
  on({ hash: `#/lab/tools/shapes?${given({ place: { kind: "point" } })}`, more }, async (page) => {
    await at(page, "/place/lat").locator("input").waitFor();
    if (!(await at(page, "/place").getByRole("radio", { name: "Point" }).isChecked())) throw new Error("not chosen");
  }),
);

await claim("an untouched form shows no errors; sending it shows what is missing", () =>
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

await claim("on a phone a list's name, description and problem are stacked", () =>
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

await claim("the accessible name of the button that adds an item contains its text", () =>
  on({ hash: "#/lab/tools/lists", more }, async (page) => {
    const button = page.getByRole("button", { name: "Add item to tags" });
    await button.waitFor();
    if (!(await button.innerText()).includes("Add item")) throw new Error(await button.innerText());
  }),
);

await claim("the title of a checkbox is shown once", () =>
  on({ hash: "#/lab/tools/shapes", more }, async (page) => {
    const row = at(page, "/really");
    await row.getByRole("checkbox").waitFor();
    const count = (await row.innerText()).split("Really?").length - 1;
    if (count !== 1) throw new Error(`${count} times`);
  }),
);

await claim("the list shows a description's first paragraph, even if it has several lines", () =>
  on({ more }, async (page) => {
    const option = page.getByRole("option", { name: /shapes/ });
    await option.getByText("A description that is broken where the line is full.", { exact: true }).waitFor();
  }),
);

const forms = {
  name: "forms",
  inputSchema: object({
    who: text,
    tags: { type: "array", items: text },
    counts: { type: "object", additionalProperties: { type: "integer" } },
    rows: { type: "array", items: object({ sku: text, gift: { type: "boolean" } }, ["sku", "gift"]) },
  }),
};
const defaults = {
  name: "defaults",
  inputSchema: object(
    {
      limit: { type: "integer", default: 10 },
      unit: { type: "string", enum: ["celsius", "fahrenheit"], default: "celsius" },
      flag: { type: "boolean", default: true },
      place: { type: "string", default: "Oslo" },
      password: { type: "string", format: "password" },
    },
    ["place"],
  ),
};

await claim("a checkbox in a table is alone in its cell, and large enough to click", () =>
  on(
    { hash: `#/lab/tools/forms?${given({ rows: [{ sku: "A", gift: false }] })}`, more: [forms] },
    async (page, fake) => {
      const box = page.getByRole("checkbox", { name: "rows 1 gift" });
      const label = page.locator("td", { has: box }).locator("label.check");
      const { width, height } = await label.boundingBox();
      if (width < 24 || height < 24) throw new Error(`${width} × ${height} px`);
      if ((await label.innerText()).trim()) throw new Error("words beside the box");
      // A click anywhere in the cell ticks the box.
      await label.click({ position: { x: 3, y: 3 } });
      if (!(await box.isChecked())) throw new Error("the edge of the cell does nothing");
      await sends(page, fake, { rows: [{ sku: "A", gift: true }] });
    },
  ),
);

await claim("an item or an entry whose text is deleted becomes an empty string", () =>
  on({ hash: "#/lab/tools/forms", more: [forms] }, async (page, fake) => {
    await page.getByRole("button", { name: "Add tags" }).click();
    await page.getByRole("button", { name: "Add item to tags" }).click();
    const item = at(page, "/tags/0").locator("textarea");
    await item.fill("x");
    await item.fill("");
    await sends(page, fake, { tags: [""] });
  }),
);

await claim("a problem of an entry is at its value, and the key stays as it is written", () =>
  on({ hash: "#/lab/tools/forms", more: [forms] }, async (page) => {
    await page.getByRole("button", { name: "Add counts" }).click();
    await page.getByRole("button", { name: "Add entry" }).click();
    await page.getByLabel("Key 1 of counts").fill("k1");
    const value = at(page, "/counts/k1").locator("input");
    await value.fill("many");
    await at(page, "/counts/k1").getByText("Must be an integer", { exact: true }).waitFor();
    if ((await value.getAttribute("aria-invalid")) !== "true") throw new Error("the value is not marked");
    const key = page.getByLabel("Key 1 of counts");
    if ((await key.getAttribute("aria-invalid")) === "true") throw new Error("the key is marked");
  }),
);

await claim("a call is not sent before the binary has checked the latest input", () =>
  on({ hash: "#/lab/tools/forms", more: [forms] }, async (page, fake) => {
    await at(page, "/who").locator("textarea").fill("Bob");
    await page.keyboard.press("Control+Enter");
    await at(page, "/who").getByText("Bob is not welcome").waitFor();
    if (fake.sent.some((one) => one.path.endsWith("/exchanges"))) throw new Error("it was sent");
    await at(page, "/who").locator("textarea").fill("Eve");
    await sends(page, fake, { who: "Eve" });
  }),
);

await claim("arguments from the address are checked before the user types", () =>
  on({ hash: `#/lab/tools/forms?${given({ who: "Bob" })}`, more: [forms] }, async (page, fake) => {
    await at(page, "/who").getByText("Bob is not welcome").waitFor();
    await run(page);
    await page.getByRole("button", { name: "1 field needs attention" }).waitFor();
    if (fake.sent.some((one) => one.path.endsWith("/exchanges"))) throw new Error("it was sent");
    await page.getByRole("button", { name: "Send anyway" }).click();
    await page.locator(".pill.done").waitFor();
  }),
);

await claim("defaults of optional fields are shown and not sent; a secret is not in the command line", () =>
  on({ hash: "#/lab/tools/defaults", more: [defaults] }, async (page, fake) => {
    await page.getByPlaceholder("10").waitFor();
    await at(page, "/unit").getByText("Default celsius").waitFor();
    if (!(await at(page, "/flag").getByRole("checkbox").isChecked())) throw new Error("the default is not ticked");
    await sends(page, fake, { place: "Oslo" });
    await at(page, "/flag").getByRole("checkbox").uncheck();
    await at(page, "/password").locator("input").fill("hunter2");
    await sends(page, fake, { place: "Oslo", flag: false, password: "hunter2" });
    const line = await page.getByLabel("The same on the command line").innerText();
    if (line.includes("hunter2") || !line.includes('password="$PASSWORD"')) throw new Error(line);
  }),
);

for (const width of [390, 768, 1280]) {
  await claim(`the star of a long name stays beside its first line at ${width} px`, () =>
    on({ hash: `#/lab/tools/nests?${given({ shipping_and_billing_address: {} })}`, more, width }, async (page) => {
      await at(page, "/shipping_and_billing_address/street_and_house_number_as_printed").waitFor();
      const lines = await page.locator(".field > .label:has(.star)").evaluateAll((all) =>
        all.map((label) => {
          const star = label.querySelector(".star").getBoundingClientRect();
          return [
            label.innerText,
            star.top - label.firstElementChild.getBoundingClientRect().top,
            label.scrollWidth - label.clientWidth,
          ];
        }),
      );
      if (lines.length !== 2 || lines.some(([, below, over]) => below > 4 || over > 0)) {
        throw new Error(JSON.stringify(lines));
      }
    }),
  );
}

await claim("buttons that add items to nested lists name the list", () =>
  on({ hash: `#/lab/tools/nests?${given({ orders: [{ notes: ["a"] }], grid: [[1], [2]] })}`, more }, async (page) => {
    const words = page.locator(".field button", { hasText: "Add item" });
    await words.first().waitFor();
    const all = await words.allInnerTexts();
    const wanted = ["notes", "orders", "grid 1", "grid 2", "grid"].map((name) => `Add item to ${name}`);
    if (JSON.stringify(all) !== JSON.stringify(wanted)) throw new Error(JSON.stringify(all));
  }),
);
const items = {
  name: "items",
  inputSchema: object({
    grid: { type: "array", items: { type: "array", items: { type: "integer" } } },
    places: { type: "array", items: { oneOf: [object({ city: text }, ["city"]), object({ lat: text }, ["lat"])] } },
  }),
};
for (const width of [390, 1280]) {
  await claim(`no button of an item lies above a control inside of it at ${width} px`, () =>
    on(
      { hash: `#/lab/tools/items?${given({ grid: [[1, 2]], places: [{ city: "x" }] })}`, more: [items], width },
      async (page, fake) => {
        await at(page, "/grid/0/1").waitFor();
        const over = await page.locator(".items.groups > .item").evaluateAll((all) =>
          all.flatMap((item) => {
            const moves = item.querySelector(":scope > .moves").getBoundingClientRect();
            const inside = [...item.querySelectorAll(":scope > .field :is(button, input, .segments)")];
            const boxes = inside.map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()]);
            return boxes.filter(([, box]) => box.top < moves.bottom && box.right > moves.left).map(([html]) => html);
          }),
        );
        if (over.length) throw new Error(over.join("\n"));
        await at(page, "/grid/0").getByRole("button", { name: "Remove item 1" }).first().click();
        await sends(page, fake, { grid: [[2]], places: [{ city: "x" }] });
      },
    ),
  );
}
await browser.close();
end();

// Cleans up a server's lists: entries without a name are left out and reported, and members of a wrong type become
// text.

import { asList, isObject, print } from "./json.js";

/** @type {Record<"tools" | "prompts" | "resources" | "resourceTemplates", string>} */
const LISTS = { tools: "name", prompts: "name", resources: "uri", resourceTemplates: "uriTemplate" };
const TEXTS = ["name", "title", "description", "mimeType"];

/**
 * @param {JsonObject} offer as the server sent it
 * @returns {Offer}
 */
export function sound(offer) {
  /** @type {Offer["problems"]} */
  const problems = Array.isArray(offer.problems) ? [.../** @type {any[]} */ (offer.problems)] : [];
  /** @type {Record<string, JsonObject[]>} */
  const made = {};
  for (const [list, name] of Object.entries(LISTS)) {
    const given = offer[list];
    const entries = Array.isArray(given) ? given : [];
    const named = entries.filter(isObject).filter((one) => typeof one[name] === "string" && one[name]);
    made[list] = named.map(shown);
    const odd = entries.length - named.length;
    if (odd) {
      problems.push({
        list,
        error: {
          who: "protocol",
          message: `${odd} of ${entries.length} entries have no \`${name}\` and are not shown`,
          causes: [],
          hint: "look at the answer among the messages",
        },
      });
    }
  }
  return /** @type {Offer} */ (/** @type {unknown} */ ({ ...made, problems }));
}

/** @param {JsonObject} one */
function shown(one) {
  const isOdd =
    TEXTS.some((name) => name in one && typeof one[name] !== "string") ||
    ("arguments" in one && !areArguments(one.arguments));
  if (!isOdd) return one;
  const made = { ...one };
  for (const name of TEXTS) {
    if (made[name] === null) delete made[name];
    else if (name in made && typeof made[name] !== "string") made[name] = print(made[name], 0, 1000);
  }
  if ("arguments" in made) made.arguments = asList(made.arguments ?? []).filter(isArgument);
  return made;
}

const isArgument = (/** @type {unknown} */ one) => isObject(one) && typeof one.name === "string";
const areArguments = (/** @type {unknown} */ given) => Array.isArray(given) && given.every(isArgument);

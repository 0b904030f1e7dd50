// What a server offers, made safe to show: things without a name are left out and told of, odd members become text.

import { isObject, print } from "./json.js";

const LISTS = { tools: "name", prompts: "name", resources: "uri", resourceTemplates: "uriTemplate" };
const TEXTS = ["name", "title", "description", "mimeType"];

export function sound(offer) {
  const made = { problems: [...(offer.problems ?? [])] };
  for (const [list, name] of Object.entries(LISTS)) {
    const given = Array.isArray(offer[list]) ? offer[list] : [];
    made[list] = given.filter((one) => isObject(one) && typeof one[name] === "string" && one[name]).map(shown);
    const odd = given.length - made[list].length;
    if (odd) {
      made.problems.push({
        list,
        error: {
          who: "protocol",
          message: `${odd} of ${given.length} entries have no \`${name}\` and are not shown`,
          causes: [],
          hint: "look at the answer in the wire",
        },
      });
    }
  }
  return made;
}

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
  if ("arguments" in made) made.arguments = [].concat(made.arguments ?? []).filter(isArgument);
  return made;
}

const isArgument = (one) => isObject(one) && typeof one.name === "string";
const areArguments = (given) => Array.isArray(given) && given.every(isArgument);

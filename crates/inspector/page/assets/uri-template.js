// URI templates (RFC 6570): their variables and their expansion.

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/g;
/** @type {Record<string, { first: string, between: string, keeps: boolean, isNamed?: boolean }>} */
const FORMS = {
  "": { first: "", between: ",", keeps: false },
  "+": { first: "", between: ",", keeps: true },
  "#": { first: "#", between: ",", keeps: true },
  ".": { first: ".", between: ".", keeps: false },
  "/": { first: "/", between: "/", keeps: false },
  ";": { first: ";", between: ";", keeps: false, isNamed: true },
  "?": { first: "?", between: "&", keeps: false, isNamed: true },
  "&": { first: "&", between: "&", keeps: false, isNamed: true },
};

const names = (/** @type {string} */ list) => list.split(",").map((name) => name.trim().replace(/(\*|:\d+)$/, ""));

export const variables = (/** @type {string} */ template) => [
  ...new Set([...template.matchAll(EXPRESSION)].flatMap(([, , list]) => names(list))),
];

/**
 * @param {string} template
 * @param {JsonObject} values
 */
export function expand(template, values) {
  return template.replace(EXPRESSION, (whole, operator, list) => {
    const form = FORMS[operator];
    const parts = names(list)
      .filter((name) => values[name] !== undefined && values[name] !== "")
      .map((name) => {
        const value = String(values[name]);
        const text = form.keeps ? encodeURI(value) : encodeURIComponent(value);
        return form.isNamed ? `${name}=${text}` : text;
      });
    return parts.length ? form.first + parts.join(form.between) : "";
  });
}

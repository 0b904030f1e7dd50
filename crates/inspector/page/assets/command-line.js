// The command line that is equivalent to a call on the page.

import { isNumber, isObject, print } from "./json.js";
import { resolve } from "./schema.js";

const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

export const quote = (/** @type {string} */ text) => (SAFE.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * `[cd FOLDER &&] turnbuckle VERB [OPTIONS] SERVER [OBJECT] [key=value …] [-- COMMAND]`. The binary provides the parts
 * that name the server.
 *
 * @param {Server} server
 * @param {string} verb
 * @param {string | null | undefined} object
 * @param {unknown} value
 * @param {Schema} [schema]
 */
export function commandLine(server, verb, object, value, schema) {
  const { before = "", options = "", server: named = quote(server.name), command = "" } = server.shell ?? {};
  const given = isObject(value)
    ? Object.entries(value).map(([key, one]) =>
        isSecret(schema, key) ? fromVariable(key, one, schema) : quote(word(key, one, schema)),
      )
    : [];
  // In `name=value` the name ends at the first `=`. With `=` in a name, all arguments are piped as JSON.
  const isPiped = isObject(value) && Object.keys(value).some((key) => key.includes("="));
  const start = isPiped ? [before, "printf %s", quote(print(value)), "| turnbuckle"] : [before, "turnbuckle"];
  const words = [...start, verb, options, named, object ? quote(object) : "", ...(isPiped ? ["-"] : given), command];
  return words.filter(Boolean).join(" ");
}

/**
 * @param {Schema | undefined} schema
 * @param {string} key
 */
function isSecret(schema, key) {
  const own = schema ? resolve(schema.properties?.[key], schema) : {};
  return own.format === "password" || own.writeOnly === true;
}

/**
 * A secret becomes a shell variable, because command lines are stored and visible to other users.
 *
 * @param {string} key
 * @param {unknown} value
 * @param {Schema} [schema]
 */
function fromVariable(key, value, schema) {
  const name = key.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  const start = word(key, value, schema).startsWith(`${key}=`) ? `${key}=` : `${key}:=`;
  return `${quote(start)}"$${/^\d/.test(name) ? "_" : ""}${name}"`;
}

/**
 * @param {string} key
 * @param {unknown} value
 * @param {Schema} [schema]
 */
function word(key, value, schema) {
  const isPlainKey = /^[A-Za-z_][\w-]*$/.test(key);
  const own = schema ? resolve(schema.properties?.[key], schema) : {};
  const isText = own.type === "string" && !own.enum;
  if (typeof value === "string" && isPlainKey && isText && !value.startsWith("@")) return `${key}=${value}`;
  if (
    (isNumber(value) || typeof value === "boolean") &&
    isPlainKey &&
    ["integer", "number", "boolean"].some((type) => type === own.type)
  ) {
    return `${key}=${print(value)}`;
  }
  return `${key}:=${print(value)}`;
}

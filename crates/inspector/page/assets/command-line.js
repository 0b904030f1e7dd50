// The command line that does what the page does.

import { isNumber, isObject, print } from "./json.js";
import { resolve } from "./schema.js";

const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

export const quote = (/** @type {string} */ text) => (SAFE.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * `[cd FOLDER &&] turnbuckle VERB [OPTIONS] SERVER [OBJECT] [key=value …] [-- COMMAND]`; the binary knows how its
 * servers are named.
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
  // A word `name=value` ends its name at the first `=`; the arguments as a whole are read from a pipe.
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
 * A secret is left to a variable of the shell: command lines are read by others and kept.
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

// The command line that does what the page does.

import { isNumber, isObject, print } from "./json.js";
import { resolve } from "./schema.js";

const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

export const quote = (text) => (SAFE.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** `turnbuckle VERB SERVER [OBJECT] [key=value …] [-- COMMAND]`. */
export function commandLine(server, verb, object, value, schema) {
  const words = ["turnbuckle", verb];
  const isCommand = server.source === "command line" && !/^https?:\/\//.test(server.target);
  if (!isCommand) words.push(quote(server.source === "command line" ? server.target : server.name));
  if (object) words.push(quote(object));
  if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) words.push(quote(word(key, one, schema)));
  }
  if (isCommand) words.push("--", server.target);
  return words.join(" ");
}

function word(key, value, schema) {
  const isPlainKey = /^[A-Za-z_][\w-]*$/.test(key);
  const own = schema ? resolve(schema.properties?.[key], schema) : {};
  const isText = own.type === "string" && !own.enum;
  if (typeof value === "string" && isPlainKey && isText && !value.startsWith("@")) return `${key}=${value}`;
  if ((isNumber(value) || typeof value === "boolean") && isPlainKey && ["integer", "number", "boolean"].includes(own.type)) return `${key}=${print(value)}`;
  return `${key}:=${print(value)}`;
}

// Test cases, named as claims.

import assert from "node:assert/strict";

import { within } from "../../../scripts/child.mjs";

/** The time limit of a claim, in milliseconds. The slowest needs 90 s on a very busy machine. */
const LONGEST = 300_000;
/** The time limit of a file, in milliseconds. A file needs up to 7 minutes on a very busy machine. */
const LONGEST_FILE = 1_800_000;

let failed = 0;
let last = "the first claim";
setTimeout(() => {
  console.log(`FAIL  the claims of this file took more than ${LONGEST_FILE / 60_000} minutes; the last was: ${last}`);
  process.exit(1);
}, LONGEST_FILE).unref();

export async function claim(words, show) {
  // ONLY=words runs the claims that contain the words.
  if (process.env.ONLY && !words.includes(process.env.ONLY)) return;
  last = words;
  const since = performance.now();
  try {
    const note = await within(LONGEST, () => "this claim to be shown", show(assert));
    console.log(`ok    ${words}${note ? `: ${note}` : ""}  (${Math.round(performance.now() - since)} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${words}\n${error instanceof Error ? error.stack : error}`);
  }
}

export function end() {
  if (failed) console.log(`${failed} failed`);
  process.exit(failed ? 1 : 0);
}

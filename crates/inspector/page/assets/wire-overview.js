// The number of messages over time, as a row of bars.

import { h, plural, span } from "./element.js";
import { svg } from "./icon.js";
import { lookOf } from "./wire-row.js";

/** The number of bars, and their height in px. */
const BARS = 96;
const HEIGHT = 32;
/** The number of time marks below the bars. */
const MARKS = 5;
const RANK = ["", "cancelled", "asked", "error"];

/**
 * @param {WireRow[]} rows
 * @returns {Node[]}
 */
export function overview(rows) {
  if (rows.length < 2) return [];
  const from = rows[0].time;
  const whole = Math.max(1, rows[rows.length - 1].time - from);
  const bars = Array.from({ length: BARS }, () => ({ count: 0, look: 0 }));
  for (const row of rows) {
    const bar = bars[Math.min(BARS - 1, Math.max(0, Math.floor(((row.time - from) / whole) * BARS)))];
    bar.count += 1;
    bar.look = Math.max(bar.look, RANK.indexOf(lookOf(row)));
  }
  const most = Math.max(...bars.map((bar) => bar.count));
  const picture = svg("svg", {
    class: "chart",
    height: HEIGHT,
    role: "img",
    "aria-label": `${plural(rows.length, "row")} over ${span(whole)}`,
  });
  bars.forEach(({ count, look }, index) => {
    if (!count) return;
    const height = Math.max(4, (count / most) * HEIGHT);
    picture.append(
      svg("rect", {
        class: RANK[Math.max(0, look)] || "plain",
        x: `${((index / BARS) * 100).toFixed(2)}%`,
        y: HEIGHT - height,
        width: `${(100 / BARS) * 0.66}%`,
        height,
        rx: 1,
      }),
    );
  });
  const marks = Array.from({ length: MARKS }, (_, index) => h("span", null, span((whole / (MARKS - 1)) * index)));
  return [picture, h("div.timelabels", { "aria-hidden": "true" }, marks)];
}

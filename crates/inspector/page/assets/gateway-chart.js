// Small charts of the gateway: the number of requests, their times, and the two ends of a connection.

import { svg } from "./icon.js";

const WIDTH = 240;
const HEIGHT = 44;
/** Space above the highest value. */
const ABOVE = 4;

/**
 * One or two lines over time. A missing value leaves a gap.
 *
 * @param {string} words what the chart shows
 * @param {(number | null)[][]} rows
 * @param {boolean} isFilled
 */
export function chart(words, rows, isFilled = false) {
  const most = Math.max(1e-9, ...rows.flat().map((value) => value ?? 0));
  const picture = svg("svg", {
    class: "lines",
    height: HEIGHT,
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": words,
  });
  picture.append(svg("path", { class: "ground", d: `M0 ${HEIGHT - 0.5}H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}` }));
  rows.forEach((values, index) => {
    const step = WIDTH / Math.max(1, values.length - 1);
    const at = (/** @type {number} */ value) => (HEIGHT - (value / most) * (HEIGHT - ABOVE)).toFixed(1);
    for (const part of parts(values)) {
      const points = part.map(([where, value]) => `${(where * step).toFixed(1)},${at(value)}`);
      // A single value spans the whole chart. A value between gaps is a dot.
      const end = values.length === 1 ? WIDTH : Math.min(WIDTH, part[0][0] * step + 2);
      if (points.length === 1) points.push(`${end.toFixed(1)},${at(part[0][1])}`);
      const feet = [points[0], points[points.length - 1]].map((point) => `${point.split(",")[0]},${HEIGHT}`);
      if (isFilled) {
        picture.append(svg("polygon", { class: "under", points: `${feet[0]} ${points.join(" ")} ${feet[1]}` }));
      }
      picture.append(svg("polyline", { class: index ? "second" : "first", points: points.join(" ") }));
    }
  });
  return picture;
}

/**
 * The stretches without gaps.
 *
 * @param {(number | null)[]} values
 */
function parts(values) {
  /** @type {[number, number][][]} */
  const found = [];
  values.forEach((value, index) => {
    if (value === null) return;
    if (index > 0 && values[index - 1] !== null && found.length) found[found.length - 1].push([index, value]);
    else found.push([[index, value]]);
  });
  return found;
}

/**
 * Two ends, with Turnbuckle's mark between them if messages are translated.
 *
 * @param {boolean} isTranslated
 */
export function ends(isTranslated) {
  const picture = svg("svg", { class: "ends", width: 72, height: 16, viewBox: "0 0 72 16", "aria-hidden": "true" });
  picture.append(svg("path", { d: isTranslated ? "M11 8h20M41 8h20" : "M11 8h50" }));
  if (isTranslated) picture.append(svg("rect", { x: 23, y: 2, width: 26, height: 12, rx: 5 }));
  picture.append(svg("circle", { cx: 7, cy: 8, r: 4 }), svg("circle", { cx: 65, cy: 8, r: 4 }));
  return picture;
}

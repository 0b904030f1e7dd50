// A row of the wire: made once, and filled anew for whichever message is in sight.

import { bytes, clock, h, span } from "./element.js";
import { icon } from "./icon.js";

/** A pause longer than this is drawn as one of this length, in ms. */
const IDLE = 20;

/** @typedef {ReturnType<typeof makeCells>} Cells */
/** @typedef {HTMLElement & { cells: Cells, direction?: string, left?: string, wide?: string }} Line */
/** @typedef {{ starts: Map<number, number>, whole: number, isInTime: boolean }} Fall the waterfall of a range */

function makeCells() {
  return {
    time: h("span.time"),
    dir: h("span.dir"),
    way: h("span.outside"),
    rail: h("span.rail"),
    method: h("span.method"),
    name: new Text(),
    object: h("strong"),
    round: h("span.dim"),
    status: h("span.status"),
    ms: h("span.ms"),
    size: h("span.size"),
    bar: h("i"),
  };
}

/** @param {WireRow} row */
export function drawRow(row) {
  const cells = makeCells();
  cells.method.append(cells.name, cells.object, cells.round);
  const element = h(
    "div.wirerow",
    null,
    cells.time,
    cells.dir,
    cells.rail,
    cells.method,
    cells.status,
    cells.ms,
    cells.size,
    h("span.fall", { "aria-hidden": "true" }, cells.bar),
  );
  const made = Object.assign(element, { cells });
  fillRow(made, row);
  return made;
}

/**
 * @param {Line} made
 * @param {WireRow} row
 */
export function fillRow(made, row) {
  const { cells } = made;
  write(cells.time, clock(row.time));
  if (made.direction !== row.direction) {
    made.direction = row.direction;
    cells.dir.className = `dir ${row.direction}`;
    write(cells.way, row.direction === "out" ? "sent" : "received");
    cells.dir.replaceChildren(icon(row.direction), cells.way);
    cells.bar.className = row.direction;
  }
  write(cells.name, nameOf(row));
  write(cells.object, row.object ? ` ${row.object}` : "");
  write(cells.round, (row.round ?? 0) > 1 ? ` (${row.round})` : "");
  write(cells.status, row.status ?? "");
  cells.status.className = /error|fail|[45]\d\d/i.test(row.status ?? "") ? "status error" : "status";
  write(cells.ms, row.ms === null || row.ms === undefined ? "" : span(row.ms));
  write(cells.size, bytes(row.bytes ?? 0));
}

export const nameOf = (/** @type {WireRow} */ row) => row.method ?? row.kind;

/**
 * @param {Node} node
 * @param {string} text
 */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * The rail that joins the rows of one call, and the bar of the waterfall, among the rows in sight.
 *
 * @param {Line} made
 * @param {WireRow} row
 * @param {number} index
 * @param {WireRow[]} rows
 * @param {Fall} fall
 */
export function settleRow(made, row, index, rows, fall) {
  const { rail, bar } = made.cells;
  const isWith = (/** @type {WireRow | undefined} */ other) =>
    fall.isInTime && other && row.exchange !== null && row.exchange !== undefined && other.exchange === row.exchange;
  const before = isWith(rows[index - 1]);
  const after = isWith(rows[index + 1]);
  const look = `rail ${before && after ? "mid" : before ? "last" : after ? "first" : "none"}`;
  if (rail.className !== look) rail.className = look;
  const length = Math.min(row.ms ?? 0, fall.whole);
  const start = fall.isInTime ? (fall.starts.get(row.seq) ?? 0) - (row.direction === "in" ? length : 0) : 0;
  const left = `${Math.max(0, Math.min(98, (start / fall.whole) * 100)).toFixed(1)}%`;
  const width = `${Math.max(1, Math.min(100, (length / fall.whole) * 100)).toFixed(1)}%`;
  if (made.left !== left) bar.style.left = made.left = left;
  if (made.wide !== width) bar.style.width = made.wide = width;
}

/**
 * When each row of a range begins, on a clock that stands still while nobody waits; in another order than that of time,
 * all begin at once.
 *
 * @param {WireRow[]} rows
 * @param {number} from
 * @param {number} to
 * @param {boolean} isInTime
 * @returns {Fall}
 */
export function waterfall(rows, from, to, isInTime) {
  /** @type {Map<number, number>} */
  const starts = new Map();
  let whole = 1;
  if (!isInTime) {
    for (let index = from; index < to; index += 1) whole = Math.max(whole, rows[index].ms ?? 0);
    return { starts, whole, isInTime };
  }
  let at = 0;
  for (let index = from; index < to; index += 1) {
    const gap = index > from ? Math.max(0, rows[index].time - rows[index - 1].time) : 0;
    at += gap <= (rows[index].ms ?? 0) + IDLE ? gap : IDLE;
    starts.set(rows[index].seq, at);
  }
  return { starts, whole: Math.max(1, at), isInTime };
}

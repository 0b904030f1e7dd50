// A row of messages. Its elements are created once and filled for each exchange that becomes visible.

import { bytes, clock, h, span } from "./element.js";
import { icon, svg } from "./icon.js";
import { print } from "./json.js";
import { state } from "./store.js";
import { tile } from "./tile.js";

/** Longer pauses are drawn with this length, in ms. */
const IDLE = 20;

/** @typedef {ReturnType<typeof makeCells>} Cells */
/** @typedef {HTMLElement & { cells: Cells, direction?: string, server?: string, geometry?: string }} Line */
/** @typedef {{ starts: Map<number, number>, whole: number, isInTime: boolean }} Fall the waterfall of a range */

function makeCells() {
  return {
    time: h("span.time"),
    tile: h("span.of"),
    dir: h("span.dir"),
    way: h("span.outside"),
    method: h("span.method"),
    name: new Text(),
    object: h("strong"),
    id: h("span.id"),
    status: h("span.status"),
    ms: h("span.ms"),
    size: h("span.size"),
    bar: svg("rect", { y: 2, height: 8, rx: 1 }),
    dot: svg("circle", { cy: 6, r: 3 }),
  };
}

/**
 * @param {WirePair} row
 * @param {boolean} hasTile
 */
export function drawRow(row, hasTile) {
  const cells = makeCells();
  cells.method.append(cells.dir, cells.name, cells.object);
  const fall = svg("svg", { class: "fall", height: 12, "aria-hidden": "true" });
  fall.append(cells.bar, cells.dot);
  const element = h(
    `div.wirerow${hasTile ? ".withtile" : ""}`,
    null,
    cells.time,
    hasTile ? cells.tile : null,
    cells.method,
    cells.id,
    cells.status,
    cells.ms,
    cells.size,
    /** @type {Node} */ (fall),
  );
  const made = Object.assign(element, { cells });
  fillRow(made, row);
  return made;
}

/**
 * @param {Line} made
 * @param {WirePair} row
 */
export function fillRow(made, row) {
  const { cells } = made;
  write(cells.time, clock(row.time).slice(3));
  if (made.direction !== row.direction) {
    made.direction = row.direction;
    cells.dir.className = `dir ${row.direction}`;
    write(cells.way, row.direction === "out" ? "to the server" : "from the server");
    cells.dir.replaceChildren(icon(row.direction), cells.way);
  }
  if (made.server !== row.server) {
    made.server = row.server;
    const server = state.servers.get(row.server);
    cells.tile.replaceChildren(...(server ? [tile(server, { tiny: true, title: true })] : []));
  }
  write(cells.name, nameOf(row));
  write(cells.object, row.object ? ` ${row.object}` : "");
  write(cells.id, row.id === null || row.id === undefined ? "" : print(row.id));
  write(cells.status, statusOf(row));
  cells.status.className = `status ${lookOf(row)}`;
  write(cells.ms, row.ms === null || row.ms === undefined ? "" : span(row.ms));
  write(cells.size, bytes(row.bytes ?? 0));
  const isDot = row.kind === "notification";
  cells.bar.setAttribute("class", isDot ? "none" : lookOf(row) || "plain");
  cells.dot.setAttribute("class", isDot ? "dotmark" : "none");
}

export const nameOf = (/** @type {WireRow} */ row) => row.method ?? row.kind;

/**
 * The status of an exchange: how it ended, or that it is still open.
 *
 * @param {WirePair} row
 */
export function statusOf(row) {
  if (row.kind === "notification") return row.direction === "out" ? "sent" : "received";
  const rest = (row.status ?? "").replace(/^\d{3} · /, "");
  if (row.kind === "request" && !row.answer) return /^[45]\d\d/.test(rest) ? rest : "open";
  return rest;
}

/**
 * Whether an exchange failed. A legacy server's error for `server/discover` does not count: it is how the client
 * detects such a server.
 *
 * @param {WireRow} row
 */
export const isError = (row) =>
  /error|fail|timed|^[45]\d\d/i.test(statusOf(row)) &&
  !(row.method === "server/discover" && /-32601/.test(row.status ?? ""));

/**
 * The style of a row. Only unusual rows have a colour.
 *
 * @param {WirePair} row
 */
export function lookOf(row) {
  const status = statusOf(row);
  if (isError(row)) return "error";
  if (status === "input_required") return "asked";
  if (status === "cancelled") return "cancelled";
  return status === "open" ? "running" : "";
}

/**
 * @param {Node} node
 * @param {string} text
 */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Marks later steps of a call, and draws the row's bar in the waterfall of the visible rows.
 *
 * @param {Line} made
 * @param {WirePair} row
 * @param {number} _index
 * @param {WirePair[]} _rows
 * @param {Fall} fall
 */
export function settleRow(made, row, _index, _rows, fall) {
  const { bar, dot } = made.cells;
  made.classList.toggle("step", fall.isInTime && row.kind === "request" && (row.round ?? 1) > 1);
  const length = Math.min(row.ms ?? 0, fall.whole);
  const start = fall.isInTime ? (fall.starts.get(row.seq) ?? 0) : 0;
  const left = Math.max(0, Math.min(98, (start / fall.whole) * 100)).toFixed(1);
  const width = Math.max(1, Math.min(100 - Number(left), (length / fall.whole) * 100)).toFixed(1);
  const geometry = `${left} ${width}`;
  if (made.geometry === geometry) return;
  made.geometry = geometry;
  bar.setAttribute("x", `${left}%`);
  bar.setAttribute("width", `${width}%`);
  dot.setAttribute("cx", `${Math.max(1, Number(left))}%`);
}

/**
 * The start of each row in a range, on a clock that stops while no request is open. If the rows are not in order of
 * time, all start at 0.
 *
 * @param {WirePair[]} rows
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
    const before = rows[index - 1];
    const gap = index > from ? Math.max(0, rows[index].time - before.time) : 0;
    at += index === from ? 0 : Math.min(gap, (before.ms ?? 0) + IDLE);
    starts.set(rows[index].seq, at);
    whole = Math.max(whole, at + (rows[index].ms ?? 0));
  }
  return { starts, whole, isInTime };
}

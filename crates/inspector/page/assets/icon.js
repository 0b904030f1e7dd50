// Icons of 16 by 16 px, drawn with strokes. Each is beside a text or has an accessible name.

/** @type {Record<string, string>} */
const PATHS = {
  alert: "M8 2.5l6 10.500H2zM8 6.500v3M8 11.300v.1",
  ask: "M2.2 2.5h11.6v9H9l-3.2 2.500v-2.5H2.2zM6.4 5.8a1.6 1.600 0 1 1 2.3 1.4c-.5.2-.7.5-.7.9M8 9.600v.1",
  filter: "M2.500 3.500h11L9.300 8.600v4.200l-2.600-1.300V8.600z",
  folder: "M2.300 4h4l1.400 1.700h6v7H2.300z",
  gateway: "M2.300 4h2.500l6.400 8h2.500M2.300 12h2.500l1.900-2.400M9.300 6.400L11.200 4h2.500",
  messages: "M2.500 5.200h9M9 2.500l2.700 2.700L9 7.900M13.500 10.800h-9M7 8.100l-2.700 2.700L7 13.500",
  more: "M3.800 8h.1M8 8h.1M12.200 8h.1",
  stop: "M4.200 4.200h7.600v7.600H4.200z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  test: "M5.500 2.500h5M6.500 2.500v4L3 12.500a.9.9 0 0 0 .8 1.300h8.400a.9.9 0 0 0 .8-1.300L9.500 6.500v-4M5 9.500h6",
  copy: "M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2",
  save: "M8 2.5v7.5M5 7.5l3 3 3-3M2.5 12.5h11",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM10.5 10.5l3 3",
  right: "M6 3.5l4.5 4.5L6 12.5",
  left: "M10 3.5L5.500 8l4.500 4.500",
  down: "M3.500 6L8 10.500 12.500 6",
  up: "M3.5 10L8 5.5l4.500 4.500",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  out: "M2.500 8h11M9.500 4l4 4-4 4",
  in: "M13.500 8h-11M6.500 4l-4 4 4 4",
  theme: "M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11",
  help: "M6 6a2 2 0 1 1 2.800 1.900c-.6.3-.8.7-.8 1.400M8 12v.5M8 1.500a6.500 6.500 0 1 0 0 13a6.500 6.500 0 0 0 0-13z",
  wire: "M1.500 8h3l2-5 3 10 2-5h3",
  check: "M3 8.500l3.500 3.500L13 4.500",
  again: "M13 8a5 5 0 1 1-1.500-3.500M13 2v3h-3",
  tool: "M3 13l5-5M9 2.500a3.500 3.500 0 0 0 4.500 4.500L10.500 10 6 5.500z",
  prompt: "M2.500 3.500h11v7h-6l-3 3v-3h-2z",
  resource: "M4 1.500h5.500L12.500 4.500v10h-8.500zM9.500 1.500v3h3",
  server: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.1M5 11h.1",
  task: "M2.500 4l1.500 1.500L6.500 3M8.500 4.500h5M2.500 10.500l1.500 1.500 2.500-2.500M8.500 11h5",
  log: "M2.500 4h11M2.500 8h11M2.500 12h7",
};
const SPACE = "http://www.w3.org/2000/svg";

/** @type {Map<string, SVGElement>} */
const drawn = new Map();

/** @param {string} name */
export function icon(name) {
  const known = drawn.get(name) ?? draw(name);
  drawn.set(name, known);
  return known.cloneNode(true);
}

/** Turnbuckle's mark: two eye bolts in a frame. */
export function mark() {
  const group = svg("g", { transform: "rotate(-45 12 12)" });
  group.append(
    svg("rect", { x: "5.3", y: "7.6", width: "13.4", height: "8.8", rx: "3.8" }),
    svg("circle", { cx: "0.5", cy: "12", r: "2.5" }),
    svg("path", { d: "M3 12h5.6M15.4 12h5.6" }),
    svg("circle", { cx: "23.5", cy: "12", r: "2.5" }),
  );
  const picture = svg("svg", { viewBox: "0 0 24 24", class: "mark", "aria-hidden": "true" });
  picture.append(group);
  return picture;
}

/** Sets the mark as the icon of the browser's tab, on a background for light and dark themes. */
export function applyFavicon() {
  const whole = svg("svg", { viewBox: "0 0 32 32", xmlns: SPACE });
  const inner = mark();
  const place = { x: 3.4, y: 3.4, width: 25.2, height: 25.2, overflow: "visible", fill: "none" };
  for (const [key, value] of Object.entries({
    ...place,
    stroke: "#fff",
    "stroke-width": 1.9,
    "stroke-linecap": "round",
  })) {
    inner.setAttribute(key, String(value));
  }
  whole.append(svg("rect", { width: 32, height: 32, rx: 7, fill: "#1a5fd4" }), inner);
  const link = document.querySelector("link[rel=icon]");
  link?.setAttribute("href", `data:image/svg+xml,${encodeURIComponent(whole.outerHTML)}`);
}

/**
 * An SVG element. Sizes that depend on data are attributes, because the page's policy allows no inline styles.
 *
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
export function svg(name, attributes) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return /** @type {SVGElement} */ (made);
}

/**
 * A smaller icon for small text.
 *
 * @param {string} name
 */
export function fine(name) {
  const picture = icon(name);
  if (picture instanceof Element) picture.classList.add("fine");
  return picture;
}

/** @param {string} name */
function draw(name) {
  const picture = document.createElementNS(SPACE, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 16 16",
    width: "16",
    height: "16",
    class: "icon",
    "aria-hidden": "true",
  })) {
    picture.setAttribute(key, value);
  }
  const path = document.createElementNS(SPACE, "path");
  path.setAttribute("d", PATHS[name]);
  picture.append(path);
  return picture;
}

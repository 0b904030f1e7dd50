// Pictures of 16 by 16, drawn with strokes; each stands beside a word or has a name of its own.

/** @type {Record<string, string>} */
const PATHS = {
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

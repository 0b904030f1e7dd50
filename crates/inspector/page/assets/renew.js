// Draws a part of the page again, and keeps its elements. The browser drops a click whose element is replaced between
// the press and the release of the mouse, and the focus of an element that is replaced.

/**
 * Gives a part other children. An element that is still wanted stays, and is changed where it differs.
 *
 * @param {Element} part
 * @param {(Node | null)[]} wanted
 */
export function renew(part, wanted) {
  const children = wanted.filter((one) => one !== null);
  children.forEach((child, at) => {
    const before = part.childNodes[at];
    if (!before) part.append(child);
    else change(before, child);
  });
  while (part.childNodes.length > children.length) part.lastChild?.remove();
}

/**
 * Makes `before` like `wanted`, or puts `wanted` in its place.
 *
 * @param {ChildNode} before
 * @param {Node} wanted
 */
function change(before, wanted) {
  if (before.isEqualNode(wanted)) return;
  if (!(before instanceof Element) || !(wanted instanceof Element) || !isSame(before, wanted)) {
    before.replaceWith(wanted);
    return;
  }
  for (const { name } of [...before.attributes]) {
    // The user opens and closes details.
    if (!wanted.hasAttribute(name) && name !== "open") before.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (before.getAttribute(name) !== value) before.setAttribute(name, value);
  }
  renew(before, [...wanted.childNodes]);
}

/**
 * Whether both are the same thing to the user. A button has a listener, which may be for something else in a new one,
 * and an element of ours looks after its own children. `data-key` tells entries of a list apart, whose buttons look
 * alike.
 *
 * @param {Element} one
 * @param {Element} other
 */
function isSame(one, other) {
  if (one.getAttribute("data-key") !== other.getAttribute("data-key")) return false;
  if (one.tagName !== other.tagName || one.tagName === "BUTTON" || one.tagName.includes("-")) return false;
  return one.tagName !== "A" || target(one) === target(other);
}

/**
 * Where a link leads, without the settings in its address, which change while the link stays the same.
 *
 * @param {Element} link
 */
const target = (link) => link.getAttribute("href")?.split("?")[0];

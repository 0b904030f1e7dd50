// Updates a part of the page and keeps its elements. The browser drops a click if its element is replaced between the
// press and the release of the mouse, and a replaced element loses the focus.

/**
 * Replaces the children of a part. Elements that are still wanted stay, and only their differences are changed.
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
 * Makes `before` equal to `wanted`, or replaces it.
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
    // `open` belongs to the user, who opens and closes details.
    if (!wanted.hasAttribute(name) && name !== "open") before.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (before.getAttribute(name) !== value) before.setAttribute(name, value);
  }
  renew(before, [...wanted.childNodes]);
}

/**
 * Whether `one` can be changed into `other`. Buttons are always replaced, because the new listener may do something
 * else; custom elements, because they draw their own children. `data-key` distinguishes entries of a list whose
 * buttons look alike.
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
 * The target of a link without the settings in its address, which may change while the link stays the same.
 *
 * @param {Element} link
 */
const target = (link) => link.getAttribute("href")?.split("?")[0];

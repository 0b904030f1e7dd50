// A minimal `document` for modules that are tested without a browser.

export class Element {
  constructor(tag) {
    this.tag = tag;
    this.children = [];
    this.nodes = [];
  }
  setAttribute() {}
  addEventListener() {}
  append(...nodes) {
    for (const node of nodes) {
      this.nodes.push(node);
      if (node instanceof Element) this.children.push(node);
    }
  }
  get lastElementChild() {
    return this.children.at(-1);
  }
  /** The text of all descendants. */
  text() {
    return this.nodes.map((node) => (node instanceof Element ? node.text() : node)).join("");
  }
  /** The depth of nesting. */
  depth() {
    return 1 + this.children.reduce((most, child) => Math.max(most, child.depth()), 0);
  }
  /** The children as HTML without attributes. */
  inner() {
    const whole = (node) => (node instanceof Element ? `<${node.tag}>${node.inner()}</${node.tag}>` : node);
    return this.nodes.map(whole).join("");
  }
}

/** Installs the fake `document`. The page's modules read its other members when they are loaded. */
export function put() {
  const made = { createElement: (/** @type {string} */ tag) => new Element(tag) };
  Object.assign(globalThis, {
    document: made,
    HTMLElement: Element,
    location: { hash: "" },
    sessionStorage: { getItem: () => null },
  });
}

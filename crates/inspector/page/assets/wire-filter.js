// The filter of the wire: `method:tools -ping >100ms`.

/**
 * A test for rows.
 *
 * @param {string} text
 * @returns {Test}
 */
export function wireFilter(text) {
  const tests = words(text).map(one);
  if (tests.length === 1) return tests[0];
  return (row) => tests.every((test) => test(row));
}

const words = (/** @type {string} */ text) => text.split(/\s+/).filter(Boolean);
/** Words that match fewer rows the longer they get. Not `-ping`, and not fields that compare the whole value. */
const GROWS = /^(?:(?:method|object|status):[^:]+|[^-<>:][^:]*)$/i;

/**
 * Whether the rows that match `text` are a subset of those that match `before`.
 *
 * @param {string} before
 * @param {string} text
 */
export function narrows(before, text) {
  const old = words(before);
  const now = words(text);
  return (
    old.length <= now.length &&
    old.every((word, at) => {
      if (word === now[at]) return true;
      return (
        GROWS.test(word) &&
        GROWS.test(now[at]) &&
        word.includes(":") === now[at].includes(":") &&
        now[at].startsWith(word)
      );
    })
  );
}

/** @typedef {(row: WireRow) => boolean} Test */
/** @type {Record<string, (value: string) => Test>} */
const FIELDS = {
  method:
    (value, holds = holding(value)) =>
    (row) =>
      holds(row.method),
  object:
    (value, holds = holding(value)) =>
    (row) =>
      holds(row.object),
  status:
    (value, holds = holding(value)) =>
    (row) =>
      holds(row.status),
  kind: (value) => (row) => row.kind === value,
  call: (value) => (row) => String(row.exchange) === value,
  id: (value) => (row) => String(row.id) === value,
  dir: (value) => (row) => row.direction === value,
};

/**
 * A test whether a text contains a value. Results are kept, because many rows have the same few texts.
 *
 * @param {string} value
 */
function holding(value) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (/** @type {string | null | undefined} */ text) => {
    if (!text) return false;
    let isIn = known.get(text);
    if (isIn === undefined) known.set(text, (isIn = text.toLowerCase().includes(value)));
    return isIn;
  };
}
/** @type {Record<string, number>} */
const UNITS = { ms: 1, s: 1000, b: 1, kb: 1000, mb: 1e6 };

/**
 * @param {string} word
 * @returns {Test}
 */
function one(word) {
  if (word.startsWith("-") && word.length > 1) {
    const inner = one(word.slice(1));
    return (row) => !inner(row);
  }
  const size = /^([<>])(\d+(?:\.\d+)?)(ms|s|b|kb|mb)?$/i.exec(word);
  if (size) {
    const [, sign, digits, given = "ms"] = size;
    const unit = given.toLowerCase();
    const limit = Number(digits) * UNITS[unit];
    const isBytes = unit.endsWith("b");
    return (row) => {
      const of = isBytes ? row.bytes : row.ms;
      return of !== null && of !== undefined && (sign === ">" ? of > limit : of < limit);
    };
  }
  const named = /^([a-z]+):(.+)$/i.exec(word);
  if (named && FIELDS[named[1].toLowerCase()]) {
    return FIELDS[named[1].toLowerCase()](named[2].toLowerCase());
  }
  const holds = holding(word.toLowerCase());
  return (row) => holds(row.status) || holds(row.method) || holds(row.object) || holds(row.kind);
}

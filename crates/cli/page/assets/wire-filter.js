// The filter of the wire: `method:tools -ping >100ms`.

/** A test for rows, and what could not be understood. */
export function wireFilter(text) {
  const tests = text.split(/\s+/).filter(Boolean).map(one);
  return (row) => tests.every((test) => test(row));
}

const FIELDS = {
  method: (row, value) => (row.method ?? "").toLowerCase().includes(value),
  object: (row, value) => (row.object ?? "").toLowerCase().includes(value),
  kind: (row, value) => row.kind === value,
  status: (row, value) => (row.status ?? "").toLowerCase().includes(value),
  call: (row, value) => String(row.exchange) === value,
  id: (row, value) => String(row.id) === value,
  dir: (row, value) => row.direction === value,
};
/** A row's text, made once: ten thousand rows are looked through at every key. */
const texts = new WeakMap();
function textOf(row) {
  let text = texts.get(row);
  if (text === undefined) {
    text = `${row.method ?? ""} ${row.object ?? ""} ${row.status ?? ""} ${row.kind}`.toLowerCase();
    texts.set(row, text);
  }
  return text;
}
const UNITS = { ms: 1, s: 1000, b: 1, kb: 1000, mb: 1e6 };

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
    const of = unit.endsWith("b") ? (row) => row.bytes : (row) => row.ms;
    return (row) => of(row) !== null && of(row) !== undefined && (sign === ">" ? of(row) > limit : of(row) < limit);
  }
  const named = /^([a-z]+):(.+)$/i.exec(word);
  if (named && FIELDS[named[1].toLowerCase()]) {
    const value = named[2].toLowerCase();
    return (row) => FIELDS[named[1].toLowerCase()](row, value);
  }
  const wanted = word.toLowerCase();
  return (row) => textOf(row).includes(wanted);
}

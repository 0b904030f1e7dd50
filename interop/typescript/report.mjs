// One line for each check, in the form that ../run reads.

/** The longest that a check may take, in milliseconds: far more than any of them needs. */
const TIMEOUT = 20_000;

/** Runs a check, and says how it went. */
export async function check(name, body) {
  let timer;
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing happened for ${TIMEOUT} ms`)), TIMEOUT);
  });
  try {
    await Promise.race([body(), overdue]);
    console.log(`ok\t${name}`);
  } catch (error) {
    const reason = String(error?.message ?? error)
      .replaceAll(/\s+/g, " ")
      .slice(0, 500);
    console.log(`FAIL\t${name}\t${reason}`);
  } finally {
    clearTimeout(timer);
  }
}

/** The check fails unless `is` is `wanted`. */
export function same(is, wanted, what = "value") {
  const [one, other] = [JSON.stringify(is), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what} is ${one}, not ${other}`);
}

/** The check fails unless `claim` holds. */
export function holds(claim, what) {
  if (!claim) throw new Error(what);
}

/** The error that a promise ends with; the check fails if it ends well. */
export async function rejected(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`it gave ${JSON.stringify(value)} instead of an error`);
}

// Prints a line for each check, in the format that ../run reads.

/** The time limit of a check, in milliseconds: far more than any check needs. */
const TIMEOUT = 20_000;

/** Runs a check and prints its result. */
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

/** Fails the check unless `is` is `wanted`. */
export function same(is, wanted, what = "value") {
  const [one, other] = [JSON.stringify(is), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what} is ${one}, not ${other}`);
}

/** Fails the check unless `claim` is true. */
export function holds(claim, what) {
  if (!claim) throw new Error(what);
}

/** The error that a promise is rejected with. Fails the check if the promise is fulfilled. */
export async function rejected(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`the result is ${JSON.stringify(value)} instead of an error`);
}

// The name of a server that is a command: its script or its package, not the program that runs it. The binary names
// servers of its command line in the same way.

/** Programs that start what comes after them, and words between the two. */
const STARTERS = new Set(
  (
    "bash bun bunx cargo cmd deno docker dotnet env go java node npm npx perl php pipx pnpm podman poetry python " +
    "ruby sh tsx uv uvx yarn zsh"
  ).split(" "),
);
const VERBS = /^(dlx|exec|run|start|tool|x)$/;
/** Options that are followed by a value of theirs. */
const WITH_VALUE = new Set(
  (
    "-e -p -r -u -v -w -W -X -cp --bin --directory --entrypoint --env --env-file --from --import --loader --mount " +
    "--name --network --package --project --python --require --volume --with"
  ).split(" "),
);
/** Names that many servers have: the folder around them says more. */
const COMMON = new Set(
  (
    "__main__ app bin build cli debug dist index lib main mod out release run scripts server src start target test " +
    "tests"
  ).split(" "),
);
const ENDING = /\.(bat|cjs|cmd|cts|dll|exe|jar|js|mjs|mts|php|py|rb|ts)$/;

/** `python3.12` is the same as without its number. */
const isStarter = (/** @type {string} */ name) => STARTERS.has(name.replace(/\.exe$/, "").replace(/[\d.]+$/, ""));

/** @param {string} path */
const parts = (path) => path.split(/[/\\]/).filter(Boolean).reverse();

/**
 * @param {string} line a command line
 * @returns {string}
 */
export function programName(line) {
  const words = line.trim().split(/\s+/);
  const own = parts(words[0])[0] ?? "";
  if (!isStarter(own)) return own;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (word === "-c" || word === "--eval") return own;
    if (WITH_VALUE.has(word)) at += 1;
    else if (!word.startsWith("-") && !VERBS.test(word) && !isStarter(word) && !/^\/c$|^\w+=/i.test(word)) {
      return scriptName(word) || own;
    }
  }
  return own;
}

/** @param {string} run a script, a package or an image */
function scriptName(run) {
  const [last = "", ...folders] = parts(run);
  const stem = ENDING.test(last) ? last.replace(ENDING, "") : last.replace(/[@=<>~[:].*$/, "");
  if (!COMMON.has(stem)) return stem;
  return folders.find((one) => /^[^.@].{2}/.test(one) && !COMMON.has(one)) ?? stem;
}

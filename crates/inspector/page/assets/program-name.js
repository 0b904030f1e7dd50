// The name of a server that is started by a command: its script or package, not the program that runs it. The binary
// uses the same rules for its command line.

/** Programs that run other programs, and their subcommands. */
const STARTERS = new Set(
  (
    "bash bun bunx cargo cmd deno docker dotnet env go java node npm npx perl php pipx pnpm podman poetry python " +
    "ruby sh tsx uv uvx yarn zsh"
  ).split(" "),
);
const VERBS = /^(dlx|exec|run|start|tool|x)$/;
/**
 * Options with a value, by program. In another program the same letter may be an option without a value.
 * @type {[RegExp, string][]}
 */
const WITH_VALUE = [
  [
    /^(docker|podman)$/,
    "-e -p -u -v -w --entrypoint --env --env-file --label --mount --name --network --platform --publish --user " +
      "--volume --workdir",
  ],
  [/^python$/, "-W -X"],
  [/^(node|bun|tsx)$/, "-r --env-file --import --loader --require"],
  [/^(npx|npm|pnpm|yarn|bunx)$/, "-p --package --prefix"],
  [/^(uv|uvx|pipx|poetry)$/, "-p --directory --env-file --from --project --python --spec --with"],
  [/^cargo$/, "-p --bin --example --manifest-path --package"],
  [/^dotnet$/, "--project"],
  [/^java$/, "-cp --class-path"],
  [/^(ruby|perl)$/, "-I -r"],
  [/^env$/, "-u -C"],
];
/** Options that are followed by code, by program. */
const CODE = /** @type {[RegExp, string][]} */ ([
  [/^(bash|sh|zsh|python)$/, "-c"],
  [/^(node|bun|deno)$/, "-e -p --eval --print"],
  [/^(perl|ruby)$/, "-e"],
]);

/**
 * @param {[RegExp, string][]} table
 * @param {string} runner
 * @param {string} word
 */
const has = (table, runner, word) =>
  table.some(([runners, options]) => runners.test(runner) && options.split(" ").includes(word));

/** Names that many servers have. The name of their folder is more specific. */
const COMMON = new Set(
  (
    "__main__ app bin build cli debug dist index lib main mod out release run scripts server src start target test " +
    "tests"
  ).split(" "),
);
const ENDING = /\.(bat|cjs|cmd|cts|dll|exe|jar|js|mjs|mts|php|py|rb|ts)$/;

/** A program's name without its version: `python3.12` is `python`. */
const plain = (/** @type {string} */ name) => name.replace(/\.exe$/, "").replace(/[\d.]+$/, "");
const isStarter = (/** @type {string} */ name) => STARTERS.has(plain(name));

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
  let runner = plain(own);
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (has(CODE, runner, word)) return own;
    if (has(WITH_VALUE, runner, word)) at += 1;
    else if (/^(env|cmd)$/.test(runner) && isStarter(word)) runner = plain(word);
    else if (!word.startsWith("-") && !VERBS.test(word) && !/^\/c$|^\w+=/i.test(word)) {
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

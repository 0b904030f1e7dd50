// Creates the terminal recording in the README by running the commands that it shows:
//
//   node scripts/recording.mjs TURNBUCKLE FILE.svg
//
// It needs `script` of util-linux. The picture is an animated SVG: each command is typed, and then its output appears.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const COMMANDS = [
  "turnbuckle list demo add",
  "turnbuckle call demo add a=9007199254740993 b=1",
  "turnbuckle call demo ad a=1 b=2",
  "turnbuckle call demo greet --answer name=Ada",
  "turnbuckle up",
  "turnbuckle call http://127.0.0.1:7250/mcp demo__weather place=Oslo --revision 2025-06-18",
];
/** The address shown in the picture, in place of the free port that is used. */
const ADDRESS = "127.0.0.1:7250";
/** The time limit of a command, in milliseconds. */
const TIMEOUT = 30_000;
/** The commands that keep running, with the output after which the next command is typed. */
const LASTING = { "turnbuckle up": /ready [^]*ready .*ms/ };
/** The screen in characters, and a character in px. */
const SCREEN = { columns: 92, rows: 22 };
const CELL = { width: 8, height: 20 };
const EDGE = 16;
/** Seconds for typing a letter, before a command runs, and for reading its output. */
const PACE = { letter: 0.04, enter: 0.4, read: 2.5 };
const COLOURS = {
  30: "#0c0e12",
  31: "#ff8f8a",
  32: "#5fcf97",
  33: "#e4b454",
  34: "#7db2ff",
  35: "#c5a7ff",
  36: "#4fc3cd",
  37: "#e8ebf0",
  90: "#9da6b4",
};

const ESCAPE = String.fromCharCode(27);
/** Control sequences of a terminal other than colours. */
const CLEARING = new RegExp(`${ESCAPE}\\[[\\d;?]*[A-Za-ln-z]`, "g");
const SEQUENCE = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

const [turnbuckle, file] = process.argv.slice(2).map((one) => resolve(one));
const home = await mkdtemp(join(tmpdir(), "turnbuckle-recording-"));
await mkdir(join(home, ".cursor"));
const demo = { command: turnbuckle, args: ["serve", "--stdio"] };
const second = { ...demo, env: { CITY: "Oslo" } };
await writeFile(join(home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers: { demo, weather: second } }));
/** @type {import("node:child_process").ChildProcess[]} */
const lasting = [];
let address = ADDRESS;

/** The output of a command. For a command that keeps running, the output until others can use it. */
function run(line) {
  const [, ...words] = line.replaceAll(ADDRESS, address).split(" ");
  const until = LASTING[line];
  if (until) words.push("--listen", "127.0.0.1:0");
  return new Promise((done, failed) => {
    const env = {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: home,
      COLUMNS: String(SCREEN.columns),
      RUST_LOG: "error",
    };
    const command = [turnbuckle, ...words, "--color", "always"];
    // In a terminal, because some commands print tables there and JSON elsewhere.
    const size = `stty cols ${SCREEN.columns} rows ${SCREEN.rows}`;
    const child = until
      ? spawn(command[0], command.slice(1), { cwd: home, env })
      : spawn("script", ["-qec", `${size}; ${command.join(" ")}`, "/dev/null"], { cwd: home, env });
    let text = "";
    const lines = () => {
      const said = text
        .replaceAll("\r\n", "\n")
        .replaceAll(/.*\r/g, "")
        .replaceAll(CLEARING, "")
        .replaceAll(address, ADDRESS)
        .replace(/(#token=\w{6})\w+/, "$1…");
      return said.trimEnd().split("\n");
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (piece) => {
        text += piece;
        if (!until?.test(text)) return;
        address = /http:\/\/([\d.:]+)\//.exec(text)?.[1] ?? address;
        done(lines());
      });
    }
    child.stdin.end();
    setTimeout(() => failed(new Error(`\`${line}\` took too long; it printed: ${text}`)), TIMEOUT).unref();
    if (until) lasting.push(child);
    child.on("close", () => done(lines()));
  });
}

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A line with terminal colours, as parts of an SVG text. */
function parts(line) {
  let look = "";
  return line
    .slice(0, SCREEN.columns * 2)
    .split(SEQUENCE)
    .map((piece) => {
      const code = piece.startsWith(ESCAPE) ? [piece, piece.slice(2, -1)] : null;
      if (!code) return piece ? `<tspan${look}>${escape(piece)}</tspan>` : "";
      look = code[1]
        .split(";")
        .map((one) => (one === "1" ? ' font-weight="600"' : one === "2" ? ' fill="#9da6b4"' : fill(one)))
        .join("");
      return "";
    })
    .join("");
}

const fill = (code) => (COLOURS[code] ? ` fill="${COLOURS[code]}"` : "");

/** Lines with the times at which they appear and at which the screen is cleared. */
const lines = [];
let time = 0.5;
let row = 0;
for (const command of COMMANDS) {
  const printed = await run(command);
  if (row + printed.length + 2 > SCREEN.rows) {
    for (const one of lines) one.until ??= time;
    row = 0;
  }
  lines.push({ row, text: command, from: time, isTyped: true });
  time += command.length * PACE.letter + PACE.enter;
  printed.forEach((text, at) => lines.push({ row: row + 1 + at, text, from: time }));
  row += printed.length + 2;
  time += PACE.read;
}
for (const child of lasting) {
  const ended = new Promise((done) => child.on("close", done));
  child.kill("SIGINT");
  await ended;
}
await rm(home, { recursive: true, force: true });

const whole = time + 1;
const share = (at) => (at / whole).toFixed(4);
const width = SCREEN.columns * CELL.width + EDGE * 2;
const height = SCREEN.rows * CELL.height + EDGE * 2;

/** A repeating animation that sets an attribute between two times. */
function shown(from, until) {
  const times = [0, from, ...(until ? [until] : []), whole].map(share).join(";");
  const values = ["0", "1", ...(until ? ["0", "0"] : ["1"])].join(";");
  return `<animate attributeName="opacity" dur="${whole}s" repeatCount="indefinite" calcMode="discrete"
 keyTimes="${times}" values="${values}"/>`;
}

function draw({ row: at, text, from, until, isTyped }) {
  const y = EDGE + (at + 1) * CELL.height - 5;
  if (!isTyped) return `<text x="${EDGE}" y="${y}" xml:space="preserve">${parts(text)}${shown(from, until)}</text>`;
  const letters = [...text].map((letter, index) => {
    const x = EDGE + (index + 2) * CELL.width;
    const typed = shown(from + index * PACE.letter, until);
    return `<text x="${x}" y="${y}" font-weight="600">${escape(letter)}${typed}</text>`;
  });
  const prompt = `<text x="${EDGE}" y="${y}" fill="#5fcf97">$${shown(Math.max(0.01, from - 0.4), until)}</text>`;
  return prompt + letters.filter((_, index) => text[index] !== " ").join("\n");
}

const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"
 viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: ${escape(COMMANDS.join("; "))}"
 font-size="13" fill="#e8ebf0"
 font-family="ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, 'Liberation Mono', monospace">
<rect width="${width}" height="${height}" rx="8" fill="#12151a"/>
${lines.map(draw).join("\n")}
</svg>
`;
await writeFile(file, picture);
console.log(`${dirname(file)}: ${lines.length} lines, ${whole.toFixed(1)} s, ${picture.length} bytes`);

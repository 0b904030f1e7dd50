//! The name of a server that is a command: that of its script or package, not of the program that runs it.

/// Programs that start another program, which follows their own arguments.
const WRAPPERS: [&str; 2] = ["env", "cmd"];

/// Programs that run scripts, modules, packages or images.
const RUNNERS: [&str; 26] = [
    "bash", "bun", "bunx", "cargo", "deno", "docker", "dotnet", "go", "java", "node", "npm", "npx",
    "perl", "php", "pipx", "pnpm", "podman", "poetry", "python", "ruby", "sh", "tsx", "uv", "uvx",
    "yarn", "zsh",
];

/// Subcommands of runners that come before the name of the script or package.
const VERBS: [&str; 6] = ["dlx", "exec", "run", "start", "tool", "x"];

/// Whether an option of a runner is followed by a value. The same letter may be a switch of another runner.
fn has_value(runner: &str, option: &str) -> bool {
    let options: &[&str] = match runner {
        "docker" | "podman" => &[
            "-e",
            "-p",
            "-u",
            "-v",
            "-w",
            "--entrypoint",
            "--env",
            "--env-file",
            "--label",
            "--mount",
            "--name",
            "--network",
            "--platform",
            "--publish",
            "--user",
            "--volume",
            "--workdir",
        ],
        "python" => &["-W", "-X"],
        "node" | "bun" | "tsx" => &["-r", "--env-file", "--import", "--loader", "--require"],
        "npx" | "npm" | "pnpm" | "yarn" | "bunx" => &["-p", "--package", "--prefix"],
        "uv" | "uvx" | "pipx" | "poetry" => &[
            "-p",
            "--directory",
            "--env-file",
            "--from",
            "--project",
            "--python",
            "--spec",
            "--with",
        ],
        "cargo" => &["-p", "--bin", "--example", "--manifest-path", "--package"],
        "dotnet" => &["--project"],
        "java" => &["-cp", "--class-path"],
        "ruby" | "perl" => &["-I", "-r"],
        _ => &[],
    };
    options.contains(&option)
}

/// Names of scripts and folders that many servers have. The folder above them is a better name.
const COMMON: [&str; 21] = [
    "__main__", "app", "bin", "build", "cli", "debug", "dist", "index", "lib", "main", "mod",
    "out", "release", "run", "scripts", "server", "src", "start", "target", "test", "tests",
];

/// How many characters the name of a folder must have to be used.
const SHORTEST: usize = 3;

/// File endings of scripts.
const ENDINGS: [&str; 14] = [
    "bat", "cjs", "cmd", "cts", "dll", "exe", "jar", "js", "mjs", "mts", "php", "py", "rb", "ts",
];

/// The name for a command.
pub(super) fn of<S: AsRef<str>>(program: &str, arguments: &[S]) -> String {
    let own = last_part(program);
    let stem = without_ending(own);
    if WRAPPERS.contains(&stem) {
        let is_of_wrapper = |word: &str| word.starts_with(['-', '/']) || word.contains('=');
        let mut start = 0;
        while let Some(word) = arguments.get(start).map(AsRef::as_ref) {
            start += match word {
                // `env -u NAME` and `env -C FOLDER`.
                "-u" | "-C" if stem == "env" => 2,
                _ if is_of_wrapper(word) => 1,
                _ => break,
            };
        }
        if start < arguments.len() {
            return of(arguments[start].as_ref(), &arguments[start + 1..]);
        }
    }
    // `python3.12` and `pypy3` are treated like the same names without the number.
    let runner = stem.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if !RUNNERS.contains(&runner) {
        return own.to_owned();
    }
    let run = what_is_run(runner, arguments);
    let named = run.map(script_name).filter(|name| !name.is_empty());
    named.unwrap_or(own).to_owned()
}

/// The script, the module, the package or the image among the arguments of a runner.
fn what_is_run<'w, S: AsRef<str>>(runner: &str, arguments: &'w [S]) -> Option<&'w str> {
    let mut words = arguments.iter().map(AsRef::as_ref);
    while let Some(word) = words.next() {
        let is_code = match runner {
            "bash" | "sh" | "zsh" | "python" => word == "-c",
            "node" | "bun" | "deno" => ["-e", "-p", "--eval", "--print"].contains(&word),
            "perl" | "ruby" => word == "-e",
            _ => false,
        };
        match word {
            _ if is_code => return None,
            "-m" | "-jar" => return words.next(),
            _ if has_value(runner, word) => drop(words.next()),
            _ if word.starts_with('-') || VERBS.contains(&word) => {}
            other => return Some(other),
        }
    }
    None
}

/// The name of a script, a package or an image.
fn script_name(run: &str) -> &str {
    let mut parts = run.rsplit(['/', '\\']).filter(|part| !part.is_empty());
    let last = parts.next().unwrap_or_default();
    let stem = without_ending(last);
    if stem == last {
        // `@scope/name@1.2`, `name==1.2`, `image:latest`.
        let end = last.find(['@', '=', '<', '>', '~', '[', ':']);
        let name = &last[..end.unwrap_or(last.len())];
        if !COMMON.contains(&name) {
            return name;
        }
    } else if !COMMON.contains(&stem) {
        return stem;
    }
    let is_telling = |part: &&str| {
        part.len() >= SHORTEST && !COMMON.contains(part) && !part.starts_with(['.', '@'])
    };
    parts.find(is_telling).unwrap_or(stem)
}

fn last_part(path: &str) -> &str {
    let mut parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
    parts.next().unwrap_or(path)
}

fn without_ending(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ENDINGS.contains(&ending) => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_what_is_run() {
        for (line, wanted) in [
            ("weather-server --port 1", "weather-server"),
            ("/opt/bin/weather", "weather"),
            ("python3 lab.py --x", "lab"),
            ("python3.12 -B /srv/lab.py", "lab"),
            ("python -m mcp_server_git --repository .", "mcp_server_git"),
            ("python3 -c print()", "python3"),
            ("node /srv/filesystem/dist/index.js /tmp", "filesystem"),
            ("node dist/index.js", "index"),
            ("python3 /srv/weather/tests/it/server.py", "weather"),
            ("node --require x ./memory.mjs", "memory"),
            (
                "npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio",
                "server-everything",
            ),
            ("npx --package=a b", "b"),
            (
                "uvx --from git+https://x mcp-server-git==1.2",
                "mcp-server-git",
            ),
            ("uv --directory /srv run weather.py", "weather"),
            ("uv tool run ruff", "ruff"),
            ("docker run -i --rm -e TOKEN mcp/fetch:latest", "fetch"),
            ("deno run -A jsr:@scope/lab", "lab"),
            ("java -jar /srv/lab-1.2.jar", "lab-1.2"),
            ("env TOKEN=x node lab.js", "lab"),
            ("cmd /c npx -y lab", "lab"),
            ("python3 -u weather.py", "weather"),
            (
                "python3 -u /srv/weather/server.py /home/ada/notes",
                "weather",
            ),
            ("bash -e start-lab.sh /data", "start-lab.sh"),
            ("ruby -w lab.rb db", "lab"),
            ("deno run -r lab.ts x", "lab"),
            ("env -u HOME node lab.js", "lab"),
            ("docker run --platform linux/amd64 mcp/fetch", "fetch"),
            ("docker run -u 1000 --user 1000 mcp/fetch", "fetch"),
            ("node", "node"),
            ("bash -c true", "bash"),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(of(words[0], &words[1..]), wanted, "{line}");
        }
    }
}

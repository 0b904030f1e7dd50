//! `turnbuckle doctor` on servers that are broken on purpose and on servers that are not, each a real process,
//! over real pipes and sockets.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_turnbuckle");

/// The result of a run.
struct Diagnosis {
    code: i32,
    report: Value,
    stderr: String,
}

/// Runs doctor with `--json` and these words.
fn doctor(words: &[&str]) -> Diagnosis {
    let output = Command::new(BINARY)
        .args(["doctor", "--json"])
        .args(words)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let stdout = String::from_utf8(output.stdout).expect("stdout is UTF-8");
    let stderr = String::from_utf8(output.stderr).expect("stderr is UTF-8");
    let report = serde_json::from_str(&stdout)
        .unwrap_or_else(|error| panic!("{error}\nstdout: {stdout}\nstderr: {stderr}"));
    Diagnosis {
        code: output.status.code().expect("it was not killed"),
        report,
        stderr,
    }
}

/// A broken server over stdio, in a run that may take `seconds`.
fn broken_within(seconds: &str, name: &str, options: &[&str]) -> Diagnosis {
    let path = script(name);
    let path = path.to_str().expect("the path is UTF-8");
    let mut words = vec!["--timeout", seconds];
    words.extend(options);
    words.extend(["--", "python3", path]);
    doctor(&words)
}

/// A broken server over stdio, with far more time than is needed, even on a busy machine.
fn broken(name: &str) -> Diagnosis {
    broken_within("60", name, &[])
}

pub(crate) fn script(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/broken");
    Path::new(folder).join(format!("{name}.py"))
}

impl Diagnosis {
    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.report["findings"].as_array().into_iter().flatten()
    }

    /// The sorted ids of findings with this severity.
    fn wrong(&self, severity: &str) -> Vec<&str> {
        let mut ids: Vec<&str> = self
            .findings()
            .filter(|finding| finding["severity"] == severity)
            .filter_map(|finding| finding["id"].as_str())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    #[track_caller]
    fn finding(&self, id: &str) -> &Value {
        let found = self
            .findings()
            .find(|finding| finding["id"] == id && finding["severity"] != "ok");
        found.unwrap_or_else(|| panic!("no `{id}` in {:#}", self.report))
    }

    /// Asserts that exactly these errors were found.
    #[track_caller]
    fn errors_are(&self, code: i32, ids: &[&str]) {
        assert_eq!(self.wrong("error"), ids, "{:#}", self.report);
        assert_eq!(self.code, code, "{}", self.stderr);
        for id in ids {
            let finding = self.finding(id);
            assert!(finding["fix"].is_string(), "{finding}");
        }
    }

    #[track_caller]
    fn warns_of(&self, id: &str) {
        assert_eq!(self.finding(id)["severity"], "warning");
    }

    #[track_caller]
    fn has_seen(&self, id: &str, text: &str) {
        let evidence = self.finding(id)["evidence"].to_string();
        assert!(evidence.contains(text), "no {text:?} in {evidence}");
    }
}

/// A server at its own port, ended with the test.
pub(crate) struct Site {
    process: Child,
    pub(crate) port: u16,
}

impl Site {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut stdout = BufReader::new(stdout);
        // Its output is its port or its URL, perhaps after other words.
        let port = loop {
            let mut line = String::new();
            let count = stdout.read_line(&mut line).expect("it says where it is");
            assert!(count > 0, "the server ended");
            let rest = line.rsplit("127.0.0.1:").next().unwrap_or_default();
            if let Ok(port) = rest.split('/').next().unwrap_or_default().trim().parse() {
                break port;
            }
        };
        // Its output must be read, or it would block.
        std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
        Self { process, port }
    }

    pub(crate) fn broken(fault: &str, more: &[&str]) -> Self {
        let path = script("at_url");
        let mut words = vec![path.to_str().expect("the path is UTF-8"), fault];
        words.extend(more);
        Self::start("python3", &words)
    }

    fn doctor(&self, options: &[&str]) -> Diagnosis {
        self.at("http", "/mcp", options)
    }

    fn at(&self, scheme: &str, path: &str, options: &[&str]) -> Diagnosis {
        let url = format!("{scheme}://127.0.0.1:{}{path}", self.port);
        let mut words = vec![url.as_str()];
        words.extend(options);
        doctor(&words)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The demo server at its own port.
fn demo() -> Site {
    let mut process = Command::new(BINARY)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the demo server starts");
    let mut stderr = BufReader::new(process.stderr.take().expect("stderr is piped"));
    let mut line = String::new();
    while !line.contains("/mcp") {
        line.clear();
        let count = stderr.read_line(&mut line).expect("it says where it is");
        assert!(count > 0, "the demo server ended");
    }
    // The rest of its output is not used, but must be read so that the program does not block.
    std::thread::spawn(move || {
        let mut rest = String::new();
        let _ = stderr.read_to_string(&mut rest);
    });
    let port = line.split("127.0.0.1:").nth(1).and_then(|rest| {
        let end = rest.find('/')?;
        rest[..end].parse().ok()
    });
    Site {
        process,
        port: port.expect("the line has a port"),
    }
}

mod clean;
mod connection;
mod faults;
mod output;
mod program;
mod site;

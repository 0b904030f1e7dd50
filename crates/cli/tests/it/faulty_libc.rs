//! Names that are never resolved, and a time of day that jumps, by means of a library that is loaded before the
//! system's.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use serde_json::Value;

use crate::{
    program::{BINARY, HttpDemo, Place, eventually, stderr, stdout},
    up::Gateway,
};

/// Builds the library. Returns its path.
pub(crate) fn library(place: &Place) -> String {
    place.write("faulty_libc.rs", include_str!("preload/faulty_libc.rs"));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let built = Command::new(rustc)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "cdylib",
            "-C",
            "panic=abort",
        ])
        .args(["-o", "libfaulty.so", "faulty_libc.rs"])
        .current_dir(place.path())
        .output()
        .expect("the compiler runs");
    assert!(built.status.success(), "{}", stderr(&built));
    place.file("libfaulty.so")
}

#[test]
fn a_name_that_is_never_resolved_costs_ten_seconds_and_holds_up_no_other_server() {
    let place = Place::new();
    let library = library(&place);
    let mut command = place.command(BINARY);
    command.args(["call", "http://name.slow:9/mcp", "echo", "text=hi"]);
    let output = command.env("LD_PRELOAD", &library).output();
    let output = output.expect("the binary runs");
    let said = stderr(&output);
    assert!(!output.status.success(), "{}", stdout(&output));
    assert!(said.contains("no connection within 10s"), "{said}");

    let near = format!(r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#);
    let slow = r#"{"url":"http://name.slow:9/mcp"}"#;
    place.write(
        "servers.json",
        &format!(r#"{{"mcpServers":{{"slow":{slow},"near":{near}}}}}"#),
    );
    let gateway = Gateway::start_with(&place, &["servers.json"], |command| {
        command.env("LD_PRELOAD", &library);
    });
    gateway.hears(&["ready", "near"]);
    let output = place.run(&["call", &gateway.url, "near__echo", "text=hi"]);
    assert_eq!(stdout(&output), "hi\n", "{}", stderr(&output));
    gateway.hears(&["failed", "slow", "no connection within 10s"]);
}

/// A replica is not started without Redis, but it says why, and ends.
#[test]
fn a_redis_whose_name_is_never_resolved_is_reported() {
    let place = Place::new();
    let library = library(&place);
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let gateway = ["up", "--", BINARY, "serve", "--stdio"];
    let started = [&["serve"][..], &gateway].map(|words| {
        let mut command = place.command(BINARY);
        command
            .arg(words[0])
            .args(["--listen", "127.0.0.1:0", "--secret-file", "secret"])
            .args(["--redis", "redis://name.slow:6379"])
            .args(&words[1..])
            .env("LD_PRELOAD", &library)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    });
    for mut child in started {
        eventually("it gives up", || child.try_wait().expect("it can be asked"));
        let output = child.wait_with_output().expect("it has ended");
        assert_eq!(output.status.code(), Some(3));
        let said = stderr(&output);
        assert!(
            said.contains("redis") && said.contains("timed out"),
            "{said}"
        );
    }
}

/// A command that watches a resource with a clock that jumps, until it is dropped.
struct Watcher {
    child: Child,
    lines: Receiver<String>,
}

impl Watcher {
    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        let printed = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut printed = printed.lines().map_while(Result::ok);
            printed.all(|line| sender.send(line).is_ok())
        });
        Self { child, lines }
    }

    /// Whether it prints a change of the resource now, or has printed one that was not read yet.
    fn hears(&self) -> bool {
        let line = self.lines.recv_timeout(Duration::from_secs(1));
        line.is_ok_and(|line| line.contains("demo://ticks"))
    }

    fn is_faulty(&self) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id()));
        maps.is_ok_and(|maps| maps.contains("libfaulty.so"))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_clock_that_jumps_while_a_client_runs_ends_no_subscription() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let library = library(&place);
    let day = 24 * 60 * 60_i64;
    for revision in ["2025-11-25", "2026-07-28"] {
        place.write("offset", "0");
        let mut command = place.command(BINARY);
        command.args(["watch", &demo.url, "demo://ticks", "--revision", revision]);
        command.env("LD_PRELOAD", &library);
        command.env("CLOCK_OFFSET_FILE", place.file("offset"));
        let mut watcher = Watcher::start(command);
        for offset in [0, day, -day, 400 * day, 0] {
            place.write("offset", &offset.to_string());
            // Output from before the jump proves nothing.
            while watcher.lines.try_recv().is_ok() {}
            eventually("the watcher hears of a change", || {
                let ticked = place.run(&["call", &demo.url, "tick"]);
                assert!(ticked.status.success(), "{}", stderr(&ticked));
                watcher.hears().then_some(())
            });
        }
        assert!(watcher.is_faulty(), "the jumps were real");
        let ended = watcher.child.try_wait().expect("it can be asked");
        assert_eq!(ended, None, "{revision}: it goes on");
    }
}

#[test]
fn a_clock_that_jumps_ends_no_session_and_no_server() {
    let place = Place::new();
    let library = library(&place);
    place.write("offset", "0");
    let faulty = |command: &mut Command| {
        command
            .env("LD_PRELOAD", &library)
            .env("CLOCK_OFFSET_FILE", place.file("offset"));
    };
    // The server inherits the clock of its gateway.
    let words = ["--access-log", "log", "--", BINARY, "serve", "--stdio"];
    let gateway = Gateway::start_with(&place, &words, faulty);
    gateway.hears(&["ready"]);
    let day = 24 * 60 * 60_i64;
    for offset in [0, day, -day, 400 * day, 0] {
        place.write("offset", &offset.to_string());
        for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            let mut command = place.command(BINARY);
            command.args([
                "call",
                &gateway.url,
                "echo",
                "text=hi",
                "--revision",
                revision,
            ]);
            faulty(&mut command);
            let output = command.output().expect("the binary runs");
            assert_eq!(stdout(&output), "hi\n", "{offset}: {}", stderr(&output));
        }
    }
    let said = gateway.said();
    assert_eq!(
        said.matches("ready").count(),
        1,
        "it was not started again: {said}"
    );
    // Checks that the jumps really happened.
    let log = place.read("log");
    let times = log.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).expect(line);
        line["time"].as_i64()
    });
    let times: Vec<i64> = times.collect();
    let (first, last) = (times.iter().min(), times.iter().max());
    let jump = last.zip(first).map(|(last, first)| last - first);
    assert!(jump > Some(400 * day * 1000), "{times:?}");
}

//! Names that are never resolved, and a time of day that jumps: by a library that is loaded before that of the
//! system.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::process::Command;

use serde_json::Value;

use crate::{
    program::{BINARY, Place, stderr, stdout},
    up::Gateway,
};

/// Builds the library. Says where it is.
fn library(place: &Place) -> String {
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
    // The jumps were real.
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

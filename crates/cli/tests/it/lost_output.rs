//! A command whose output could not be written has failed.

#![cfg(target_os = "linux")]

use std::process::Stdio;

use crate::program::{BINARY, Place, stderr};

/// The exit code for output that could not be written.
const LOST: Option<i32> = Some(8);

#[test]
fn a_full_disk_is_an_error() {
    let place = Place::with_lab();
    for line in [
        "turnbuckle list lab > /dev/full",
        "turnbuckle call lab echo text=x --json > /dev/full",
        "turnbuckle servers > /dev/full",
        "turnbuckle completions bash > /dev/full",
        "turnbuckle doctor lab > /dev/full",
        "turnbuckle --help > /dev/full",
        "turnbuckle help call > /dev/full",
        "turnbuckle --version > /dev/full",
    ] {
        let output = place.shell(line);
        assert_eq!(output.status.code(), LOST, "{line}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("cannot write to stdout"), "{line}: {said}");
    }
}

#[test]
fn a_reader_that_has_gone_is_told_by_the_exit_code_alone() {
    let place = Place::with_lab();
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let mut command = place.command(BINARY);
    let command = command.args(["list", "lab"]).stdout(writer);
    let output = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let output = output.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), LOST, "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "it is what `| head -1` does");
}

/// `2>&1 | head -1` closes stderr; the exit codes are still those of the help.
#[test]
fn a_closed_stderr_changes_no_exit_code() {
    let place = Place::with_lab();
    for (words, code) in [
        (&["call", "nosuch", "x"][..], 2),
        (&["call", "lab", "nosuch"], 2),
        (&["call", "lab", "echo", "text=x", "colour=red"], 0),
        (&["list", "lab", "--wire"], 0),
        (&["call", "lab", "log", "text=x", "--log", "debug"], 0),
        (&["list", "http://127.0.0.1:1/mcp"], 3),
        (&["servers", "--config", "none.json"], 2),
        (&["up", "--check", "none.json"], 2),
        (&["up", "--check"], 0),
        (&["lock", "--check"], 1),
        (&["doctor", "lab"], 0),
        (&["serve", "--listen", "nonsense"], 2),
        (&["nosuch"], 2),
    ] {
        let wanted = place.run(words).status.code();
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let mut command = place.command(BINARY);
        let command = command.args(words).stdout(Stdio::null()).stderr(writer);
        let status = command.status().expect("the binary runs");
        assert_eq!(status.code(), wanted, "{words:?}");
        assert_eq!(status.code(), Some(code), "{words:?}");
    }
}

#[test]
fn a_server_that_nobody_listens_to_serves() {
    let place = Place::with_lab();
    for words in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["up", "--listen", "127.0.0.1:0"],
    ] {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let mut command = place.command("timeout");
        let command = command.args(["--preserve-status", "3", BINARY]).args(words);
        let command = command.env("RUST_LOG", "debug").stderr(writer);
        let status = command.status().expect("the binary runs");
        assert_eq!(status.code(), Some(0), "{words:?}: it ends by the signal");
    }
}

#[test]
fn a_recording_that_was_not_written_is_an_error() {
    let place = Place::with_lab();
    for line in [
        "turnbuckle call lab echo text=x --record /dev/full",
        "turnbuckle doctor lab --record /dev/full",
        r#"printf '{"jsonrpc":"2.0","id":1,"method":"ping"}\n' | turnbuckle record /dev/full lab"#,
    ] {
        let output = place.shell(line);
        assert_eq!(output.status.code(), LOST, "{line}: {}", stderr(&output));
    }
}

#[test]
fn a_picture_that_was_not_saved_is_an_error() {
    let place = Place::with_lab();
    for folder in ["/dev/null", "/proc/none"] {
        let line = format!("turnbuckle call lab picture --save {folder}");
        let output = place.shell(&line);
        assert_eq!(output.status.code(), LOST, "{line}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("was not saved"), "{line}: {said}");
    }
}

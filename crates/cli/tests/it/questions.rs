//! Commands against the demo server: their questions, their output, and their exit codes.

use std::process::{Command, Output, Stdio};

use crate::program::{Place, stderr};

const BINARY: &str = env!("CARGO_BIN_EXE_turnbuckle");

/// Runs a command of the binary on a new demo server, without a terminal.
fn on_demo(words: &[&str]) -> Output {
    Command::new(BINARY)
        .args(words)
        .args(["--", BINARY, "serve", "--stdio"])
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_question_without_a_terminal_ends_with_six_and_is_shown() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let output = on_demo(&["call", "greet", "--json", "--revision", revision]);
        assert_eq!(output.status.code(), Some(6), "{revision}: {output:?}");
        let asked = stdout(&output);
        assert!(asked.starts_with("{\"inputRequests\":{"), "{asked}");
        assert!(asked.contains("Whom may I greet?"), "{asked}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.ends_with("hint: pass --answer name=VALUE\n"), "{said}");
    }
}

#[test]
fn answers_given_ahead_are_used() {
    for (words, wanted) in [
        (
            &["call", "greet", "--answer", "name=Ada"][..],
            "Hello, Ada!\n",
        ),
        (
            &[
                "call",
                "greet",
                "--answer",
                "person.name=Ada",
                "--answer",
                "tone=2",
            ],
            "A very good day to you, Ada.\n",
        ),
        (
            &["call", "greet", "--answer", "person=decline"],
            "Hello, stranger!\n",
        ),
        (
            &["call", "visit", "--answer", "page=accept"],
            "The page may be opened.\n",
        ),
        (
            &["call", "write", "about=x", "--answer", "line=so"],
            "so (human)\n",
        ),
        (&["call", "roots", "--root", "/"], "file:///\n"),
    ] {
        let output = on_demo(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        assert_eq!(stdout(&output), wanted, "{words:?}");
    }
}

// rule: O1, O2
#[test]
fn a_root_is_a_folder_that_can_be_read_and_is_watched() {
    let place = Place::new();
    let file = place.path().join("file.txt");
    std::fs::write(&file, "x").expect("a file");
    for path in [file.to_str().expect("UTF-8"), "/no/such/folder"] {
        let output = on_demo(&["call", "roots", "--root", path]);
        assert_eq!(output.status.code(), Some(2), "{path}: {output:?}");
        assert!(stderr(&output).contains("must be a folder"), "{output:?}");
    }
    // The client declares that it notifies the server of changes.
    let words = [
        "call",
        "roots",
        "--root",
        "/",
        "--revision",
        "2025-11-25",
        "--wire",
    ];
    let said = stderr(&on_demo(&words));
    assert!(said.contains(r#""roots":{"listChanged":true}"#), "{said}");
}

#[test]
fn exit_codes_tell_what_happened() {
    for (words, code, hint) in [
        (
            &["call", "ecko", "text=x"][..],
            2,
            "hint: did you mean `echo`?\n",
        ),
        (
            &["call", "add", "a=1", "b=old"],
            2,
            "hint: the signature is add(a: integer, b: integer)\n",
        ),
        (
            &["call", "weather", "plcae=Oslo"],
            2,
            "`place` is missing, and `plcae` is not an argument\n\
             hint: the signature is weather(place: string, unit?: \"celsius\"|\"fahrenheit\")\n",
        ),
        (&["call", "greet", "--answer", "name="], 2, ""),
        (
            &["call", "fail"],
            1,
            "error: tool `fail` reported an error\n",
        ),
        (
            &["call", "count", "to=5", "pause=5000", "--timeout", "0.2"],
            7,
            "",
        ),
        (&["read", "demo://nowhere"], 4, ""),
    ] {
        let output = on_demo(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(said.ends_with(hint), "{words:?}: {said}");
    }
}

#[test]
fn a_recording_answers_as_the_server_did() {
    let file = std::env::temp_dir().join(format!("turnbuckle-record-{}", std::process::id()));
    let path = file.to_str().expect("the path is text");
    let recorded = on_demo(&["call", "add", "a=1", "b=2", "--json", "--record", path]);
    let replayed = Command::new(BINARY)
        .args([
            "call", "add", "a=1", "b=2", "--json", "--", BINARY, "replay", path,
        ])
        .output()
        .expect("the binary runs");
    let compared = on_demo(&["replay", path]);
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(stdout(&replayed), stdout(&recorded));
    assert!(stdout(&recorded).contains("\"structuredContent\":{\"sum\":3}"));
    assert_eq!(compared.status.code(), Some(0), "{compared:?}");
}

/// All missing answers are asked for at once, and answers without a question are reported.
#[test]
fn answers_that_are_missing_unasked_for_or_repeated_are_named() {
    let place = Place::with_lab();
    let call = ["call", "lab", "deploy", "env=prod"];
    let output = place.run(&call);
    let hint = "hint: pass --answer confirm=true --answer reason=VALUE\n";
    assert!(stderr(&output).ends_with(hint), "{output:?}");
    let answers = ["--answer", "confirm=true", "--answer", "reason=because"];
    let unasked = ["--answer", "raeson=x"];
    let output = place.run(&[&call[..], &answers, &unasked].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let wanted = "warning: `--answer raeson=…` not used: nothing asked for `raeson`\n";
    assert_eq!(stderr(&output), wanted);
    let output = place.run(&[&call[..], &answers, &["--answer", "confirm=false"]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(
        stderr(&output),
        "error: `--answer confirm=…` is given twice\n"
    );
}

//! Suggestions while a command line is typed.

use crate::program::{Place, stdout};

/// The suggestions at the end of these words.
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let output = place.run(&[&["__complete", "--"], words].concat());
    assert!(output.status.success(), "{output:?}");
    let lines = stdout(&output);
    let texts = lines
        .lines()
        .map(|line| line.split('\t').next().unwrap_or(line));
    texts.map(str::to_owned).collect()
}

#[test]
fn every_kind_of_word_is_offered() {
    let place = Place::with_lab();
    for (words, wanted) in [
        (&["rep"][..], &["replay"][..]),
        (&["call", "la"], &["lab"]),
        (&["call", "--json", "la"], &["lab"]),
        (&["call", "lab", "we"], &["weather"]),
        (&["call", "lab", "weather", ""], &["place=", "unit="]),
        (&["call", "lab", "weather", "place=Oslo", ""], &["unit="]),
        (
            &["call", "lab", "weather", "unit="],
            &["unit=celsius", "unit=fahrenheit"],
        ),
        (&["call", "lab", "print", "by_child=t"], &["by_child=true"]),
        (&["call", "lab", "order", "items"], &["items+="]),
        (&["load", "lab", "ech"], &["echo"]),
        (&["get", "lab", "rev"], &["review"]),
        (&["get", "lab", "review", "lan"], &["language="]),
        (
            &["get", "lab", "review", "language=ru"],
            &["language=rust", "language=ruby"],
        ),
        (
            &["get", "lab", "review", "language=rust", "framework="],
            &["framework=axum", "framework=rocket"],
        ),
        (
            &["read", "lab", "demo://t"],
            &["demo://ticks", "demo://timetables/"],
        ),
        (&["list", "lab", "pr"], &["prompts"]),
        (&["tasks", "lab", "re"], &["result"]),
        (&["completions", ""], &["bash", "zsh", "fish"]),
        (&["call", "--era", ""], &["legacy", "modern"]),
        (
            &["call", "--revision", "2025-0"],
            &["2025-03-26", "2025-06-18"],
        ),
        (&["call", "--time"], &["--timeout"]),
        (&["--color", "al"], &["always"]),
        (&["call", "--config", ""], &[":files"]),
        (&["call", "lab", "echo", "text=@"], &[":files"]),
        (&["replay", ""], &[":files"]),
        (&["call", "lab", "no_such_tool", ""], &[]),
        (&["call", "nobody", "x"], &[]),
        (&["call", "lab", "add", "--", ""], &[":files"]),
    ] {
        let mut found = offered(&place, words);
        let mut wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{words:?}");
    }
}

/// A command after the cursor is the server.
#[test]
fn a_server_that_is_a_command_is_asked() {
    let place = Place::new();
    let command = ["--", crate::program::BINARY, "serve", "--stdio"];
    for (words, wanted) in [
        (&["call", "we"][..], &["weather"][..]),
        (&["call", "weather", "unit=c"], &["unit=celsius"]),
        (
            &["get", "review", "language=ru"],
            &["language=rust", "language=ruby"],
        ),
        (&["list", "pr"], &["prompts"]),
        // The values of this option do not depend on the server.
        (&["call", "--era", ""], &["legacy", "modern"]),
    ] {
        let all = [&["__complete", "--behind", "4", "--"], words, &command].concat();
        let output = place.run(&all);
        let lines = stdout(&output);
        let found: Vec<_> = lines.lines().map(|line| line.split('\t').next()).collect();
        let wanted: Vec<_> = wanted.iter().copied().map(Some).collect();
        assert_eq!(found, wanted, "{words:?}");
    }
}

/// A server's lists are cached: the next completion does not start it again.
#[test]
fn the_answer_is_remembered_for_a_while() {
    let place = Place::with_lab();
    assert_eq!(offered(&place, &["call", "lab", "we"]), ["weather"]);
    place.name_lab(r#"{"command":"/nowhere/at-all"}"#);
    assert_eq!(offered(&place, &["call", "lab", "ec"]), ["echo"]);
}

/// A server that does not answer delays completion only briefly, and is not an error.
#[test]
fn a_silent_server_is_not_waited_for() {
    let place = Place::new();
    place.name_lab(r#"{"command":"sleep","args":["3600"]}"#);
    let start = std::time::Instant::now();
    assert!(offered(&place, &["call", "lab", ""]).is_empty());
    let took = start.elapsed();
    assert!(took < std::time::Duration::from_secs(6), "it took {took:?}");
}

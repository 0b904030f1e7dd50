//! Calls that end early, by Ctrl-C or by a time limit.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::program::{BINARY, HttpDemo, Place, eventually, stderr};

/// How long an interruption may take: two seconds, and some time for a busy machine.
const AT_MOST: Duration = Duration::from_millis(2_800);

/// Calls `count` and interrupts it while it runs. Returns all of stderr, the exit code and the
/// time that it took to end.
fn interrupted(place: &Place, words: &[&str]) -> (String, Option<i32>, Duration) {
    let mut child = place
        .command(BINARY)
        .args(["call"])
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut said = String::new();
    while !said.contains("notifications/progress") {
        let read = lines.read_line(&mut said).expect("stderr is text");
        assert!(read > 0, "it ended: {said}");
    }
    let start = Instant::now();
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status();
    assert!(killed.expect("`kill` is there").success());
    let status = child.wait().expect("it ends");
    let took = start.elapsed();
    lines.read_to_string(&mut said).expect("stderr is text");
    (said, status.code(), took)
}

const COUNT: [&str; 5] = ["count", "to=1000", "pause=100", "--wire", "--revision"];

#[test]
fn ctrl_c_cancels_on_the_wire_and_ends_promptly() {
    let place = Place::with_lab();
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let words = [&["lab"][..], &COUNT, &[revision]].concat();
        let (said, code, took) = interrupted(&place, &words);
        assert_eq!(code, Some(130), "{said}");
        assert!(took < AT_MOST, "{revision}: it took {took:?}");
        let cancelled = said.lines().any(|line| {
            line.contains("\"direction\":\"out\"")
                && line.contains("notifications/cancelled")
                && line.contains("\"reason\":\"the user interrupted it\"")
        });
        assert!(cancelled, "{revision}: {said}");
        assert!(said.ends_with("error: interrupted\n"), "{said}");
    }
}

#[test]
fn ctrl_c_ends_a_call_at_a_url() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    for revision in ["2025-11-25", "2026-07-28"] {
        let words = [&[demo.url.as_str()][..], &COUNT, &[revision]].concat();
        let (said, code, took) = interrupted(&place, &words);
        assert_eq!(code, Some(130), "{said}");
        assert!(took < AT_MOST, "{revision}: it took {took:?}");
    }
}

/// A server that ends neither with its input nor at SIGTERM is killed, with all its processes.
#[test]
fn a_stubborn_server_does_not_become_an_orphan() {
    let place = Place::new();
    let mark = format!("3600.{}", std::process::id());
    let script = format!("trap '' TERM INT; {BINARY} serve --stdio; sleep {mark}");
    let words = [&COUNT[..], &["2026-07-28", "--", "sh", "-c", &script]].concat();
    let (said, code, took) = interrupted(&place, &words);
    assert_eq!(code, Some(130), "{said}");
    assert!(took < AT_MOST, "it took {took:?}");
    eventually("the server is gone", || {
        let found = Command::new("pgrep")
            .args(["-f", &format!("sleep {mark}")])
            .output()
            .expect("`pgrep` is there");
        found.stdout.is_empty().then_some(())
    });
}

#[test]
fn a_time_limit_holds_whatever_the_server_does() {
    let place = Place::with_lab();
    for words in [
        // Reports progress all the time, which extends the deadline of a client.
        &[
            "call",
            "lab",
            "count",
            "to=1000",
            "pause=50",
            "--timeout",
            "1",
        ][..],
        // A task in 2026-07-28, a call in 2025-11-25.
        &[
            "call",
            "lab",
            "bake",
            "what=x",
            "time=600000",
            "--timeout",
            "1",
        ],
        &[
            "call",
            "lab",
            "bake",
            "what=x",
            "time=600000",
            "--timeout",
            "1",
            "--era",
            "legacy",
        ],
        // Never sends anything.
        &["list", "--timeout", "1", "--", "sleep", "3600"],
    ] {
        let start = Instant::now();
        let output = place.run(words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(7), "{words:?}: {said}");
        let took = start.elapsed();
        assert!(
            took < Duration::from_secs(1) + AT_MOST,
            "{words:?} took {took:?}"
        );
        assert!(said.contains("hint: "), "{said}");
    }
}

#[test]
fn a_task_that_takes_too_long_is_cancelled() {
    let place = Place::with_lab();
    // On a busy machine the time may run out before there is a task; then a longer time is tried.
    for seconds in ["1", "5", "25"] {
        let words = [
            "call",
            "lab",
            "bake",
            "what=x",
            "time=600000",
            "--timeout",
            seconds,
            "--wire",
        ];
        let said = stderr(&place.run(&words));
        if said.contains("\"taskId\"") {
            assert!(said.contains("\"method\":\"tasks/cancel\""), "{said}");
            return;
        }
    }
    panic!("25 s are not enough to begin a task");
}

#[test]
fn no_time_at_all_is_a_mistake() {
    for wrong in ["0", "-1", "soon"] {
        let option = format!("--timeout={wrong}");
        let output = Place::new().run(&["list", "x", &option]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {output:?}");
    }
}

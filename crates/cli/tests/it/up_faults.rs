//! Faults of the processes of a gateway.

#![cfg(target_os = "linux")]

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::Value;

use crate::{
    program::{BINARY, HttpDemo, Place, eventually, stderr, stdout},
    up::Gateway,
};

/// Limits the size of a process's files. Beyond it, writing fails as on a full disk.
fn limit_files(process: u32, bytes: Option<u64>) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let limit = Rlimit {
        current: bytes,
        maximum: getrlimit(Resource::Fsize).maximum,
    };
    prlimit(process, Resource::Fsize, limit).expect("it is a process of this user");
}

#[test]
fn the_access_log_goes_on_after_a_full_disk() {
    let place = Place::new();
    let mut command = place.command("sh");
    // The signal would end a process that does not ignore it.
    command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#, BINARY, "up"]);
    command.args(["--listen", "127.0.0.1:0", "--access-log", "access.log"]);
    command.args(["--", BINARY, "serve", "--stdio"]);
    let gateway = Gateway::spawn(command);
    gateway.hears(&["ready"]);
    let call = |text: &str| {
        let words = ["call", &gateway.url, "echo", &format!("text={text}")];
        let output = place.run(&words);
        assert_eq!(stdout(&output), format!("{text}\n"), "{}", stderr(&output));
    };
    call("before");
    let log = place.path().join("access.log");
    let length = eventually("the call is written down", || {
        let text = place.read("access.log");
        text.contains("tools/call")
            .then(|| fs::metadata(&log).expect("it is there").len())
    });
    // The next line is cut in the middle.
    let limit = length + 40;
    limit_files(gateway.process_id(), Some(limit));
    for _ in 0..5 {
        call("meanwhile");
    }
    gateway.hears(&["the access log cannot be written"]);
    assert_eq!(fs::metadata(&log).expect("it is there").len(), limit);
    limit_files(gateway.process_id(), getrlimit(Resource::Fsize).current);
    gateway.hears(&["the access log is written again"]);
    call("after");
    let is_call = |line: &Value| line["method"] == "tools/call" && line["outcome"] == "ok";
    eventually("every call is written down", || {
        let text = place.read("access.log");
        let lines = text.strip_suffix('\n')?.lines();
        let lines = lines.map(|line| serde_json::from_str(line).expect(line));
        (lines.filter(is_call).count() == 7).then_some(())
    });
    let said = gateway.said();
    let lines = said
        .lines()
        .filter(|line| line.contains("cannot be written"));
    assert_eq!(lines.count(), 1, "it is said once: {said}");
}

#[test]
fn calls_to_a_server_that_is_away_fail_at_once_and_work_when_it_is_back() {
    let place = Place::new();
    for era in ["auto", "legacy", "modern"] {
        let demo = HttpDemo::start();
        let gateway = Gateway::start(&place, &[&demo.url, "--era", era]);
        gateway.hears(&["ready"]);
        let call = || place.run(&["call", &gateway.url, "echo", "text=hi"]);
        let works = |output: &std::process::Output| {
            assert_eq!(stdout(output), "hi\n", "{era}: {}", stderr(output));
        };
        works(&call());
        // A server that is back before the next call is not noticed as missing.
        let demo = demo.start_again();
        works(&call());
        let address = demo.address().to_owned();
        drop(demo);
        for _ in 0..3 {
            let output = call();
            assert!(!output.status.success(), "{era}: {}", stdout(&output));
            let said = stderr(&output);
            assert!(said.contains("is not available"), "{era}: {said}");
        }
        let _demo = HttpDemo::start_at(&address);
        works(&call());
    }
}

#[test]
fn a_server_cannot_forge_lines() {
    let place = Place::new();
    let info = r#"{"name":"ev\u001b[31m\nready   fake  2025","version":"1\u202e"}"#;
    let empty = |name: &str| {
        format!(
            r#""{name}":{{"result":{{"{}":[]}}}}"#,
            &name[..name.len() - 5]
        )
    };
    let lists = ["tools/list", "prompts/list", "resources/list"].map(empty);
    place.write(
        "evil.json",
        &format!(r#"{{"serverInfo":{info},{}}}"#, lists.join(",")),
    );
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/scripted.py");
    let gateway = Gateway::start(&place, &["--", "python3", script, "evil.json"]);
    gateway.hears(&["ready", "scripted"]);
    let said = gateway.said();
    let line = said.lines().find(|line| line.contains("fake"));
    let line = line.expect("its name is shown");
    assert!(line.contains("ev␛[31m ready fake 2025 1\u{fffd}"), "{said}");
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said}");
}

/// The exit code and the output of `up --check` for this config.
fn check(config: &str) -> (Option<i32>, String, String) {
    let place = Place::new();
    place.write("turnbuckle.toml", config);
    let mut command = place.command(BINARY);
    command.args(["up", "--check", "turnbuckle.toml"]);
    let output = command.env("CRED", "hidden").output().expect("it runs");
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn a_check_shows_no_secrets() {
    let secrets = "[servers.a]\ncommand = \"npx\"\nargs = [\"${CRED}\", \"--token\", \"hidden\", \
        \"--password=hidden\"]\nenv = { A = \"hidden\" }\n";
    let (code, out, err) = check(secrets);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "a\tA=… npx '${CRED}' --token … --password=…\n");
}

#[test]
fn a_check_finds_credentials_at_wrong_places() {
    let (code, out, err) = check("[servers.a]\nurl = \"http://ada:hidden@127.0.0.1:9/mcp\"\n");
    assert_eq!(code, Some(2), "{err}");
    assert!(
        err.contains("user name or a password") && err.contains("`credentials`"),
        "{err}"
    );
    assert!(!format!("{out}{err}").contains("hidden"), "{out}{err}");
    let (code, _, err) =
        check("[servers.a]\nurl = \"http://127.0.0.1:9/mcp\"\nallow-private-networks = true\n");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("belongs in `credentials`"), "{err}");
}

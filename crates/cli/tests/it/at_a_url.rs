//! Servers at a URL: signing in, the wire, and recording.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::program::{HttpDemo, Place, stderr, stdout};

#[test]
fn an_open_server_needs_no_sign_in() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let output = place.run(&["login", &demo.url]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let wanted = format!("{} does not ask for a sign-in\n", demo.url);
    assert_eq!(stderr(&output), wanted);
    assert_eq!(stdout(&output), "");
}

#[test]
fn the_wire_has_heads_and_no_secrets() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    for era in ["legacy", "modern"] {
        let output = place.run(&[
            "call",
            &demo.url,
            "echo",
            "text=this is hunter2-secret",
            "--wire",
            "--era",
            era,
            "--header",
            "X-Tenant: hunter2-secret",
            "--header",
            "Authorization: Bearer hush-hush-hush",
        ]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let wire = stderr(&output);
        assert!(!wire.contains("hunter2"), "{wire}");
        assert!(!wire.contains("hush"), "{wire}");
        let lines: Vec<Value> = wire
            .lines()
            .map(|line| serde_json::from_str(line).expect("every line is JSON"))
            .collect();
        let heads: Vec<_> = lines.iter().filter_map(|line| line.get("http")).collect();
        let asked = heads.iter().find(|head| head["method"] == "POST");
        let asked = asked.expect("something was posted");
        assert_eq!(asked["url"], demo.url.as_str());
        assert_eq!(asked["headers"]["x-tenant"], "***");
        assert_eq!(asked["headers"]["authorization"], "***");
        assert_eq!(asked["headers"]["content-type"], "application/json");
        assert!(heads.iter().any(|head| head["status"] == 200), "{wire}");
        let messages = lines.iter().filter(|line| line.get("message").is_some());
        assert!(messages.count() >= 4, "{wire}");
        // The result is printed unchanged; only messages shown beside it are masked.
        assert_eq!(stdout(&output), "this is hunter2-secret\n");
    }
}

/// A client over stdio reaches a server at a URL through `record`, and the recording can be replayed.
#[test]
fn any_server_is_recorded_and_replayed() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    place.name_lab(&format!(r#"{{"url":"{}"}}"#, demo.url));
    let file = place.file("session");
    let binary = crate::program::BINARY;
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        for target in [demo.url.as_str(), "lab"] {
            let call = [
                "call",
                "add",
                "a=1",
                "b=2",
                "--json",
                "--revision",
                revision,
                "--",
            ];
            let recorded = place.run(&[&call[..], &[binary, "record", &file, target]].concat());
            assert_eq!(recorded.status.code(), Some(0), "{revision}: {recorded:?}");
            assert!(stdout(&recorded).contains("sum"), "{recorded:?}");
            let replayed = place.run(&[&call[..], &[binary, "replay", &file]].concat());
            assert_eq!(stdout(&replayed), stdout(&recorded), "{replayed:?}");
        }
    }
    let against = place.run(&["replay", &file, "--against", "lab"]);
    assert_eq!(against.status.code(), Some(0), "{against:?}");
    assert!(stderr(&against).ends_with("0 answered differently\n"));
}

#[test]
fn an_old_server_with_a_stream_of_events_is_recorded() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let url = demo.url.replace("/mcp", "/sse");
    place.name_lab(&format!(r#"{{"type":"sse","url":"{url}"}}"#));
    let file = place.file("session");
    for target in [url.as_str(), "lab"] {
        let output = place.run(&[
            "call",
            "echo",
            "text=hi",
            "--revision",
            "2024-11-05",
            "--",
            crate::program::BINARY,
            "record",
            &file,
            target,
        ]);
        assert_eq!(stdout(&output), "hi\n", "{output:?}");
        assert!(
            place
                .read("session")
                .contains("\"protocolVersion\":\"2024-11-05\"")
        );
    }
}

/// If a server closes the connection in the middle of a call, after an event id, the stream is requested again until
/// the answer arrives.
#[test]
fn a_stream_that_breaks_is_gone_on_with() {
    let place = Place::new();
    let site = crate::doctor::Site::broken("hangs-up", &[]);
    let url = format!("http://127.0.0.1:{}/mcp", site.port);
    let file = place.file("session");
    let record = [crate::program::BINARY, "record", &file, &url];
    let call = ["call", "echo", "text=hi", "--era", "legacy", "--"];
    let output = place.run(&[&call[..], &record].concat());
    assert_eq!(stdout(&output), "it took a while\n", "{output:?}");
    assert!(place.read("session").contains("it took a while"));
}

/// A server that sends event ids but keeps no events: the stream without a request is
/// reopened, a request without an answer fails after a while, and a batch or a cancellation does not block
/// other messages.
#[test]
fn streams_that_are_not_kept_do_not_block_the_client() {
    let place = Place::new();
    let site = crate::doctor::Site::broken("forgets", &[]);
    let (file, url) = (
        place.file("session"),
        format!("http://127.0.0.1:{}/mcp", site.port),
    );
    let mut child = place
        .command(crate::program::BINARY)
        .args(["record", &file, &url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    let client = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!([{"jsonrpc": "2.0", "id": 2, "method": "ping"}]),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "echo"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "echo"}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}),
    ] {
        writeln!(stdin, "{message}").expect("it listens");
    }
    let (mut answered, mut heard) = (Vec::new(), 0);
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    for line in lines.map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).expect("every line is JSON");
        if message.get("method").is_some() {
            heard += 1;
            continue;
        }
        let id = &message.get(0).unwrap_or(&message)["id"];
        answered.push(id.as_u64().expect("it is of a request"));
        if id == 4 {
            let wanted = "the server's stream ended without an answer";
            assert_eq!(message["error"]["message"], wanted);
            break;
        }
    }
    drop(stdin);
    child.wait().expect("it ends");
    assert_eq!(answered, [1, 2, 5, 4]);
    assert!(heard > 1, "a stream that is not kept is asked for again");
}

/// Questions in the middle of a call are relayed in both eras, and replays continue from where a server paused.
#[test]
fn questions_are_recorded_and_replayed() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let file = place.file("session");
    let binary = crate::program::BINARY;
    for revision in ["2025-11-25", "2026-07-28"] {
        let call = [
            "call",
            "greet",
            "--answer",
            "name=Ada",
            "--revision",
            revision,
            "--",
        ];
        let recorded = place.run(&[&call[..], &[binary, "record", &file, &demo.url]].concat());
        assert_eq!(
            stdout(&recorded),
            "Hello, Ada!\n",
            "{revision}: {recorded:?}"
        );
        let replayed = place.run(&[&call[..], &[binary, "replay", &file]].concat());
        assert_eq!(
            stdout(&replayed),
            "Hello, Ada!\n",
            "{revision}: {replayed:?}"
        );
    }
    // The last recording is modern: its retry carries a state that only the server that sealed it accepts.
    let against = place.run(&["replay", &file, "--against", &demo.url]);
    assert_eq!(against.status.code(), Some(0), "{against:?}");
}

#[test]
fn differences_are_shown_where_they_are() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let file = place.file("session");
    let recorded = place.run(&["call", &demo.url, "tick", "--record", &file]);
    assert_eq!(stdout(&recorded), "1\n");
    let against = place.run(&["replay", &file, "--against", &demo.url]);
    assert_eq!(against.status.code(), Some(1), "{against:?}");
    let said = stdout(&against);
    let wanted = "  /content/0/text\n    - \"1\"\n    + \"2\"\n";
    assert!(said.ends_with(wanted), "{said}");
    let json = place.run(&["replay", &file, "--against", &demo.url, "--json"]);
    let difference: Value = serde_json::from_str(&stdout(&json)).expect("one line of JSON");
    assert_eq!(difference["now"]["content"][0]["text"], "3");
    let ignored = [
        "replay",
        &file,
        "--against",
        &demo.url,
        "--ignore",
        "/content/0/text",
    ];
    assert_eq!(place.run(&ignored).status.code(), Some(0));
}

/// Messages are passed on unchanged, byte for byte, and errors are reported.
#[test]
fn a_recorder_answers_for_a_server_that_is_not_there() {
    let place = Place::new();
    let file = place.file("session");
    let mut child = place
        .command(crate::program::BINARY)
        .args(["record", &file, "http://127.0.0.1:1/mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}});
    let mut stdin = child.stdin.take().expect("it is piped");
    writeln!(stdin, "{request}").expect("it listens");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let answer: Value = serde_json::from_str(&stdout(&output)).expect("one answer");
    assert_eq!(answer["id"], 7);
    assert!(answer["error"]["message"].is_string(), "{answer}");
}

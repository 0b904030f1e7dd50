//! The servers of `turnbuckle chat`: their environment, the errors that they get, and the messages about servers
//! that are not ready.

use serde_json::{Value, json};

use crate::{
    chat::{events, of_kind},
    program::{Place, stderr, stdout},
};

/// A server from the tests of the host, with options to misbehave.
pub(crate) const MISBEHAVING: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/it/server.py");

/// A key in the environment is for the model. A server only gets it if its entry sets it.
#[test]
fn servers_do_not_inherit_the_keys_of_models() {
    let place = Place::new();
    place.write("script", "{\"text\": \"done\"}");
    let entry =
        |file: &str| json!({"command": "python3", "args": [MISBEHAVING, "--environment", file]});
    let mut given = entry("given");
    given["env"] = json!({"OPENAI_API_KEY": "${OPENAI_API_KEY}"});
    let servers = json!({"mcpServers": {"plain": entry("plain"), "given": given}});
    place.write("two.json", &servers.to_string());
    let mut command = place.command(crate::program::BINARY);
    for variable in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "TURNBUCKLE_MODEL_KEY",
    ] {
        command.env(variable, "sk-secret");
    }
    let words = [
        "chat",
        "--config",
        "two.json",
        "--model",
        "scripted:script",
        "-p",
        "x",
    ];
    let output = command
        .args(words)
        .env("GREETING", "hello")
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let plain = place.read("plain");
    assert!(!plain.contains("sk-secret"), "{plain}");
    // All other variables are inherited.
    assert!(plain.contains("\"GREETING\": \"hello\""), "{plain}");
    let given: Value = serde_json::from_str(&place.read("given")).expect("it is JSON");
    assert_eq!(given["OPENAI_API_KEY"], "sk-secret");
    assert_eq!(given["ANTHROPIC_API_KEY"], Value::Null);
}

/// A server that does not start, and one of a project's file that no user can trust.
#[test]
fn servers_that_are_not_there_are_named_with_the_reason() {
    let place = Place::new();
    place.write("script", "{\"text\": \"done\"}");
    let failing = json!({"command": "python3", "colour": "red",
        "args": [MISBEHAVING, "--fail-if-missing", "nowhere"]});
    place.write(
        "failing.json",
        &json!({"mcpServers": {"broken": failing}}).to_string(),
    );
    let project = json!({"mcpServers": {"theirs": {"command": "true"}}});
    place.write(".mcp.json", &project.to_string());

    let words = ["chat", "--model", "scripted:script", "--prompt", "x"];
    let with_file = [&words[..], &["--config", "failing.json"]].concat();
    let output = place.run(&[&with_file[..], &["--json"]].concat());
    let told = events(&output);
    let note = of_kind(&told, "note")[0];
    assert_eq!(note["server"], "broken", "{note}");
    assert!(
        note["message"].as_str().unwrap().contains("`colour`"),
        "{note}"
    );
    let server = of_kind(&told, "server")[0];
    assert_eq!(
        (&server["server"], &server["state"]),
        (&json!("broken"), &json!("failed"))
    );
    let stderr_of_it = server["stderr"].as_array().unwrap();
    assert_eq!(
        stderr_of_it.last().unwrap(),
        "a file is missing",
        "{server}"
    );
    let said = stderr(&place.run(&with_file));
    for part in [
        "note: ",
        "server `broken` failed: ",
        "\n  stderr: a file is missing\n",
    ] {
        assert!(said.contains(part), "{said}");
    }

    let output = place.run(&[&words[..], &["--json"]].concat());
    let told = events(&output);
    let server = of_kind(&told, "server")[0];
    assert_eq!(server["server"], "theirs", "{server}");
    let hint = server["hint"].as_str().unwrap();
    assert!(hint.starts_with("pass --allow start:theirs"), "{hint}");
    let said = stderr(&place.run(&words));
    assert!(
        said.contains("server `theirs` failed: the user must allow it"),
        "{said}"
    );
    assert!(said.contains("hint: pass --allow start:theirs"), "{said}");
}

#[test]
fn a_root_is_shared_if_that_is_allowed() {
    let place = Place::new();
    place.write(
        "script",
        "{\"calls\": [{\"name\": \"roots\"}]}\n{\"text\": \"done\"}",
    );
    let folder = format!("file://{}", place.path().display());
    for (allowed, is_shared) in [("root:host", true), ("root:other", false)] {
        let chat = ["chat", "--model", "scripted:script", "--json", "-p", "x"];
        let rest = ["--root", ".", "--allow", "*", "--allow", allowed];
        let server = ["--", "python3", MISBEHAVING];
        let output = place.run(&[&chat[..], &rest, &server].concat());
        let told = events(&output);
        let text = &of_kind(&told, "result")[0]["result"]["content"][0]["text"];
        let text = text.as_str().unwrap();
        assert_eq!(text.contains(&folder), is_shared, "{text}");
    }
}

/// The model may call a tool whose server has failed too often to be restarted now.
#[test]
fn a_model_is_told_that_a_server_rests() {
    let place = Place::new();
    let call = "{\"calls\": [{\"name\": \"die\"}]}\n";
    place.write(
        "script",
        &format!("{}{{\"text\": \"done\"}}", call.repeat(8)),
    );
    let chat = [
        "chat",
        "--model",
        "scripted:script",
        "--json",
        "-p",
        "x",
        "--allow",
        "*",
    ];
    let output = place.run(&[&chat[..], &["--", "python3", MISBEHAVING]].concat());
    let told = events(&output);
    let results = of_kind(&told, "result");
    let last = results.last().unwrap()["result"]["content"][0]["text"]
        .as_str()
        .unwrap();
    assert!(
        last.starts_with("server `host` is not available: "),
        "{last}"
    );
}

/// The hint for a project's file that is not trusted names an option that exists.
#[test]
fn a_server_of_a_project_is_used_once_the_user_has_agreed() {
    let place = Place::new();
    place.write("script", "{\"text\": \"done\"}");
    let entry = json!({"command": crate::program::BINARY, "args": ["serve", "--stdio"]});
    let project = json!({"mcpServers": {"theirs": entry}});
    place.write(".mcp.json", &project.to_string());
    let words = ["chat", "theirs", "--model", "scripted:script", "-p", "x"];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("`--trust` agrees to it"), "{said}");
    let output = place.run(&[&words[..], &["--trust"]].concat());
    assert_eq!(stdout(&output), "done\n", "{output:?}");
}

/// Runs a chat with the misbehaving server, which sends this sampling request. Returns the answers that the
/// server got.
fn sampled(params: &Value, turns: &str, words: &[&str]) -> Vec<Value> {
    let place = Place::new();
    let call = json!({"calls": [{"name": "sample", "arguments": {"params": params}}]});
    place.write("script", &format!("{call}\n{turns}"));
    let chat = [
        "chat",
        "--model",
        "scripted:script",
        "--json",
        "-p",
        "x",
        "--allow",
        "*",
    ];
    let server = ["--", "python3", MISBEHAVING];
    let output = place.run(&[&chat[..], words, &server].concat());
    let events = events(&output);
    let results = of_kind(&events, "result").into_iter().map(|result| {
        let text = result["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("it has a result: {output:?}"));
        serde_json::from_str(text).expect("the answer is JSON")
    });
    results.collect()
}

// rule: Q4
#[test]
fn a_server_is_told_why_its_sampling_request_is_refused() {
    let stray = json!({"messages": [{"role": "user", "content":
        {"type": "tool_result", "toolUseId": "1", "content": []}}]});
    let told = sampled(&stray, "{\"text\": \"done\"}", &[]);
    assert_eq!(told[0]["code"], -32602, "{told:?}");
    let said = told[0]["message"].as_str().unwrap();
    assert!(said.contains("result for `1`"), "{said}");

    // The model answers 20 requests in a minute; the script ends with the next one.
    let turns = "{\"text\": \"fine\"}\n{\"calls\": [{\"name\": \"sample\"}]}\n".repeat(20);
    let told = sampled(
        &json!({}),
        &format!("{turns}{{\"text\": \"done\"}}"),
        &["--allow", "sample:*", "--allow", "sample-answer:*"],
    );
    assert_eq!(told.len(), 21, "{told:?}");
    let limited: Vec<_> = told.iter().filter(|told| told["code"] == 429).collect();
    assert!(!limited.is_empty(), "{told:?}");
    let said = limited[0]["message"].as_str().unwrap();
    assert!(said.contains("try again in"), "{said}");
}

/// A tool that cannot be parsed is left out, and the user is told.
#[test]
fn tools_that_cannot_be_read_are_named() {
    let place = Place::new();
    place.write("script", "{\"text\": \"done\"}");
    let chat = ["chat", "--model", "scripted:script", "-p", "x"];
    let server = ["--", "python3", MISBEHAVING, "--mode", "broken-list"];
    let output = place.run(&[&chat[..], &server].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("note: server `host`: "), "{said}");

    let output = place.run(&[&chat[..], &["--json"], &server].concat());
    let events = events(&output);
    let note = of_kind(&events, "note")[0];
    assert_eq!(note["server"], "host", "{note}");
    let message = note["message"].as_str().expect("it is text");
    assert!(message.starts_with("server `host`: "), "{message}");
    assert_eq!(stderr(&output), "");
}

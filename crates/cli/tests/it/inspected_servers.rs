//! The servers of an inspector: which of several with the same name is used, and the output of their programs.

use serde_json::{Value, json};

use crate::{
    inspect::Inspector,
    program::{BINARY, Place},
};

/// An inspector with these arguments, in a place.
fn inspect(place: &Place, words: &[&str]) -> Inspector {
    Inspector::begin(place.command(BINARY), words)
}

/// Waits until the server with this name is in this state.
fn server_in(inspector: &Inspector, name: &str, status: &str) -> Value {
    inspector.until(&format!("{name} is {status}"), |inspector| {
        let state = inspector.get("state");
        let mut servers = state["servers"].as_array()?.iter();
        let found = servers.find(|server| server["name"] == name)?;
        (found["status"] == status).then(|| found.clone())
    })
}

#[test]
fn a_broken_entry_does_not_hide_a_healthy_one() {
    let place = Place::new();
    place.write(
        ".mcp.json",
        r#"{"mcpServers": {"lab": {"command": "no-such-program-xyz"}}}"#,
    );
    std::fs::create_dir(place.path().join(".vscode")).expect("a folder can be made");
    let healthy = json!({"servers": {"lab": {"command": BINARY, "args": ["serve", "--stdio"]}}});
    place.write(".vscode/mcp.json", &healthy.to_string());
    // Whether or not it is named, the entry that can be started gets the name.
    for (words, status) in [(&["--trust", "lab"][..], "open"), (&["--trust"], "closed")] {
        let inspector = inspect(&place, words);
        let lab = server_in(&inspector, "lab", status);
        assert_eq!(lab["isMissing"], false, "{lab}");
        assert_eq!(lab["blocked"], Value::Null, "{lab}");
        let broken = server_in(&inspector, "lab 2", "closed");
        assert_eq!(broken["isMissing"], true, "{broken}");
    }
}

#[test]
fn more_servers_than_there_is_room_for_do_not_keep_it_from_starting() {
    let place = Place::new();
    let entries = (0..80).map(|number| (format!("s{number}"), json!({"command": "no-such"})));
    let entries: serde_json::Map<_, _> = entries.collect();
    place.write("many.json", &json!({ "mcpServers": entries }).to_string());
    let inspector = inspect(&place, &["--config", "many.json"]);
    let state = inspector.get("state");
    assert_eq!(state["servers"].as_array().map(Vec::len), Some(64));
    let problem = state["files"][0]["problem"].as_str().unwrap_or_default();
    assert!(
        problem.starts_with("16 of its servers are left out"),
        "{problem}"
    );
}

#[test]
fn what_a_program_prints_is_there_from_its_start_to_its_end() {
    let place = Place::new();
    // It prints like programs that are first installed, and does not answer.
    let line = "echo installing >&2; cat >/dev/null; echo bye >&2";
    let inspector = inspect(&place, &["--", "sh", "-c", line]);
    let lines = |server: &Value| server["stderr"].to_string();
    inspector.until("it is seen while it starts", |_| {
        let server = server_in(&inspector, "sh", "connecting");
        (lines(&server) == r#"["installing"]"#).then_some(())
    });
    inspector.post("servers/s1/close", &json!({}));
    let server = server_in(&inspector, "sh", "closed");
    assert!(lines(&server).contains("installing"), "{server}");
}

#[test]
fn what_a_program_printed_before_it_failed_is_kept_whole() {
    let place = Place::new();
    let line = "for n in $(seq 61); do echo line $n >&2; done; exit 1";
    let inspector = inspect(&place, &["--", "sh", "-c", line]);
    let server = server_in(&inspector, "sh", "failed");
    let printed = server["stderr"].as_array().expect("it is a list");
    // It is started once more if it ends at the first request.
    assert_eq!(printed.len() % 61, 0, "{server}");
    assert_eq!(printed[0], "line 1");
    assert_eq!(printed[60], "line 61");
    // The next start begins without old output.
    inspector.post("servers/s1/connect", &json!({}));
    let again = server_in(&inspector, "sh", "failed");
    assert_eq!(
        again["stderr"].as_array().map(Vec::len),
        Some(printed.len())
    );
}

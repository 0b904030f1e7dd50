//! How the server answers the first request of each revision.

use serde_json::{Value, json};

use crate::demo::{Demo, initialize, modern};

/// The result of `initialize` for a client that requests this revision.
fn greeted(revision: &str) -> Value {
    let mut demo = Demo::start();
    let mut response = demo.request("initialize", &initialize(revision));
    assert!(demo.finish().status.success());
    let instructions = response["result"]["instructions"].take();
    assert!(
        instructions
            .as_str()
            .is_some_and(|text| text.contains("`echo`")),
        "{instructions}"
    );
    response["result"].take()
}

fn golden(revision: &str, capabilities: &Value, server: &Value) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": capabilities,
        "serverInfo": server,
        "instructions": null,
    })
}

fn capabilities() -> Value {
    json!({
        "completions": {},
        "logging": {},
        "prompts": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "tools": { "listChanged": true },
    })
}

fn server() -> Value {
    json!({
        "name": "turnbuckle-demo",
        "title": "Turnbuckle demo",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "One example of everything that a client may meet.",
    })
}

/// The value with one more member.
fn with(mut value: Value, member: &str, what: Value) -> Value {
    value[member] = what;
    value
}

/// The value without these members.
fn without(mut value: Value, members: &[&str]) -> Value {
    let object = value.as_object_mut().expect("it is an object");
    for member in members {
        assert!(
            object.shift_remove(*member).is_some(),
            "there is no `{member}` to leave out"
        );
    }
    value
}

#[test]
fn the_words_of_2025_11_25() {
    let tasks = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    let capabilities = with(capabilities(), "tasks", tasks);
    let wanted = golden("2025-11-25", &capabilities, &server());
    assert_eq!(greeted("2025-11-25"), wanted);
}

#[test]
fn the_words_of_2025_06_18() {
    let server = without(server(), &["description"]);
    assert_eq!(
        greeted("2025-06-18"),
        golden("2025-06-18", &capabilities(), &server)
    );
}

#[test]
fn the_words_of_2025_03_26() {
    let server = without(server(), &["description", "title"]);
    assert_eq!(
        greeted("2025-03-26"),
        golden("2025-03-26", &capabilities(), &server)
    );
}

#[test]
fn the_words_of_2024_11_05() {
    let server = without(server(), &["description", "title"]);
    let capabilities = without(capabilities(), &["completions"]);
    assert_eq!(
        greeted("2024-11-05"),
        golden("2024-11-05", &capabilities, &server)
    );
}

/// lifecycle: a server that does not support the requested version answers with its latest; this cannot be a version
/// without a handshake.
#[test]
fn any_other_revision_is_offered_the_newest_with_a_handshake() {
    for revision in ["2026-07-28", "1999-12-31", "soon"] {
        assert_eq!(
            greeted(revision)["protocolVersion"],
            "2025-11-25",
            "{revision}"
        );
    }
}

// rule: M4, M6
#[test]
fn discovery_without_a_handshake() {
    let mut demo = Demo::start();
    let mut response = demo.request("server/discover", &json!({ "_meta": modern() }));
    response["result"]["instructions"].take();
    let revisions = [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    ];
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    let wanted = json!({
        "supportedVersions": revisions,
        "capabilities": with(capabilities(), "extensions", extensions),
        "instructions": null,
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": { "io.modelcontextprotocol/serverInfo": server() },
    });
    assert_eq!(response["result"], wanted);
    assert!(demo.finish().status.success());
}

/// versioning: an unknown version is an error that lists the supported versions.
#[test]
fn a_modern_request_of_an_unknown_revision_is_told_which_there_are() {
    let mut demo = Demo::start();
    let mut meta = modern();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let response = demo.request("tools/list", &json!({ "_meta": meta }));
    assert_eq!(response["error"]["code"], -32_022);
    assert_eq!(response["error"]["data"]["requested"], "2031-01-01");
    assert_eq!(response["error"]["data"]["supported"][0], "2026-07-28");
}

#[test]
fn both_eras_on_one_connection() {
    let mut demo = Demo::initialized();
    let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let legacy = demo.request("tools/call", &params);
    let mut params = params;
    params["_meta"] = modern();
    let modern = demo.request("tools/call", &params);
    assert_eq!(
        legacy["result"]["structuredContent"],
        modern["result"]["structuredContent"]
    );
    assert_eq!(legacy["result"].get("resultType"), None);
    assert_eq!(modern["result"]["resultType"], "complete");
}

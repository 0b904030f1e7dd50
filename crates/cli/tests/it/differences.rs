//! `turnbuckle diff`, on servers and recordings.

use serde_json::{Value, json};

use crate::program::{HttpDemo, Place, stderr, stdout};

/// A recording in which a server offers these tools.
fn recording(place: &Place, name: &str, tools: &Value) -> String {
    let line = |direction: &str, message: Value| {
        json!({"ms": 0.0, "direction": direction, "message": message}).to_string()
    };
    let lines = [
        line(
            "out",
            json!({"id": 1, "method": "tools/list", "params": {}}),
        ),
        line("in", json!({"id": 1, "result": {"tools": tools}})),
    ];
    place.write(name, &lines.join("\n"));
    place.file(name)
}

fn tool(name: &str, about: &str, properties: &Value, required: &Value) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"name": name, "description": about, "inputSchema": schema})
}

#[test]
fn a_server_is_like_itself() {
    let (place, demo) = (Place::with_lab(), HttpDemo::start());
    let output = place.run(&["diff", "lab", &demo.url]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stdout(&output), "0 breaking, 0 compatible, 0 wording\n");
}

/// A header is sent to the side that is at a URL; if neither side is, it is an error.
#[test]
fn headers_go_to_the_side_that_takes_some() {
    let (place, demo) = (Place::with_lab(), HttpDemo::start());
    for (words, code) in [
        (["lab", &*demo.url], 0),
        ([&*demo.url, "lab"], 0),
        (["lab", "lab"], 2),
    ] {
        let output = place.run(&[&["diff", "-H", "X-Tenant: a"], &words[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
    }
    let command = ["--", crate::program::BINARY, "serve", "--stdio"];
    let output = place.run(&[&["diff", "-H", "X-Tenant: a", &demo.url], &command[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn what_changed_is_told_by_what_it_means() {
    let place = Place::new();
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let old = json!([
        tool(
            "add",
            "Adds.",
            &json!({"a": number, "b": number}),
            &json!(["a"])
        ),
        tool("gone", "", &json!({}), &json!([])),
    ]);
    let new = json!([
        tool(
            "add",
            "Adds two.",
            &json!({"a": text, "b": number, "c": number}),
            &json!(["a", "b"])
        ),
        tool("more", "", &json!({}), &json!([])),
    ]);
    let (old, new) = (
        recording(&place, "old", &old),
        recording(&place, "new", &new),
    );
    let output = place.run(&["diff", &old, &new]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let wanted = "  \
        breaking    tool  add   a: its type changed from \"integer\" to \"string\"\n  \
        breaking    tool  add   b: it is now required\n  \
        breaking    tool  gone  removed\n  \
        compatible  tool  add   c: there is a new argument\n  \
        compatible  tool  more  added\n  \
        wording     tool  add   description: from \"Adds.\" to \"Adds two.\"\n\
        3 breaking, 2 compatible, 1 wording\n";
    assert_eq!(stdout(&output), wanted);
    assert!(stderr(&output).contains("the old recording has no list of prompts"));
    let json: Value = serde_json::from_str(&stdout(&place.run(&["diff", &old, &new, "--json"])))
        .expect("it is JSON");
    assert_eq!(
        (&json["breaking"], &json["wording"]),
        (&json!(3), &json!(1))
    );
    let first = json!({
        "effect": "breaking", "kind": "tool", "name": "add", "path": "a",
        "what": "its type changed from \"integer\" to \"string\"",
    });
    assert_eq!(json["changes"][0], first);
    // New tools break no client.
    let back = place.run(&["diff", &old, &old]);
    assert_eq!(back.status.code(), Some(0));
}

#[test]
fn a_recording_is_compared_with_a_server() {
    let place = Place::with_lab();
    let file = place.file("session");
    assert!(
        place
            .run(&["list", "lab", "--record", &file])
            .status
            .success()
    );
    let same = place.run(&["diff", &file, "lab"]);
    assert_eq!(
        stdout(&same),
        "0 breaking, 0 compatible, 0 wording\n",
        "{same:?}"
    );
    let old = place.run(&["diff", "lab", "lab", "--revision", "2024-11-05"]);
    assert_eq!(old.status.code(), Some(0), "{old:?}");
    let binary = crate::program::BINARY;
    let command = place.run(&["diff", &file, "--", binary, "serve", "--stdio"]);
    assert_eq!(command.status.code(), Some(0), "{command:?}");
    let wrong = place.run(&["diff", "lab"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

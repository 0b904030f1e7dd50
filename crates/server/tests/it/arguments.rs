//! Arguments of tools: which are converted, which are rejected, and what a model reads then.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, Leniency, LiveServer, RawArgs, Server, Tool};

use crate::wire::{Wire, only_text};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Class {
    First,
    Second,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Passenger {
    name: String,
    age: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Booking {
    /// Flight number.
    flight: String,
    row: u32,
    class: Option<Class>,
    window: Option<bool>,
    price: Option<f64>,
    passengers: Option<Vec<Passenger>>,
}

async fn book(Args(booking): Args<Booking>) -> String {
    let Booking {
        flight,
        row,
        class,
        window,
        price,
        passengers,
    } = booking;
    let names: Option<Vec<String>> = passengers.map(|all| {
        all.into_iter()
            .map(|one| format!("{}/{}", one.name, one.age))
            .collect()
    });
    format!("{flight:?} {row} {class:?} {window:?} {price:?} {names:?}")
}

fn server() -> LiveServer {
    Server::new("s", "1")
        .tool(Tool::new("book", book))
        .tool(Tool::new("strict", book).strict())
        .build()
        .expect("a server")
}

/// Arguments that a model got nearly right, and the values into which they are converted.
fn nearly_right() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({ "flight": "XY1", "row": "12" }),
            r#""XY1" 12 None None None None"#,
        ),
        (
            json!({ "flight": "XY1", "row": 12.0 }),
            r#""XY1" 12 None None None None"#,
        ),
        (
            json!({ "flight": "XY1", "row": 1, "window": "true" }),
            r#""XY1" 1 None Some(true) None None"#,
        ),
        (
            json!({ "flight": "XY1", "row": 1, "price": "9.5" }),
            r#""XY1" 1 None None Some(9.5) None"#,
        ),
        (
            json!({ "flight": "XY1", "row": 1, "class": null, "window": null }),
            r#""XY1" 1 None None None None"#,
        ),
        (
            json!({ "flight": "XY1", "row": 1, "passengers": "[{\"name\":\"Ann\",\"age\":7}]" }),
            r#""XY1" 1 None None None Some(["Ann/7"])"#,
        ),
        (
            json!({ "flight": "XY1", "row": 1, "passengers": [{ "name": "Ann", "age": "7" }] }),
            r#""XY1" 1 None None None Some(["Ann/7"])"#,
        ),
    ]
}

#[tokio::test]
async fn what_fits_is_read_and_what_is_nearly_right_is_read_as_meant() {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        let exact = json!({ "flight": "XY1", "row": 12, "class": "first", "price": 3, "more": 1 });
        let text = r#""XY1" 12 Some(First) None Some(3.0) None"#;
        assert_eq!(wire.text("book", exact.clone()).await, text);
        assert_eq!(wire.text("strict", exact).await, text);
        for (arguments, text) in nearly_right() {
            assert_eq!(
                wire.text("book", arguments.clone()).await,
                text,
                "{arguments}"
            );
        }
    }
}

#[tokio::test]
async fn a_strict_tool_takes_every_value_only_in_its_own_type() {
    let mut wire = Wire::at(&server(), Revision::V2025_11_25).await;
    let mut refused = nearly_right();
    refused.extend([
        // Values that serde alone would accept.
        (
            json!({ "flight": "XY1", "row": 1, "passengers": [["Ann", 7]] }),
            "",
        ),
        (
            json!({ "flight": "XY1", "row": 1, "class": { "first": null } }),
            "",
        ),
    ]);
    for (arguments, _) in refused {
        if arguments["row"] == json!(12.0) {
            continue; // 12.0 is an integer to JSON Schema.
        }
        let result = wire.call("strict", arguments.clone()).await;
        assert_eq!(result["isError"], true, "{arguments} was read as {result}");
    }
}

#[tokio::test]
async fn the_server_says_how_strict_its_tools_are_and_a_tool_may_say_otherwise() {
    let live = Server::new("s", "1")
        .strict()
        .tool(Tool::new("as-the-server", book))
        .tool(Tool::new("lenient", book).leniency(Leniency::Lenient))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    let arguments = json!({ "flight": "XY1", "row": "12" });
    assert_eq!(
        wire.call("as-the-server", arguments.clone()).await["isError"],
        true
    );
    assert_eq!(wire.call("lenient", arguments).await.get("isError"), None);
}

/// Arguments that cannot be converted, with what the model must read about them.
fn wrong() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (
            json!({ "flight": "XY1", "row": "twelve" }),
            &["`/row`", "integer", "twelve"],
        ),
        (json!({ "flight": "XY1", "row": -1 }), &["`/row`", "-1"]),
        (
            json!({ "flight": "XY1", "row": 1.5 }),
            &["`/row`", "integer", "1.5"],
        ),
        (json!({ "row": 1 }), &["`flight`", "missing"]),
        (
            json!({ "fligth": "XY1", "row": 1 }),
            &["`flight`", "`fligth`"],
        ),
        (json!({}), &["`flight`", "`row`", "A valid example: {"]),
        (
            json!({ "flight": ["XY1"], "row": 1 }),
            &["`/flight`", "string", "array"],
        ),
        (
            json!({ "flight": "XY1", "row": 1, "class": "frist" }),
            &["`/class`", "\"first\"", "frist"],
        ),
        (
            json!({ "flight": "XY1", "row": 1, "passengers": [{ "name": "Ann", "age": 300 }] }),
            &["`/passengers/0/age`", "300"],
        ),
        (
            json!({ "flight": "XY1", "row": 1, "passengers": [{ "nam": "Ann", "age": 3 }] }),
            &["`/passengers/0`", "`name`", "`nam`"],
        ),
    ]
}

// rule: T3, T7
// rule: J17
#[tokio::test]
async fn what_cannot_be_meant_is_told_to_the_model_or_refused_as_the_revision_has_it() {
    // tools: validation errors are tool results since 2025-11-25, and were protocol errors before.
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        for tool in ["book", "strict"] {
            for (arguments, told) in wrong() {
                let params = json!({ "name": tool, "arguments": arguments });
                let text = if revision >= Revision::V2025_11_25 {
                    let result = wire.result("tools/call", params).await;
                    assert_eq!(result["isError"], true, "{arguments}");
                    only_text(&result)
                } else {
                    let error = wire.error("tools/call", params).await;
                    assert_eq!(error["code"], -32602, "{arguments}");
                    let message = error["message"].as_str().expect("a message");
                    assert_eq!(message.lines().count(), 1, "one sentence: {message}");
                    let data = &error["data"];
                    let example = data.get("example");
                    let problems = data["problems"].as_array().expect("the problems");
                    assert!(!problems.is_empty());
                    let example = example.map(|json| format!("A valid example: {json}"));
                    let problems = problems.iter().filter_map(|line| line.as_str());
                    let problems = problems.collect::<Vec<_>>().join("\n");
                    format!("{problems}\n{}", example.unwrap_or_default())
                };
                for word in told {
                    assert!(text.contains(word), "{arguments}: no {word} in\n{text}");
                }
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_a_malformed_call_at_every_revision() {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        for arguments in [json!([]), json!("{}"), json!(7), json!(true)] {
            let params = json!({ "name": "book", "arguments": arguments });
            assert_eq!(wire.code("tools/call", params).await, -32602, "{arguments}");
        }
        for params in [
            json!({}),
            json!({ "name": null }),
            json!({ "name": ["book"] }),
        ] {
            assert_eq!(wire.code("tools/call", params).await, -32602);
        }
        // Null means no arguments, which means an empty object.
        for params in [
            json!({ "name": "book" }),
            json!({ "name": "book", "arguments": null }),
        ] {
            let response = wire.request("tools/call", params).await;
            assert!(response.to_string().contains("`flight`"), "{response}");
        }
    }
}

#[tokio::test]
async fn a_tool_without_arguments_takes_any() {
    let live = Server::new("s", "1")
        .tool(Tool::new("t", async || "ok"))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    for arguments in [json!({}), json!({ "a": [1] })] {
        assert_eq!(wire.text("t", arguments).await, "ok");
    }
}

#[tokio::test]
async fn a_schema_by_hand_rules_over_the_type() {
    let schema = json!({
        "type": "object",
        "properties": {
            "flight": { "type": "string", "pattern": "^[A-Z]{2}[0-9]+$" },
            "row": { "type": "integer", "minimum": 1, "maximum": 60 },
        },
        "required": ["flight", "row"],
        "additionalProperties": false,
    });
    let live = Server::new("s", "1")
        .tool(Tool::new("book", book).input_schema(schema.clone()))
        .tool(Tool::new("raw", async |RawArgs(_): RawArgs| "ok").input_schema(schema.clone()))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    let listed = wire.result("tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["inputSchema"], schema);
    assert!(
        wire.text("book", json!({ "flight": "XY1", "row": "60" }))
            .await
            .contains("60")
    );
    for (arguments, named) in [
        (json!({ "flight": "xy1", "row": 1 }), "`/flight`"),
        (json!({ "flight": "XY1", "row": 61 }), "`/row`"),
        (
            json!({ "flight": "XY1", "row": 1, "class": "first" }),
            "class",
        ),
    ] {
        let result = wire.call("book", arguments).await;
        assert_eq!(result["isError"], true);
        assert!(only_text(&result).contains(named), "{result}");
    }
    // Raw arguments are passed on unchanged: the handler checks them.
    assert_eq!(wire.text("raw", json!({ "row": "x" })).await, "ok");
}

#[tokio::test]
async fn what_a_model_is_told_is_short_however_long_its_mistake() {
    let mut wire = Wire::at(&server(), Revision::V2025_11_25).await;
    let long = "x".repeat(1_000_000);
    let many: Vec<Value> = (0..5_000).map(|number| json!({ "nam": number })).collect();
    for arguments in [
        json!({ "flight": "XY1", "row": long }),
        json!({ "flight": [long], "row": 1 }),
        json!({ long.clone(): 1 }),
        json!({ "flight": "XY1", "row": 1, "class": long }),
        json!({ "flight": "XY1", "row": 1, "passengers": many }),
    ] {
        let result = wire.call("book", arguments).await;
        assert_eq!(result["isError"], true);
        let text = only_text(&result);
        assert!(text.len() < 10_000, "{} bytes: {text:.300}", text.len());
    }
}

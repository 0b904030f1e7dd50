//! Structured results that do not match the tool's output schema.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use turnbuckle_protocol::{CallToolResult, Revision};
use turnbuckle_server::{Json, LiveServer, Server, Tool, ToolError};

use crate::wire::Wire;

#[derive(Serialize, JsonSchema)]
struct Reading {
    #[schemars(range(min = 0, max = 100))]
    percent: i64,
}

fn declared() -> Value {
    json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] })
}

fn structured(value: &Value) -> CallToolResult {
    CallToolResult::structured(value).expect("plain JSON")
}

fn server() -> LiveServer {
    let fails = async || Err::<CallToolResult, _>(ToolError::new("no reading"));
    Server::new("s", "1")
        .tool(Tool::new("in-range", async || {
            Json(Reading { percent: 100 })
        }))
        .tool(Tool::new("out-of-range", async || {
            Json(Reading { percent: 101 })
        }))
        .tool(
            Tool::new("kept", async || structured(&json!({ "n": 1, "m": 2 })))
                .output_schema(declared()),
        )
        .tool(
            Tool::new("broken", async || structured(&json!({ "n": "secret" })))
                .output_schema(declared()),
        )
        .tool(Tool::new("no-object", async || structured(&json!([1]))).output_schema(declared()))
        .tool(Tool::new("missing", async || "just text").output_schema(declared()))
        .tool(Tool::new("value", async || Json(json!({ "n": "secret" }))).output_schema(declared()))
        .tool(Tool::new("fails", fails).output_schema(declared()))
        .build()
        .expect("a server")
}

// rule: T4
#[tokio::test]
async fn a_result_that_breaks_its_schema_is_our_fault_and_does_not_go_out() {
    // tools: servers MUST provide structured results that conform to the output schema.
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        for tool in ["out-of-range", "broken", "no-object", "missing", "value"] {
            let error = wire.error("tools/call", json!({ "name": tool })).await;
            assert_eq!(error["code"], -32603, "{tool} at {revision}");
            let text = error.to_string();
            assert!(!text.contains("secret") && !text.contains("101"), "{text}");
        }
        assert_eq!(wire.text("in-range", json!({})).await, r#"{"percent":100}"#);
        assert_eq!(wire.text("kept", json!({})).await, r#"{"n":1,"m":2}"#);
    }
}

#[tokio::test]
async fn a_tool_error_needs_no_structure() {
    let mut wire = Wire::open(&server());
    let result = wire.call("fails", json!({})).await;
    assert_eq!(
        (&result["isError"], result.get("structuredContent")),
        (&json!(true), None)
    );
    assert_eq!(result["content"][0]["text"], "no reading");
}

#[tokio::test]
async fn a_schema_by_hand_is_listed_as_it_was_written() {
    let mut wire = Wire::at(&server(), Revision::V2025_06_18).await;
    let listed = wire.result("tools/list", json!({})).await;
    assert_eq!(listed["tools"][2]["outputSchema"], declared());
}

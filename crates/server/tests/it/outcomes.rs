//! The return types of handlers, and the results that they become.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use turnbuckle_protocol::{
    BlobResourceContents, CallToolResult, ContentBlock, EmbeddedResource, GetPromptResult, Meta,
    PromptMessage, ReadResourceResult, ResourceContents, ResourceLink, Revision,
    TextResourceContents,
};
use turnbuckle_server::{
    Audio, Failure, Image, Json, Prompt, Reject, Resource, Server, Tool, ToolError,
};

use crate::wire::Wire;

#[derive(Serialize, JsonSchema)]
struct Point {
    x: i32,
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// Every type that a tool may return, with its content.
fn tools() -> Vec<(Tool, Value)> {
    let link = || ResourceLink::new("a://b", "b");
    let embedded = || EmbeddedResource::new(TextResourceContents::new("a://b", "hi"));
    let picture = json!({ "type": "image", "data": "AQI=", "mimeType": "image/png" });
    let sound = json!({ "type": "audio", "data": "AQI=", "mimeType": "audio/wav" });
    let linked = json!({ "type": "resource_link", "uri": "a://b", "name": "b" });
    let inside = json!({ "type": "resource", "resource": { "uri": "a://b", "text": "hi" } });
    vec![
        (Tool::new("string", async || "hi".to_owned()), text("hi")),
        (Tool::new("str", async || "hi"), text("hi")),
        (Tool::new("empty-string", async || ""), text("")),
        (Tool::new("unit", async || ()), json!([])),
        (Tool::new("bool", async || true), text("true")),
        (Tool::new("char", async || 'é'), text("é")),
        (Tool::new("i8", async || -8_i8), text("-8")),
        (
            Tool::new("i128", async || i128::MIN),
            text(&i128::MIN.to_string()),
        ),
        (
            Tool::new("u64", async || u64::MAX),
            text(&u64::MAX.to_string()),
        ),
        (Tool::new("f64", async || 0.5_f64), text("0.5")),
        (Tool::new("f32", async || f32::NAN), text("NaN")),
        (
            Tool::new("block", async || ContentBlock::text("hi")),
            text("hi"),
        ),
        (
            Tool::new("image", async || Image::new("image/png", [1, 2])),
            json!([picture]),
        ),
        (
            Tool::new("audio", async || Audio::new("audio/wav", [1, 2])),
            json!([sound]),
        ),
        (
            Tool::new("link", move || async move { link() }),
            json!([linked]),
        ),
        (
            Tool::new("embedded", move || async move { embedded() }),
            json!([inside]),
        ),
        (
            Tool::new("none", async || Vec::<ContentBlock>::new()),
            json!([]),
        ),
        (
            Tool::new("texts", async || vec!["a", "b"]),
            json!([text("a")[0], text("b")[0]]),
        ),
        (Tool::new("array", async || ["a".to_owned()]), text("a")),
        (
            Tool::new("ok", async || Ok::<_, ToolError>("hi")),
            text("hi"),
        ),
        (
            Tool::new("ok-io", async || Ok::<_, std::io::Error>("hi")),
            text("hi"),
        ),
        (
            Tool::new("nested", async || {
                Ok::<_, ToolError>(Ok::<_, std::fmt::Error>(7))
            }),
            text("7"),
        ),
    ]
}

#[tokio::test]
async fn every_kind_of_tool_result_has_its_content() {
    let (mut server, mut expected) = (Server::new("s", "1"), Vec::new());
    for (index, (tool, content)) in tools().into_iter().enumerate() {
        server = server.tool(tool);
        expected.push((index, content));
    }
    let mut wire = Wire::at(&server.build().expect("a server"), Revision::V2025_11_25).await;
    let listed = wire.result("tools/list", json!({})).await;
    for (index, content) in expected {
        let name = &listed["tools"][index]["name"];
        let result = wire.result("tools/call", json!({ "name": name })).await;
        assert_eq!(result, json!({ "content": content }), "{name}");
    }
}

#[tokio::test]
async fn a_whole_result_goes_out_as_it_is() {
    let whole = async || {
        CallToolResult::text("hi")
            .with_is_error(false)
            .with_meta(Meta::new().with("example.com/a", 1))
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("whole", whole))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&server, Revision::V2025_11_25).await;
    let result = wire.call("whole", json!({})).await;
    assert_eq!(
        result,
        json!({ "content": text("hi"), "isError": false, "_meta": { "example.com/a": 1 } })
    );
    // A modern result contains the server's description beside the handler's `_meta`.
    wire.speak(Revision::LATEST);
    let result = wire.call("whole", json!({})).await;
    assert_eq!(
        result["_meta"],
        json!({
            "example.com/a": 1,
            "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "1" },
        })
    );
    assert_eq!(result["resultType"], "complete");
}

// rule: T4
#[tokio::test]
async fn structured_results_are_structure_where_it_is_known_and_text_everywhere() {
    let server = Server::new("s", "1")
        .tool(Tool::new("object", async || Json(Point { x: 1 })))
        .tool(Tool::new("list", async || {
            Ok::<_, ToolError>(Json(vec![1, 2]))
        }))
        .tool(Tool::new("nothing", async || Json(None::<u32>)))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server, revision).await;
        let listed = wire.result("tools/list", json!({})).await;
        for (index, tool, value) in [
            (0, "object", json!({ "x": 1 })),
            (1, "list", json!([1, 2])),
            (2, "nothing", json!(null)),
        ] {
            let result = wire.call(tool, json!({})).await;
            assert_eq!(
                result["content"],
                text(&value.to_string()),
                "{tool} at {revision}"
            );
            // tools: structured content since 2025-06-18, and until 2026-07-28 only objects.
            let is_known =
                revision.is_modern() || (tool == "object" && revision >= Revision::V2025_06_18);
            assert_eq!(
                result.get("structuredContent"),
                is_known.then_some(&value),
                "{revision}"
            );
            assert_eq!(
                listed["tools"][index].get("outputSchema").is_some(),
                is_known,
                "{tool} {revision}"
            );
        }
    }
}

// rule: RS4
#[tokio::test]
async fn every_kind_of_prompt_reply_is_messages() {
    let message = |content: Value| json!({ "role": "user", "content": content });
    let hi = message(json!({ "type": "text", "text": "hi" }));
    let prompts = [
        (Prompt::new("string", async || "hi".to_owned()), json!([hi])),
        (Prompt::new("str", async || "hi"), json!([hi])),
        (
            Prompt::new("block", async || ContentBlock::text("hi")),
            json!([hi]),
        ),
        (
            Prompt::new("message", async || PromptMessage::user("hi")),
            json!([hi]),
        ),
        (
            Prompt::new("messages", async || vec![PromptMessage::user("hi")]),
            json!([hi]),
        ),
        (
            Prompt::new("array", async || [PromptMessage::user("hi")]),
            json!([hi]),
        ),
        (
            Prompt::new("whole", async || {
                GetPromptResult::new(vec![PromptMessage::user("hi")])
            }),
            json!([hi]),
        ),
        (
            Prompt::new("ok", async || Ok::<_, Failure>("hi")),
            json!([hi]),
        ),
        (
            Prompt::new("none", async || Vec::<PromptMessage>::new()),
            json!([]),
        ),
        (
            Prompt::new("image", async || Image::new("image/png", [1])),
            json!([message(
                json!({ "type": "image", "data": "AQ==", "mimeType": "image/png" })
            )]),
        ),
        (
            Prompt::new("audio", async || Audio::new("audio/wav", [1])),
            json!([message(
                json!({ "type": "audio", "data": "AQ==", "mimeType": "audio/wav" })
            )]),
        ),
        (
            Prompt::new("assistant", async || PromptMessage::assistant("ho")),
            json!([{ "role": "assistant", "content": { "type": "text", "text": "ho" } }]),
        ),
    ];
    let (mut server, mut expected) = (Server::new("s", "1"), Vec::new());
    for (prompt, messages) in prompts {
        server = server.prompt(prompt);
        expected.push(messages);
    }
    let mut wire = Wire::at(&server.build().expect("a server"), Revision::V2025_11_25).await;
    let listed = wire.result("prompts/list", json!({})).await;
    for (index, messages) in expected.into_iter().enumerate() {
        let name = &listed["prompts"][index]["name"];
        let result = wire.result("prompts/get", json!({ "name": name })).await;
        assert_eq!(result, json!({ "messages": messages }), "{name}");
    }
}

#[tokio::test]
async fn a_prompt_describes_itself_unless_the_reply_does() {
    let own = async || GetPromptResult::new(Vec::new()).with_description("of the reply");
    let server = Server::new("s", "1")
        .prompt(Prompt::new("plain", async || "hi").about("of the prompt"))
        .prompt(Prompt::new("own", own).about("of the prompt"))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    for (name, description) in [("plain", "of the prompt"), ("own", "of the reply")] {
        let result = wire.result("prompts/get", json!({ "name": name })).await;
        assert_eq!(result["description"], description);
    }
}

// rule: RS1
#[tokio::test]
async fn every_kind_of_contents_is_at_its_uri() {
    let blob = || ResourceContents::Blob(BlobResourceContents::new("", "AQ=="));
    let elsewhere = || ResourceContents::Text(TextResourceContents::new("else://where", "hi"));
    let all = move || vec![blob(), elsewhere()];
    let own = ["text/x-own"];
    let resources = [
        (
            Resource::new("r://0", async || "hi"),
            json!([{ "uri": "r://0", "text": "hi" }]),
        ),
        (
            Resource::new("r://1", async || String::new()),
            json!([{ "uri": "r://1", "text": "" }]),
        ),
        (
            Resource::new("r://2", async || "hi").mime_type("text/x-own"),
            json!([{ "uri": "r://2", "mimeType": own[0], "text": "hi" }]),
        ),
        (
            Resource::new("r://3", async || vec![1_u8]),
            json!([{ "uri": "r://3", "blob": "AQ==" }]),
        ),
        (
            Resource::new("r://4", async || Json(Point { x: 1 })).mime_type("text/x-own"),
            json!([{ "uri": "r://4", "mimeType": "application/json", "text": "{\"x\":1}" }]),
        ),
        (
            Resource::new("r://5", move || async move { elsewhere() }),
            json!([{ "uri": "else://where", "text": "hi" }]),
        ),
        (
            Resource::new("r://6", move || async move { all() }),
            json!([{ "uri": "r://6", "blob": "AQ==" }, { "uri": "else://where", "text": "hi" }]),
        ),
        (
            Resource::new("r://7", async || ReadResourceResult::default()),
            json!([]),
        ),
        (
            Resource::new("r://8", async || Ok::<_, Reject>("hi")),
            json!([{ "uri": "r://8", "text": "hi" }]),
        ),
    ];
    let (mut server, mut expected) = (Server::new("s", "1"), Vec::new());
    for (resource, contents) in resources {
        server = server.resource(resource);
        expected.push(contents);
    }
    let mut wire = Wire::at(&server.build().expect("a server"), Revision::V2025_11_25).await;
    for (index, contents) in expected.into_iter().enumerate() {
        let result = wire
            .result("resources/read", json!({ "uri": format!("r://{index}") }))
            .await;
        assert_eq!(result, json!({ "contents": contents }), "{index}");
    }
}

//! Servers that are not valid: building them fails, and the error names the mistake.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use turnbuckle_server::{Args, Prompt, RawArgs, Resource, Server, SetupError, Tool};

fn mistake(server: Server) -> SetupError {
    match server.build() {
        Ok(_) => panic!("the server should not be one"),
        Err(error) => error,
    }
}

fn server() -> Server {
    Server::new("s", "1")
}

// rule: T6
#[test]
fn a_name_or_uri_is_taken_once() {
    let tool = || Tool::new("a", async || "");
    let prompt = || Prompt::new("a", async || "");
    let one = || Resource::new("a://b", async || "");
    let many = || Resource::new("a://{b}", async || "");
    for (server, kind, key) in [
        (server().tool(tool()).tool(tool()), "tool", "a"),
        (server().prompt(prompt()).prompt(prompt()), "prompt", "a"),
        (
            server().resource(one()).resource(one()),
            "resource",
            "a://b",
        ),
        (
            server().resource(many()).resource(many()),
            "resource template",
            "a://{b}",
        ),
    ] {
        assert_eq!(
            mistake(server),
            SetupError::Duplicate {
                kind,
                key: key.into()
            }
        );
    }
    let apart = server()
        .tool(tool())
        .prompt(prompt())
        .resource(one())
        .resource(many());
    assert!(apart.build().is_ok(), "different kinds share no names");
    let upper = Tool::new("A", async || "");
    assert!(server().tool(tool()).tool(upper).build().is_ok());
}

// rule: T6
#[test]
fn tools_have_plain_names() {
    // tools: names SHOULD be 1 to 128 of letters, digits, `_`, `-` and `.`.
    for name in ["a", "A.b-c_9", &"x".repeat(128)] {
        assert!(
            server().tool(Tool::new(name, async || "")).build().is_ok(),
            "{name}"
        );
    }
    for name in ["", " ", "a b", "a/b", "é", "a\n", "a,b", &"x".repeat(129)] {
        let error = mistake(server().tool(Tool::new(name, async || "")));
        assert!(
            matches!(error, SetupError::Invalid { kind: "tool", .. }),
            "{name}: {error}"
        );
        assert!(error.to_string().contains("1 to 128 letters"), "{error}");
    }
    let error = mistake(server().prompt(Prompt::new("", async || "")));
    assert!(error.to_string().contains("needs a name"), "{error}");
}

// rule: T5
#[test]
fn schemas_by_hand_are_checked_before_anyone_calls() {
    let raw = || Tool::new("raw", async |_: RawArgs| "");
    // tools: `x-mcp-header` is a token, on a string, an integer or a boolean.
    let header = |kind: &str, name: &str| {
        let property = json!({ "type": kind, "x-mcp-header": name });
        raw().input_schema(json!({ "type": "object", "properties": { "a": property } }))
    };
    for (tool, named) in [
        (raw().input_schema(json!(true)), "object"),
        (raw().input_schema(json!([])), "object"),
        (raw().input_schema(json!(null)), "object"),
        (raw().input_schema(json!({})), "\"type\": \"object\""),
        (
            raw().input_schema(json!({ "type": "string" })),
            "\"type\": \"object\"",
        ),
        (
            raw().input_schema(json!({ "type": "object", "properties": [] })),
            "input schema",
        ),
        (
            raw().input_schema(json!({ "type": "object", "minProperties": "x" })),
            "input schema",
        ),
        (
            raw().input_schema(json!({ "type": "object", "$ref": "https://example.com/s.json" })),
            "input schema",
        ),
        (header("number", "Region"), "input schema"),
        (header("string", ""), "input schema"),
        (header("string", "a b"), "input schema"),
        (
            raw().output_schema(json!({ "type": "objekt" })),
            "output schema",
        ),
        (
            raw().output_schema(json!({ "minimum": "x" })),
            "output schema",
        ),
        (raw().output_schema(json!(7)), "output schema"),
    ] {
        let error = mistake(server().tool(tool));
        assert!(
            matches!(error, SetupError::Invalid { kind: "tool", .. }),
            "{error}"
        );
        let text = error.to_string();
        assert!(text.contains("`raw`") && text.contains(named), "{text}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Unit {
    #[expect(dead_code, reason = "only its name matters here")]
    name: String,
}

// rule: T5
#[test]
fn arguments_are_an_object() {
    let list = Tool::new("list", async |_: Args<Vec<String>>| "");
    let error = mistake(server().tool(list));
    assert!(error.to_string().contains("`list`"), "{error}");
    let prompt = Prompt::new("list", async |_: Args<String>| "");
    let error = mistake(server().prompt(prompt));
    assert!(error.to_string().contains("`list`"), "{error}");
}

#[test]
fn a_running_server_takes_no_mistakes_and_stays_as_it_was() {
    let live = server()
        .tool(Tool::new("a", async || ""))
        .build()
        .expect("a server");
    let catalog = live.catalog();
    assert!(catalog.add_tool(Tool::new("a", async || "")).is_err());
    assert!(catalog.add_tool(Tool::new("a b", async || "")).is_err());
    assert!(catalog.add_prompt(Prompt::new("", async || "")).is_err());
    assert!(
        catalog
            .add_resource(Resource::new("a://{b", async || ""))
            .is_err()
    );
    assert!(
        catalog
            .add_resource(Resource::new("a://b", async |_: Args<Unit>| ""))
            .is_err()
    );
    assert!(!catalog.remove_prompt("a"));
    assert!(!catalog.remove_resource("a://b"));
    assert!(catalog.add_tool(Tool::new("b", async || "")).is_ok());
}

// rule: J10, RS1
#[test]
fn what_authors_write_follows_the_grammar() {
    let server = || Server::new("s", "1");
    let tool = |key: &str| server().tool(Tool::new("t", async || "").meta(key, 1));
    let prompt = |key: &str| server().prompt(Prompt::new("p", async || "").meta(key, 1));
    let resource = |key: &str| server().resource(Resource::new("a:b", async || "").meta(key, 1));
    for key in ["com.example/origin", "origin", "a.b-c/d_e.f"] {
        for server in [tool(key), prompt(key), resource(key)] {
            assert!(server.build().is_ok(), "{key}");
        }
    }
    for key in ["my key", "com.example/", "/x", "a/b/c", "1a/x", ""] {
        let is_empty_name = key == "com.example/";
        for server in [tool(key), prompt(key), resource(key)] {
            let built = server.build();
            assert_eq!(built.is_ok(), is_empty_name, "{key}");
        }
    }
    for uri in ["file:///a b", "app://x/%zz", "1a:b", "app://ü"] {
        let error = mistake(server().resource(Resource::new(uri, async || "")));
        assert!(error.to_string().contains("URI"), "{error}");
    }
    for mime_type in ["png", "image/", "a b/c"] {
        let resource = Resource::new("a:b", async || "").mime_type(mime_type);
        let error = mistake(server().resource(resource));
        assert!(error.to_string().contains("not a media type"), "{error}");
    }
}

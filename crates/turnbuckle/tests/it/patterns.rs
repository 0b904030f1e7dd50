//! Arguments are checked against the patterns in their schemas, whatever the patterns come from.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle::{Json, Server, tool};
use turnbuckle_testing::connect;

/// A type whose schema has a pattern.
#[derive(Deserialize, JsonSchema)]
struct Code(#[schemars(regex(pattern = "^[A-Z]+$"))] String);

/// A type of the author with the same name as a standard type that has no pattern.
mod own {
    #[derive(super::Deserialize, super::JsonSchema)]
    pub(super) struct String(
        #[schemars(regex(pattern = "^[A-Z]+$"))] pub(super) std::string::String,
    );
}

#[tool]
async fn plain(code: String, seats: Option<Vec<u8>>) -> String {
    format!("{code} {seats:?}")
}

#[tool]
async fn marked(#[schemars(regex(pattern = "^[A-Z]+$"))] code: String) -> String {
    code
}

#[tool]
async fn typed(code: Code) -> String {
    code.0
}

#[tool]
async fn nested(code: Vec<Option<Code>>) -> String {
    code.into_iter().flatten().map(|code| code.0).collect()
}

#[tool]
async fn disguised(code: own::String) -> String {
    code.0
}

#[tool]
async fn numbered(code: HashMap<u8, String>) -> String {
    format!("{code:?}")
}

#[tool]
async fn answered(code: String) -> Json<Answer> {
    Json(Answer { code })
}

#[derive(serde::Serialize, JsonSchema)]
struct Answer {
    #[schemars(regex(pattern = "^[A-Z]+$"))]
    code: String,
}

fn server() -> Server {
    Server::new("patterns", "1.0.0")
        .tool(plain)
        .tool(marked)
        .tool(typed)
        .tool(nested)
        .tool(disguised)
        .tool(numbered)
        .tool(answered)
}

#[tokio::test]
async fn every_pattern_is_checked() {
    let server = server().build().unwrap();
    let client = connect(&server).await.unwrap();
    let table: [(&str, Value, Value); 5] = [
        ("marked", json!("AB"), json!("ab")),
        ("typed", json!("AB"), json!("ab")),
        ("nested", json!(["AB", null]), json!(["AB", "ab"])),
        ("disguised", json!("AB"), json!("ab")),
        ("numbered", json!({"7": "x"}), json!({"seven": "x"})),
    ];
    for (tool, right, wrong) in table {
        let output = client.call(tool, json!({"code": right})).await.unwrap();
        assert_ne!(output.is_error, Some(true), "{tool}: {}", output.text());
        let output = client.call(tool, json!({"code": wrong})).await.unwrap();
        assert_eq!(output.is_error, Some(true), "{tool} took {wrong}");
    }
}

#[tokio::test]
async fn a_result_is_held_to_its_pattern() {
    let server = server().build().unwrap();
    let client = connect(&server).await.unwrap();
    assert!(client.call("answered", json!({"code": "AB"})).await.is_ok());
    assert!(
        client
            .call("answered", json!({"code": "ab"}))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn arguments_without_patterns_are_checked_and_explained_as_ever() {
    let server = server().build().unwrap();
    let client = connect(&server).await.unwrap();
    let output = client
        .call("plain", json!({"code": "any thing", "seats": ["1", 2]}))
        .await
        .unwrap();
    assert_eq!(output.text(), "any thing Some([1, 2])");
    let output = client
        .call("plain", json!({"code": "x", "seats": [300]}))
        .await
        .unwrap();
    assert_eq!(output.is_error, Some(true));
    assert!(output.text().contains("`/seats/0`"), "{}", output.text());
    assert!(
        output.text().contains("A valid example"),
        "{}",
        output.text()
    );
}

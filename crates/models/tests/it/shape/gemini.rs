//! `models.generateContent`: ai.google.dev/api/generate-content.

use serde_json::Value;

use super::schema;
use super::value::{array, name, number, object, one_of, text};

#[track_caller]
pub(crate) fn check(body: &Value) {
    let members = object(
        body,
        "body",
        &["contents"],
        &[
            "systemInstruction",
            "tools",
            "toolConfig",
            "generationConfig",
        ],
    );
    if let Some(settings) = members.get("generationConfig") {
        let known = ["maxOutputTokens", "temperature", "stopSequences"];
        let settings = object(settings, "generationConfig", &[], &known);
        number(settings.get("temperature"), "temperature", 0.0, 2.0);
    }
    if let Some(config) = members.get("toolConfig") {
        let mode = &config["functionCallingConfig"]["mode"];
        one_of(mode, "mode", &["AUTO", "ANY", "NONE"]);
    }
    for tool in members
        .get("tools")
        .map(|tools| array(tools, "tools"))
        .into_iter()
        .flatten()
    {
        object(tool, "tool", &["functionDeclarations"], &[]);
        for function in array(&tool["functionDeclarations"], "functionDeclarations") {
            object(
                function,
                "function",
                &["name"],
                &["description", "parameters"],
            );
            name(&function["name"], "function/name", 64, ".");
            if let Some(parameters) = function.get("parameters") {
                schema::openapi(parameters, "parameters");
            }
        }
    }
    for content in array(&members["contents"], "contents") {
        object(content, "content", &["role", "parts"], &[]);
        one_of(&content["role"], "role", &["user", "model"]);
        let parts = array(&content["parts"], "parts");
        assert!(!parts.is_empty(), "no parts: {content}");
        parts.iter().for_each(part);
    }
}

#[track_caller]
fn part(part: &Value) {
    let data = ["text", "inlineData", "functionCall", "functionResponse"];
    let given: Vec<_> = data
        .iter()
        .filter(|name| part.get(**name).is_some())
        .collect();
    assert_eq!(given.len(), 1, "{part}");
    object(
        part,
        "part",
        &[],
        &[
            "text",
            "inlineData",
            "functionCall",
            "functionResponse",
            "thoughtSignature",
        ],
    );
    match *given[0] {
        "text" => {
            text(&part["text"], "text");
        }
        "inlineData" => {
            object(
                &part["inlineData"],
                "inlineData",
                &["mimeType", "data"],
                &[],
            );
        }
        "functionCall" => {
            let call = object(
                &part["functionCall"],
                "functionCall",
                &["name", "args"],
                &["id"],
            );
            assert!(call["args"].is_object(), "{part}");
        }
        _ => {
            let response = &part["functionResponse"];
            object(response, "functionResponse", &["name", "response"], &["id"]);
            object(&response["response"], "response", &[], &["output", "error"]);
        }
    }
}

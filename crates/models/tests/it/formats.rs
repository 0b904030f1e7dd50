//! Requests and answers in the four formats.

use serde_json::{Value, json};
use turnbuckle_models::format::{AnswerError, Format, attachment};
use turnbuckle_protocol::{
    BlobResourceContents, ResourceContents, SamplingContent, StopReason, TextResourceContents,
};

use crate::conversation::{everything, tools};
use crate::shape;

fn written(format: Format) -> Value {
    let tools = format.tools(&tools());
    format.request("some-model", &everything(), &tools).body
}

/// All texts in a body, one per line.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(members) => members.values().map(texts).collect(),
        _ => String::new(),
    }
}

#[test]
fn a_conversation_has_the_published_shape_of_each_api() {
    shape::openai_chat(&written(Format::OpenAiChat));
    shape::openai_responses(&written(Format::OpenAiResponses));
    shape::anthropic(&written(Format::Anthropic));
    shape::gemini(&written(Format::Gemini));
}

#[test]
fn results_keep_all_that_the_model_may_read_and_nothing_else() {
    for format in [
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::Gemini,
    ] {
        let texts = texts(&written(format));
        for wanted in [
            "plain",
            "no such thing",
            "[resource file:///l: linked, 3 bytes]",
            "[resource file:///t]\ninside\n[end of file:///t]",
            "application/zip b, 3 bytes: left out",
            "[content of kind `video`: left out]",
            "What is in these?",
            "Thanks.",
            "Be brief.",
        ] {
            assert!(
                texts.contains(wanted),
                "{format:?}: `{wanted}` is not in\n{texts}"
            );
        }
        assert!(!texts.contains("secret"), "{format:?}: {texts}");
        // Only Gemini accepts this sound.
        assert_eq!(
            texts.contains("audio/ogg, 3 bytes: left out"),
            format != Format::Gemini
        );
    }
}

#[test]
fn errors_and_pictures_of_results_are_where_each_api_expects_them() {
    let chat = written(Format::OpenAiChat);
    let messages = chat["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
            "assistant",
            "user"
        ]
    );
    assert_eq!(
        messages[4]["content"],
        "The tool reported an error: no such thing"
    );
    assert_eq!(
        messages[5]["content"][1]["image_url"]["url"],
        "data:image/jpeg;base64,/9j/4AAQ"
    );
    assert_eq!(messages[5]["content"][3]["file"]["filename"], "f.pdf");
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["name"],
        "files_read"
    );
    assert_eq!(chat["tool_choice"], "required");

    let responses = written(Format::OpenAiResponses);
    let output = responses.pointer("/input/4/output").unwrap();
    assert_eq!(output[1]["type"], "input_image");
    assert_eq!(responses["store"], false);

    let anthropic = written(Format::Anthropic);
    let results = &anthropic["messages"][2]["content"];
    assert_eq!(
        results[0]["content"][1]["source"]["media_type"],
        "image/jpeg"
    );
    assert_eq!(results[1]["is_error"], true);
    assert_eq!(results[0].get("is_error"), None);
    let call = &anthropic["messages"][1]["content"][2];
    assert_eq!(call["id"], results[1]["tool_use_id"]);
    assert_eq!(anthropic["tool_choice"], json!({"type": "any"}));

    let gemini = written(Format::Gemini);
    let parts = &gemini["contents"][2]["parts"];
    assert_eq!(
        parts[1]["functionResponse"],
        json!({"name": "fail", "response": {"error": "no such thing"}})
    );
    assert_eq!(parts[2]["inlineData"]["mimeType"], "image/jpeg");
    assert_eq!(
        gemini["contents"][1]["parts"][1]["functionCall"]["args"],
        json!({"path": "x"})
    );
}

#[test]
fn what_an_api_has_no_words_for_is_told() {
    let tools = Format::OpenAiResponses.tools(&[]);
    let written = Format::OpenAiResponses.request("m", &everything(), &tools);
    assert_eq!(
        written.left_out,
        ["stop sequences: this API does not support them"]
    );
    let mut hot = everything();
    hot.temperature = Some(1.5);
    let written = Format::Anthropic.request("m", &hot, &Format::Anthropic.tools(&[]));
    assert_eq!(
        written.left_out,
        ["temperature 1.5: the API accepts 0 to 1"]
    );
    assert_eq!(written.body["temperature"], 1.0);
}

/// The same answer in each format: a text and two calls, one of them of a renamed tool.
#[test]
fn answers_come_back_with_the_hosts_names() {
    let chat = json!({"model": "m", "choices": [{"finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Hm.", "tool_calls": [
            {"id": "1", "type": "function", "function":
                {"name": "files_read", "arguments": "{\"path\":\"x\"}"}},
            {"id": "2", "type": "function", "function": {"name": "fail", "arguments": ""}},
        ]}}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
    let responses = json!({"model": "m", "status": "completed", "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "1", "name": "files_read", "arguments": "{\"path\":\"x\"}"},
        {"type": "function_call", "call_id": "2", "name": "fail", "arguments": "{}"},
    ], "usage": {"input_tokens": 7, "output_tokens": 3}});
    let anthropic = json!({"model": "m", "stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "?", "signature": "s"},
        {"type": "text", "text": "Hm."},
        {"type": "tool_use", "id": "1", "name": "files_read", "input": {"path": "x"}},
        {"type": "tool_use", "id": "2", "name": "fail", "input": {}},
    ], "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3}});
    let gemini = json!({"modelVersion": "m", "candidates": [{"finishReason": "STOP", "content": {
        "role": "model", "parts": [
            {"text": "?", "thought": true},
            {"text": "Hm."},
            {"functionCall": {"id": "1", "name": "files_read", "args": {"path": "x"}},
             "thoughtSignature": "sig"},
            {"functionCall": {"id": "2", "name": "fail"}},
        ]}}], "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3}});
    for (format, body) in [
        (Format::OpenAiChat, chat),
        (Format::OpenAiResponses, responses),
        (Format::Anthropic, anthropic),
        (Format::Gemini, gemini),
    ] {
        // Gemini does not accept the name `files/read` either.
        let tools = format.tools(&tools());
        let answer = format.answer(&body, &tools).unwrap();
        let result = &answer.result;
        assert_eq!(
            result.content[0],
            SamplingContent::text("Hm."),
            "{format:?}"
        );
        let calls: Vec<_> = answer
            .calls()
            .map(|call| (call.id.as_str(), call.name.as_str(), json!(call.input)))
            .collect();
        let wanted = [
            ("1", "files/read", json!({"path": "x"})),
            ("2", "fail", json!({})),
        ];
        assert_eq!(calls, wanted, "{format:?}");
        assert_eq!(result.stop_reason, Some(StopReason::ToolUse), "{format:?}");
        assert_eq!(
            (answer.usage.input_tokens, answer.usage.output_tokens),
            (7, 3),
            "{format:?}"
        );
        assert_eq!(result.model, "m");
    }
}

#[test]
fn a_signature_of_gemini_goes_back_with_its_call() {
    let tools = Format::Gemini.tools(&tools());
    let body = json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"functionCall": {"name": "fail", "args": {}}, "thoughtSignature": "sig"}]}}]});
    let answer = Format::Gemini.answer(&body, &tools).unwrap();
    let mut params = everything();
    params.messages.truncate(1);
    let mut message = turnbuckle_protocol::SamplingMessage::assistant("x");
    message.content = answer.result.content;
    params.messages.push(message);
    let again = Format::Gemini.request("m", &params, &tools).body;
    shape::gemini(&again);
    assert_eq!(again["contents"][1]["parts"][0]["thoughtSignature"], "sig");
}

#[test]
fn an_answer_of_another_shape_is_told_with_the_place() {
    let empty = json!({});
    for (format, at) in [
        (Format::OpenAiChat, "/choices/0/message"),
        (Format::OpenAiResponses, "/output"),
        (Format::Anthropic, "/content"),
        (Format::Gemini, "/candidates/0/finishReason"),
    ] {
        let error = format.answer(&empty, &format.tools(&[])).unwrap_err();
        assert!(
            matches!(&error, AnswerError::Shape { at: given, .. } if given == at),
            "{error}"
        );
    }
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let error = Format::Gemini
        .answer(&blocked, &Format::Gemini.tools(&[]))
        .unwrap_err();
    assert_eq!(error.to_string(), "the model gave no answer: SAFETY");
}

#[test]
fn resources_become_parts_of_a_message() {
    let text = ResourceContents::from(TextResourceContents::new("file:///a", "inside"));
    assert_eq!(
        attachment(&text),
        SamplingContent::text("[resource file:///a]\ninside\n[end of file:///a]")
    );
    let blob = |kind: &str| {
        ResourceContents::from(BlobResourceContents::new("file:///b", "aGk=").with_mime_type(kind))
    };
    assert!(matches!(
        attachment(&blob("image/png")),
        SamplingContent::Image(_)
    ));
    assert!(matches!(
        attachment(&blob("audio/wav")),
        SamplingContent::Audio(_)
    ));
    let zip = attachment(&blob("application/zip"));
    assert!(zip.as_text().unwrap().contains("application/zip, 3 bytes"));
}

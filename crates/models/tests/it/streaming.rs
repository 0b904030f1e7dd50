//! Streamed answers, split at any position.

use serde_json::{Value, json};
use turnbuckle_models::format::Answer;
use turnbuckle_models::{Anthropic, ApiKey, ApiSettings, Delta, Model, OpenAi};
use turnbuckle_protocol::{CreateMessageRequestParams, SamplingContent, StopReason};

use crate::conversation::{everything, tools};
use crate::shape;
use crate::stand_in::{Reply, StandIn};

/// The parameters of a conversation with tools.
pub(crate) fn params() -> CreateMessageRequestParams {
    everything().with_tools(tools())
}

pub(crate) fn openai(url: &str) -> OpenAi {
    let key = Some(ApiKey::new("sk-sesame"));
    let url = format!("{url}/v1");
    OpenAi::compatible(&url, "some-model", key, settings()).unwrap()
}

pub(crate) fn anthropic(url: &str) -> Anthropic {
    let key = Some(ApiKey::new("sk-sesame"));
    Anthropic::compatible(url, "some-model", key, settings()).unwrap()
}

fn settings() -> ApiSettings {
    ApiSettings::new().with_back_off(std::time::Duration::ZERO)
}

fn events(chunks: &[Value]) -> String {
    let lines: Vec<_> = chunks
        .iter()
        .map(|chunk| {
            format!(
                "data: {chunk}

"
            )
        })
        .collect();
    lines.concat()
}

/// A stream of chat completions: text with multi-byte characters, and two calls in pieces.
pub(crate) fn openai_stream() -> String {
    let chunk = |delta: Value, reason: Value| {
        json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let none = Value::Null;
    let call = |index: u32, rest: Value| {
        let mut call = json!({"index": index});
        call.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        json!({"tool_calls": [call]})
    };
    let arguments = |index, text: &str| call(index, json!({"function": {"arguments": text}}));
    let chunks = [
        chunk(json!({"role": "assistant", "content": ""}), none.clone()),
        chunk(json!({"content": "Grüße, "}), none.clone()),
        chunk(json!({"content": "世界!"}), none.clone()),
        chunk(
            call(
                0,
                json!({"id": "call_a", "type": "function", "function": {"name": "files_read", "arguments": ""}}),
            ),
            none.clone(),
        ),
        chunk(arguments(0, "{\"path\": \"ä"), none.clone()),
        chunk(
            call(
                1,
                json!({"id": "call_b", "type": "function", "function": {"name": "fail", "arguments": "{}"}}),
            ),
            none.clone(),
        ),
        chunk(arguments(0, "/b\"}"), none),
        chunk(json!({}), json!("tool_calls")),
        json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [],
            "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}}),
    ];
    format!(": a comment\n\n{}data: [DONE]\n\n", events(&chunks))
}

/// The same answer from Anthropic.
pub(crate) fn anthropic_stream() -> String {
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let json_delta = |index, text: &str| {
        delta(
            index,
            json!({"type": "input_json_delta", "partial_json": text}),
        )
    };
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
            "model": "m-1", "content": [], "stop_reason": null, "usage": {"input_tokens": 11, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Grüße, "})),
        delta(1, json!({"type": "text_delta", "text": "世界!"})),
        stop(1),
        start(
            2,
            json!({"type": "tool_use", "id": "call_a", "name": "files_read", "input": {}}),
        ),
        json_delta(2, ""),
        json_delta(2, "{\"path\": \"ä"),
        json_delta(2, "/b\"}"),
        stop(2),
        start(
            3,
            json!({"type": "tool_use", "id": "call_b", "name": "fail", "input": {}}),
        ),
        stop(3),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
            "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let named = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    events.iter().map(named).collect()
}

#[track_caller]
fn is_whole(answer: &Answer, text: &str) {
    assert_eq!(text, "Grüße, 世界!");
    assert_eq!(
        answer.result.content[0],
        SamplingContent::text("Grüße, 世界!")
    );
    let calls: Vec<_> = answer
        .calls()
        .map(|call| (call.id.as_str(), call.name.as_str(), json!(call.input)))
        .collect();
    let wanted = [
        ("call_a", "files/read", json!({"path": "ä/b"})),
        ("call_b", "fail", json!({})),
    ];
    assert_eq!(calls, wanted);
    assert_eq!(answer.result.model, "m-1");
    assert_eq!(answer.result.stop_reason, Some(StopReason::ToolUse));
    assert_eq!(
        (answer.usage.input_tokens, answer.usage.output_tokens),
        (11, 5)
    );
}

async fn ask(model: &dyn Model) -> (Answer, Vec<String>) {
    let mut heard = Vec::new();
    let mut report = |delta: Delta<'_>| heard.push(format!("{delta:?}"));
    let answer = model.answer(&params(), &mut report).await.unwrap();
    (answer, heard)
}

fn text_of(heard: &[String]) -> String {
    let texts = heard.iter().filter_map(|delta| {
        let quoted = delta.strip_prefix("Text(")?.strip_suffix(')')?;
        serde_json::from_str::<String>(quoted).ok()
    });
    texts.collect()
}

#[tokio::test]
async fn a_stream_may_be_cut_at_every_byte() {
    let openai_reply = Reply::events(openai_stream()).cut_at_every_byte();
    let stand_in = StandIn::start(shape::openai_chat, [openai_reply]);
    let (answer, heard) = ask(&openai(&stand_in.url)).await;
    is_whole(&answer, &text_of(&heard));
    let calls: Vec<_> = heard
        .iter()
        .filter(|delta| delta.starts_with("Call"))
        .collect();
    assert_eq!(
        calls,
        [
            "Call { index: 0, name: \"files/read\" }",
            "Call { index: 1, name: \"fail\" }",
        ]
    );

    let reply = Reply::events(anthropic_stream()).cut_at_every_byte();
    let stand_in = StandIn::start(shape::anthropic, [reply]);
    let (answer, heard) = ask(&anthropic(&stand_in.url)).await;
    is_whole(&answer, &text_of(&heard));
}

#[tokio::test]
async fn a_stream_may_be_cut_in_two_at_any_place() {
    let stream = openai_stream();
    let replies = (0..=stream.len()).map(|at| Reply::events(openai_stream()).cut_at(at));
    let stand_in = StandIn::start(shape::openai_chat, replies.collect::<Vec<_>>());
    let model = openai(&stand_in.url);
    for _ in 0..=stream.len() {
        let (answer, heard) = ask(&model).await;
        is_whole(&answer, &text_of(&heard));
    }
    let stream = anthropic_stream();
    let replies = (0..=stream.len()).map(|at| Reply::events(anthropic_stream()).cut_at(at));
    let stand_in = StandIn::start(shape::anthropic, replies.collect::<Vec<_>>());
    let model = anthropic(&stand_in.url);
    for _ in 0..=stream.len() {
        let (answer, heard) = ask(&model).await;
        is_whole(&answer, &text_of(&heard));
    }
}

#[tokio::test]
async fn requests_carry_what_the_apis_want() {
    let stand_in = StandIn::start(shape::openai_chat, [Reply::events(openai_stream())]);
    ask(&openai(&stand_in.url)).await;
    let request = stand_in.only_request();
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some("Bearer sk-sesame"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.body["stream"], true);
    assert_eq!(request.body["max_tokens"], 100);
    assert_eq!(
        request.body["stream_options"],
        json!({"include_usage": true})
    );

    let stand_in = StandIn::start(shape::anthropic, [Reply::events(anthropic_stream())]);
    ask(&anthropic(&stand_in.url)).await;
    let request = stand_in.only_request();
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some("sk-sesame"));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body["stream"], true);
}

/// Deviations of Ollama, llama.cpp and gateways.
#[tokio::test]
async fn servers_that_nearly_speak_openai_are_understood() {
    let calls = |reason: &str, rest: Value| {
        let mut choice = json!({"index": 0, "delta": rest});
        choice["finish_reason"] = reason.into();
        events(&[json!({"model": "m", "choices": [choice]})])
    };
    let no_index = json!({"tool_calls": [
        {"id": "", "function": {"name": "fail", "arguments": "{}"}}]});
    for stream in [
        // No `[DONE]`, no index, no id, and `stop` although there are calls.
        calls("stop", no_index.clone()),
        calls("tool_calls", no_index)
            + "data: {\"choices\":null,\"usage\":null}\n\ndata: [DONE]\n\n",
    ] {
        let stand_in = StandIn::start(shape::openai_chat, [Reply::events(stream)]);
        let (answer, _) = ask(&openai(&stand_in.url)).await;
        let calls: Vec<_> = answer.calls().collect();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].name, "fail");
        assert!(calls[0].id.starts_with("call_"), "{calls:?}");
        assert_eq!(answer.result.stop_reason, Some(StopReason::ToolUse));
    }
    // Arguments as an object, the same index for all calls, no ids at all, one id for two calls.
    let call = |index: Value, id: &str, number: u64| {
        let function = json!({"name": "fail", "arguments": {"n": number}});
        json!({"index": index, "id": id, "function": function})
    };
    let none = Value::Null;
    for two in [
        [call(json!(0), "x", 1), call(json!(0), "y", 2)],
        [call(none.clone(), "", 1), call(none.clone(), "", 2)],
        [call(none.clone(), "x", 1), call(none, "y", 2)],
        [call(json!(0), "x", 1), call(json!(1), "x", 2)],
    ] {
        let stream = calls("tool_calls", json!({"tool_calls": two}));
        let stand_in = StandIn::start(shape::openai_chat, [Reply::events(stream)]);
        let (answer, _) = ask(&openai(&stand_in.url)).await;
        let inputs: Vec<_> = answer.calls().map(|call| json!(call.input)).collect();
        assert_eq!(inputs, [json!({"n": 1}), json!({"n": 2})], "{two:?}");
        let ids: std::collections::HashSet<_> = answer.calls().map(|call| &call.id).collect();
        assert_eq!(ids.len(), 2, "{two:?}");
    }
    // A server that does not stream.
    let whole = json!({"model": "m", "choices": [{"finish_reason": "stop",
        "message": {"role": "assistant", "content": "whole"}}]});
    let stand_in = StandIn::start(shape::openai_chat, [Reply::json(200, &whole)]);
    let (answer, heard) = ask(&openai(&stand_in.url)).await;
    assert_eq!(answer.result.text(), "whole");
    assert_eq!(heard, ["Text(\"whole\")"]);
}

//! Sampling for servers: limits, tools, and the two reviews by a user.

use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;
use serde_json::json;
use turnbuckle_models::sampling::{
    NoReview, Review, ReviewedByHost, Sampler, SamplingError, SamplingLimits,
};
use turnbuckle_models::{ModelList, Ratings, Scripted};
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, SamplingMessage, StopReason,
};

use crate::shape;
use crate::stand_in::{Reply, StandIn};
use crate::streaming::{anthropic, anthropic_stream, params};

/// A user who records what is shown, and edits both messages.
#[derive(Default)]
struct Person {
    seen: Mutex<Vec<String>>,
}

impl Review for Person {
    fn request<'a>(
        &'a self,
        server: &'a str,
        model: &'a str,
        mut params: CreateMessageRequestParams,
    ) -> BoxFuture<'a, Option<CreateMessageRequestParams>> {
        let seen = format!("{server} asks {model} for {} tokens", params.max_tokens);
        self.seen.lock().unwrap().push(seen);
        params.messages.push(SamplingMessage::user("(edited)"));
        // Editing cannot give more tokens than were requested.
        params.max_tokens = 1_000_000;
        Box::pin(async { Some(params) })
    }

    fn answer<'a>(
        &'a self,
        server: &'a str,
        mut answer: CreateMessageResult,
    ) -> BoxFuture<'a, Option<CreateMessageResult>> {
        self.seen
            .lock()
            .unwrap()
            .push(format!("{server} gets {}", answer.text()));
        answer.content = vec![SamplingContent::text("censored")];
        Box::pin(async { Some(answer) })
    }
}

fn sampler(script: &str, limits: SamplingLimits) -> Sampler {
    let model = Arc::new(Scripted::parse("script", script).unwrap());
    Sampler::new(ModelList::new(model, Ratings::default()), limits)
}

fn asked(text: &str, tokens: u64) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user(text)], tokens)
}

async fn sample(
    sampler: &Sampler,
    params: CreateMessageRequestParams,
    review: &dyn Review,
) -> Result<CreateMessageResult, SamplingError> {
    sampler.sample("files", params, review, &mut |_| {}).await
}

// rule: Q1
#[tokio::test]
async fn a_person_sees_and_edits_the_request_and_the_answer() {
    let sampler = sampler(
        "{\"expect\": \"(edited)\", \"text\": \"secret\"}",
        SamplingLimits::new(),
    );
    let person = Person::default();
    let result = sample(&sampler, asked("hi", 50_000), &person)
        .await
        .unwrap();
    assert_eq!(result.text(), "censored");
    assert_eq!(
        *person.seen.lock().unwrap(),
        ["files asks scripted for 4096 tokens", "files gets secret"]
    );
}

// rule: Q4
#[tokio::test]
async fn sampling_is_declined_when_no_user_can_be_asked() {
    let sampler = sampler("{\"text\": \"x\"}", SamplingLimits::new());
    let error = sample(&sampler, asked("hi", 10), &NoReview)
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.message().as_str()),
        (-1, "user rejected sampling request")
    );
}

// rule: Q4
#[tokio::test]
async fn limits_are_named() {
    let limits = SamplingLimits::new()
        .with_requests_per_minute(2)
        .with_max_rounds(1);
    let sampler = sampler(&"{\"text\": \"x\"}\n".repeat(9), limits);
    let unbalanced = serde_json::from_value(json!({"maxTokens": 5, "messages": [
        {"role": "user", "content": {"type": "text", "text": "a"}},
        {"role": "assistant", "content": {"type": "tool_use", "id": "1", "name": "t", "input": {}}},
    ]}));
    let error = sample(&sampler, unbalanced.unwrap(), &ReviewedByHost)
        .await
        .unwrap_err();
    assert_eq!(error.code(), -32602);
    assert_eq!(
        error.to_string(),
        "invalid messages: tool call `1` has no result"
    );
    let mut long = asked("a", 5);
    for id in ["1", "2"] {
        let round = json!([
            {"role": "assistant", "content": {"type": "tool_use", "id": id, "name": "t", "input": {}}},
            {"role": "user", "content": {"type": "tool_result", "toolUseId": id, "content": []}},
        ]);
        long.messages
            .extend(serde_json::from_value::<Vec<SamplingMessage>>(round).unwrap());
    }
    let error = sample(&sampler, long, &ReviewedByHost).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "more than 1 rounds of tool calls in one sampling conversation"
    );
    for _ in 0..2 {
        sample(&sampler, asked("a", 5), &ReviewedByHost)
            .await
            .unwrap();
    }
    let error = sample(&sampler, asked("a", 5), &ReviewedByHost)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("more than 2 sampling requests in a minute"),
        "{error}"
    );
    // Another server has its own rate limit.
    sampler
        .sample("git", asked("a", 5), &ReviewedByHost, &mut |_| {})
        .await
        .unwrap();
}

/// The budget is charged with the tokens of the answer, not with the requested maximum.
#[tokio::test]
async fn a_budget_is_charged_with_what_was_used() {
    let limits = SamplingLimits::new().with_token_budget(10);
    let sampler = sampler(&"{\"text\": \"one two three\"}\n".repeat(9), limits);
    for _ in 0..2 {
        // One input token and three output tokens, of at most five.
        sample(&sampler, asked("a", 5), &ReviewedByHost)
            .await
            .unwrap();
    }
    let error = sample(&sampler, asked("a", 5), &ReviewedByHost)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the budget of 10 tokens for sampling is used up"
    );
}

/// Tool use in sampling: the model's call is returned to the server, which has the tool.
// rule: Q8
#[tokio::test]
async fn tools_of_a_server_reach_the_model_and_calls_come_back() {
    let stand_in = StandIn::start(shape::anthropic, [Reply::events(anthropic_stream())]);
    let model = Arc::new(anthropic(&stand_in.url));
    let models = ModelList::new(model, Ratings::default());
    let sampler = Sampler::new(models, SamplingLimits::new());
    let mut params = params();
    // A message with results contains nothing else, as the protocol requires.
    params.messages.truncate(3);
    let result = sample(&sampler, params, &ReviewedByHost).await.unwrap();
    assert_eq!(result.stop_reason, Some(StopReason::ToolUse));
    let calls = result
        .content
        .iter()
        .filter(|content| matches!(content, SamplingContent::ToolUse(_)));
    assert_eq!(calls.count(), 2);
    let body = stand_in.only_request().body;
    assert_eq!(body["tools"][0]["name"], "files_read");
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
}

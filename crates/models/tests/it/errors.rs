//! Errors of an API, and how they are reported.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_models::{Delta, Model, ModelError};

use crate::shape;
use crate::stand_in::{Reply, StandIn};
use crate::streaming::{anthropic, anthropic_stream, openai, openai_stream, params};

/// The outcome of a request, and the pauses that were reported.
async fn ask(model: &dyn Model) -> (Result<(), ModelError>, Vec<Duration>) {
    let mut pauses = Vec::new();
    let mut report = |delta: Delta<'_>| {
        if let Delta::Waiting { time, .. } = delta {
            pauses.push(time);
        }
    };
    let outcome = model.answer(&params(), &mut report).await;
    (outcome.map(|_| ()), pauses)
}

fn openai_error(message: &str, code: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}})
}

fn anthropic_error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"})
}

#[tokio::test]
async fn a_refused_key_is_told_without_the_key() {
    let body = openai_error("Incorrect API key provided: sk-sesame.", "invalid_api_key");
    let stand_in = StandIn::start(shape::openai_chat, [Reply::json(401, &body)]);
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    let url = &stand_in.url;
    assert_eq!(
        error.to_string(),
        format!(
            "{url}/v1/chat/completions refused the API key (status 401): Incorrect API key provided: ***."
        )
    );
    assert_eq!(
        error.hint().unwrap(),
        "check the key in the environment or the keyring"
    );
    assert!(!format!("{error:?}").contains("sesame"), "{error:?}");
    // Retrying would not help.
    assert_eq!(stand_in.requests().len(), 1);

    let body = anthropic_error("authentication_error", "invalid x-api-key");
    let stand_in = StandIn::start(shape::anthropic, [Reply::json(401, &body)]);
    let error = ask(&anthropic(&stand_in.url)).await.0.unwrap_err();
    assert!(
        matches!(&error, ModelError::Unauthorized { message, .. } if message == "invalid x-api-key")
    );
}

#[tokio::test]
async fn a_busy_api_is_asked_again_when_it_says() {
    let body = anthropic_error("rate_limit_error", "too many");
    let busy = Reply::json(429, &body).with_header("retry-after", "0");
    let good = Reply::events(anthropic_stream());
    let stand_in = StandIn::start(shape::anthropic, [busy.clone(), good]);
    let (outcome, pauses) = ask(&anthropic(&stand_in.url)).await;
    outcome.unwrap();
    assert_eq!(pauses, [Duration::ZERO]);
    assert_eq!(stand_in.requests().len(), 2);

    // There are three attempts.
    let stand_in = StandIn::start(shape::anthropic, [busy.clone(), busy.clone(), busy]);
    let (outcome, _) = ask(&anthropic(&stand_in.url)).await;
    let error = outcome.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("because a rate or spending limit was reached: too many"),
        "{error}"
    );
    assert_eq!(stand_in.requests().len(), 3);
}

#[tokio::test]
async fn a_long_wait_and_used_up_credit_are_told_at_once() {
    let body = anthropic_error("rate_limit_error", "too many");
    let later = Reply::json(429, &body).with_header("retry-after", "3600");
    let stand_in = StandIn::start(shape::anthropic, [later]);
    let error = ask(&anthropic(&stand_in.url)).await.0.unwrap_err();
    assert_eq!(error.hint().unwrap(), "try again in 3600 s");
    assert_eq!(stand_in.requests().len(), 1);

    let body = openai_error("You exceeded your current quota.", "insufficient_quota");
    let spent = Reply::json(429, &body).with_header("retry-after", "1");
    let stand_in = StandIn::start(shape::openai_chat, [spent]);
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    assert_eq!(
        error.hint().unwrap(),
        "check the credit and the limits of the account"
    );
    assert_eq!(stand_in.requests().len(), 1);
}

#[tokio::test]
async fn a_failing_api_is_asked_three_times() {
    let failing = |status| {
        Reply::json(
            status,
            &openai_error("The server had an error", "server_error"),
        )
    };
    let replies = [failing(500), failing(503), Reply::events(openai_stream())];
    let stand_in = StandIn::start(shape::openai_chat, replies);
    ask(&openai(&stand_in.url)).await.0.unwrap();
    assert_eq!(stand_in.requests().len(), 3);

    let overloaded = Reply::json(529, &anthropic_error("overloaded_error", "Overloaded"));
    let stand_in = StandIn::start(shape::anthropic, vec![overloaded; 3]);
    let error = ask(&anthropic(&stand_in.url)).await.0.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("failed with status 529: Overloaded"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_in_any_shape_are_told() {
    for (reply, said) in [
        (
            Reply::json(404, &json!({"error": "model 'x' not found"})),
            "does not know model `some-model`: model 'x' not found",
        ),
        (
            Reply::json(400, &openai_error("Invalid schema", "x")),
            "refused the request with status 400: Invalid schema",
        ),
        (
            Reply::new(400, "text/html", "<h1>Bad</h1>"),
            "status 400: <h1>Bad</h1>",
        ),
        (
            Reply::new(418, "text/plain", ""),
            "status 418: I'm a teapot",
        ),
        (
            Reply::json(200, &json!({"hello": 1})),
            "does not have the format of this API",
        ),
        (
            Reply::new(200, "text/html", "<p>"),
            "does not have the format of this API",
        ),
        (
            Reply::json(200, &json!({"error": "Unexpected endpoint or method"})),
            "refused the request with status 200: Unexpected endpoint or method",
        ),
        (
            Reply::json(200, &openai_error("sk-sesame is not loaded", "x")),
            "refused the request with status 200: *** is not loaded",
        ),
    ] {
        let stand_in = StandIn::start(shape::openai_chat, [reply]);
        let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_json_is_shown() {
    let page = Reply::new(200, "text/html", "<title>Sign in, sk-sesame</title>");
    let stand_in = StandIn::start(shape::openai_chat, [page]);
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        source,
        "the answer is not JSON; it begins with `<title>Sign in, ***</title>`"
    );
    let hint = error.hint().unwrap();
    assert_eq!(hint, "check the API's URL, and that it speaks this format");
}

#[tokio::test]
async fn a_busy_api_that_names_no_time_is_asked_again() {
    let busy = Reply::json(429, &openai_error("slow down", "rate_limit_exceeded"));
    let timed_out = Reply::json(408, &json!({}));
    let replies = [busy.clone(), timed_out, Reply::events(openai_stream())];
    let stand_in = StandIn::start(shape::openai_chat, replies);
    ask(&openai(&stand_in.url)).await.0.unwrap();
    assert_eq!(stand_in.requests().len(), 3);

    let stand_in = StandIn::start(shape::openai_chat, vec![busy; 3]);
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    assert_eq!(
        error.hint().unwrap(),
        "try again later, or check the limits of the account"
    );
}

#[tokio::test]
async fn an_api_that_fails_is_asked_again_when_it_says() {
    let failing = |status, time: &str| {
        let body = openai_error("maintenance", "server_error");
        Reply::json(status, &body).with_header("retry-after", time)
    };
    let good = Reply::events(openai_stream());
    let stand_in = StandIn::start(shape::openai_chat, [failing(503, "0.002"), good.clone()]);
    let (outcome, pauses) = ask(&openai(&stand_in.url)).await;
    outcome.unwrap();
    assert_eq!(pauses, [Duration::from_millis(2)]);

    // A time in the past, and one that is too far in the future.
    let past = "Wed, 21 Oct 2015 07:28:00 GMT";
    let stand_in = StandIn::start(shape::openai_chat, [failing(429, past), good]);
    let (outcome, pauses) = ask(&openai(&stand_in.url)).await;
    outcome.unwrap();
    assert_eq!(pauses, [Duration::ZERO]);
    for status in [429, 503] {
        let far = failing(status, "Wed, 21 Oct 2099 07:28:00 GMT");
        let stand_in = StandIn::start(shape::openai_chat, [far]);
        let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
        assert!(
            error.hint().unwrap().starts_with("try again in "),
            "{error}"
        );
        assert_eq!(stand_in.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error() {
    let openai_stream = openai_stream();
    let anthropic_stream = anthropic_stream();
    // Broken off by the network, at any position.
    for at in [1, 80, openai_stream.len() / 2] {
        let reply = Reply::events(&openai_stream.as_bytes()[..at]).broken_off();
        let stand_in = StandIn::start(shape::openai_chat, [reply]);
        let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("broke off: the connection was lost"),
            "{at}: {error}"
        );
        assert!(std::error::Error::source(&error).is_some());
    }
    // Ended regularly, but too early.
    let end = openai_stream
        .find("\"finish_reason\":\"tool_calls\"")
        .unwrap();
    let stand_in = StandIn::start(
        shape::openai_chat,
        [Reply::events(&openai_stream.as_bytes()[..end])],
    );
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the stream ended without a `finish_reason`"),
        "{error}"
    );
    let end = anthropic_stream.find("event: message_stop").unwrap();
    let stand_in = StandIn::start(
        shape::anthropic,
        [Reply::events(&anthropic_stream.as_bytes()[..end])],
    );
    let error = ask(&anthropic(&stand_in.url)).await.0.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the stream ended without `message_stop`"),
        "{error}"
    );
    // Reported by the API in the stream, with the key in the text.
    for (stream, said) in [
        (
            format!(
                "event: error\ndata: {}\n\n",
                anthropic_error("overloaded_error", "sk-sesame is busy")
            ),
            "*** is busy",
        ),
        ("data: {nonsense\n\n".to_owned(), "an event is not JSON"),
        (
            "data: {\"type\":\"content_block_delta\",\"index\":9,\"delta\":{}}\n\n".to_owned(),
            "does not belong to a content block",
        ),
    ] {
        let stand_in = StandIn::start(shape::anthropic, [Reply::events(stream)]);
        let error = ask(&anthropic(&stand_in.url)).await.0.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn an_event_without_an_end_is_not_kept() {
    let flood = format!("data: {}", "x".repeat(5 * 1024 * 1024));
    let stand_in = StandIn::start(shape::openai_chat, [Reply::events(flood)]);
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    assert!(
        error.to_string().ends_with("is longer than 4194304 bytes"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_with_calls_without_end_is_refused() {
    let call = |index: u32| json!({"index": index, "id": format!("c{index}"), "function": {"name": "fail"}});
    let calls: Vec<_> = (0..300).map(call).collect();
    let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
    let stand_in = StandIn::start(
        shape::openai_chat,
        [Reply::events(format!("data: {chunk}\n\n"))],
    );
    let error = ask(&openai(&stand_in.url)).await.0.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("it has more than 256 tool calls"),
        "{error}"
    );
}

#[tokio::test]
async fn an_unreachable_address_is_reported() {
    // Port 9 of this machine, where nothing listens.
    let (outcome, _) = ask(&openai("http://127.0.0.1:9")).await;
    let error = outcome.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no answer from http://127.0.0.1:9/v1/chat/completions"
    );
    assert_eq!(
        error.hint().unwrap(),
        "check the API's URL, and that the server runs"
    );
}

#[tokio::test]
async fn silence_is_not_waited_for_without_end() {
    use turnbuckle_models::{ApiSettings, OpenAi};

    // The system accepts the connection, but no response follows.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let settings = ApiSettings::new()
        .with_silence(Duration::from_millis(10))
        .with_retries(0);
    let model = OpenAi::compatible(&url, "m", None, settings).unwrap();
    let error = ask(&model).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Silent { .. }), "{error}");
}

//! The messages of failed searches.

use std::time::Duration;

use super::*;

fn failure(settings: Settings, events: &[Event]) -> String {
    let mut probe = Probe::new(settings);
    let last = events
        .iter()
        .filter_map(|event| probe.on(event.clone()))
        .last();
    match last {
        Some(Action::Fail(failure)) => failure.to_string(),
        other => panic!("{other:?} is not a failure"),
    }
}

#[test]
fn a_server_that_only_hangs_fails_with_everything_that_was_tried() {
    let events = [
        Event::Started,
        Event::Timeout,
        Event::Timeout,
        Event::Started,
        Event::Timeout,
    ];
    assert_eq!(
        failure(auto().with_probe_timeout(Duration::from_secs(2)), &events),
        "the server does not answer (tried: `server/discover` at 2026-07-28: no answer within \
         2s; `initialize` at 2025-11-25: no answer within 60s; connected again; \
         `initialize` at 2025-11-25: no answer within 60s)"
    );
}

#[test]
fn a_server_that_cannot_be_started_again_fails_with_everything_that_was_tried() {
    let events = [Event::Started, Event::Closed, Event::Closed];
    assert_eq!(
        failure(auto(), &events),
        "the server closed the connection: its log or standard error may say why (tried: \
         `server/discover` at 2026-07-28: connection closed; connected again: \
         connection closed)"
    );
}

#[test]
fn the_servers_own_words_are_the_reason_even_if_more_was_tried_after_them() {
    let refused = |asked| Event::Refused {
        asked,
        refusal: ProbeRefusal::Error(-32603),
        message: "API_KEY is not set".to_owned(),
        supported: Vec::new(),
    };
    let events = [
        Event::Started,
        refused(Asked::Discover),
        refused(Asked::Initialize),
        Event::Started,
        Event::Timeout,
    ];
    let text = failure(auto(), &events);
    let reason = "the server refused `initialize` with error -32603: API_KEY is not set (tried";
    assert!(text.starts_with(reason), "{text}");
}

#[test]
fn what_a_server_says_cannot_make_a_failure_long() {
    let versions = vec!["9".repeat(10_000); 10_000];
    let events = [Event::Started, Event::Discovered { versions }];
    assert!(failure(auto(), &events).len() < 1000);

    let message = "x".repeat(1_000_000);
    let supported = Vec::new();
    let refused = Event::Refused {
        asked: Asked::Initialize,
        refusal: ProbeRefusal::Error(1),
        message,
        supported,
    };
    let text = failure(
        pinned(RevisionChoice::Era(Era::Legacy)),
        &[Event::Started, refused],
    );
    assert!(text.len() < 2000);
}

#[test]
fn versions_that_were_not_named_are_said_to_be_so() {
    let refused = Event::Refused {
        asked: Asked::Discover,
        refusal: ProbeRefusal::Error(-32022),
        message: String::new(),
        supported: Vec::new(),
    };
    let text = failure(auto(), &[Event::Started, refused]);
    assert!(
        text.starts_with("the server speaks versions that it does not list;"),
        "{text}"
    );
}

#[test]
fn an_error_is_told_as_one_whatever_its_code_and_its_words() {
    for (refusal, message, reason, tried) in [
        (
            ProbeRefusal::Error(0),
            "boom",
            "the server refused `initialize` with error 0: boom",
            ": error 0 (boom)",
        ),
        (
            ProbeRefusal::Error(-32603),
            "HTTP status 502 from upstream",
            "with error -32603: HTTP status 502 from upstream",
            ": error -32603 (HTTP status 502 from upstream)",
        ),
        (
            ProbeRefusal::Status(502),
            "",
            "the server refused `initialize` with HTTP status 502 (tried",
            ": HTTP status 502",
        ),
        (
            ProbeRefusal::NoAnswer,
            "a page of HTML",
            "a page of HTML (tried",
            ": the answer is not MCP",
        ),
    ] {
        let refused = Event::Refused {
            asked: Asked::Initialize,
            refusal,
            message: message.to_owned(),
            supported: Vec::new(),
        };
        let text = failure(
            pinned(RevisionChoice::Era(Era::Legacy)),
            &[Event::Started, refused],
        );
        assert!(text.contains(reason), "{text}");
        assert!(text.contains(tried), "{text}");
    }
}

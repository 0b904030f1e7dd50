//! Sessions of 2025-03-26 to 2025-11-25.

use std::collections::HashSet;

use serde_json::json;
use turnbuckle_protocol::Revision;

use super::{
    ask::{Ask, call, notice, request},
    site::{IDLE, SESSIONS, SOON, Session, Site, watched},
};

// rule: H9
// transports: ids are visible ASCII, unique, and SHOULD be unguessable.
#[tokio::test]
async fn ids_are_visible_long_and_never_the_same() {
    let site = Site::start().await;
    let mut seen = HashSet::new();
    for _ in 0..100 {
        let session = Session::open(&site, Revision::V2025_06_18).await;
        assert!(session.id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
        // Hexadecimal: four bits per digit.
        assert!(session.id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(session.id.len() * 4 >= 128, "{}", session.id);
        assert!(seen.insert(session.id));
    }
}

// rule: H9
#[tokio::test]
async fn a_session_lasts_until_it_is_deleted() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let called = session.post(call(1, "now")).await;
        assert_eq!(called.json()["result"]["content"][0]["text"], "now");
        let running = session.send(call(2, "wait")).await;
        site.gate.arrived(1).await;
        let ended = session.ask(Ask::new("DELETE", "/mcp")).await;
        assert_eq!((ended.status(), ended.body.len()), (204, 0));
        site.gate.dropped(1).await;
        drop(running);
        // transports: a session that has ended MUST be a 404.
        assert_eq!(session.post(call(3, "now")).await.status(), 404);
        assert_eq!(
            session
                .post(notice("notifications/initialized", json!({})))
                .await
                .status(),
            404
        );
        assert_eq!(session.ask(Ask::get()).await.status(), 404);
        assert_eq!(session.ask(Ask::new("DELETE", "/mcp")).await.status(), 404);
    }
}

// rule: H9
// transports: a request without the session id SHOULD be a 400.
#[tokio::test]
async fn what_names_no_session_is_400() {
    let site = Site::start().await;
    for ask in [
        Ask::post(call(1, "now")),
        Ask::post(call(1, "now")).with("mcp-protocol-version", "2025-06-18"),
        Ask::post(notice("notifications/initialized", json!({}))),
        Ask::post(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
        Ask::get(),
        Ask::new("DELETE", "/mcp"),
    ] {
        let answer = site.ask(ask.clone()).await;
        assert_eq!(answer.status(), 400, "{ask:?}");
        assert!(
            answer.text().contains("Mcp-Session-Id"),
            "{}",
            answer.text()
        );
    }
}

// rule: H11
// transports: an invalid or unsupported version MUST be a 400, a missing one is 2025-03-26.
#[tokio::test]
async fn the_version_header_is_checked() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let bare = || Ask::post(call(1, "now")).with("mcp-session-id", &session.id);
    for (version, status) in [
        ("2025-11-25", 200),
        ("2025-06-18", 200),
        ("2026-07-28", 400),
        ("1999-01-01", 400),
        ("nonsense", 400),
        ("", 400),
    ] {
        let answer = site.ask(bare().with("mcp-protocol-version", version)).await;
        assert_eq!(answer.status(), status, "{version}: {}", answer.text());
    }
    assert_eq!(site.ask(bare()).await.status(), 200);
}

#[tokio::test]
async fn errors_of_the_protocol_are_answers_of_http() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    for (message, code) in [
        (request(1, "no/such/method", json!({})), -32601),
        (call(1, "no-such-tool"), -32602),
        (request(1, "server/discover", json!({})), -32601),
    ] {
        let answer = session.post(message.clone()).await;
        // A legacy client would take a 404 for the end of its session.
        assert_eq!((answer.status(), answer.code()), (200, code), "{message}");
    }
}

#[tokio::test]
async fn an_unknown_version_is_answered_with_one_that_is_spoken() {
    let site = Site::start().await;
    let message = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "1999-01-01", "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" },
        },
    });
    let answer = site.ask(Ask::post(message)).await;
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    assert!(answer.head.get("mcp-session-id").is_some());
}

#[tokio::test]
async fn a_handshake_that_fails_opens_nothing() {
    let site = Site::start().await;
    let answer = site
        .ask(Ask::post(request(0, "initialize", json!({}))))
        .await;
    assert_eq!((answer.status(), answer.code()), (200, -32602));
    assert_eq!(answer.head.get("mcp-session-id"), None);
}

// transports: a response or a notification MUST be a 202 without a body; a request gets JSON or a
// stream of events.
// rule: H4
#[tokio::test]
async fn a_response_of_the_client_is_answered_with_202() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        for message in [
            json!({ "jsonrpc": "2.0", "id": 9, "result": {} }),
            notice("notifications/roots/list_changed", json!({})),
            notice("notifications/unheard-of", json!({})),
        ] {
            let answer = session.post(message).await;
            assert_eq!((answer.status(), answer.body.len()), (202, 0));
        }
        let answer = session.post(call(1, "now")).await;
        let kind = answer.head.get("content-type").unwrap_or_default();
        assert_eq!((answer.status(), kind), (200, "application/json"));
        let params = json!({ "name": "steps", "arguments": { "count": 1 }, "_meta": { "progressToken": 1 } });
        let mut stream = session.stream(request(2, "tools/call", params)).await;
        stream.event().await.expect("a step");
        site.gate.arrived(1).await;
        site.gate.open(1);
        let events = stream.rest().await;
        assert!(events.iter().any(|event| event.data.contains("1 steps")));
    }
}

// cancellation: no response is sent for a cancelled request.
#[tokio::test]
async fn a_cancelled_call_ends_without_an_answer() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let mut silent = session.send(call(1, "wait")).await;
        site.gate.arrived(1).await;
        let mut speaking = session
            .stream(watched(2, "steps", json!({ "count": 1 })))
            .await;
        speaking.message().await;
        site.gate.arrived(1).await;
        // cancellation: other mistakes in the notification do not matter.
        for (id, reason) in [(1, json!("late")), (2, json!({ "why": 7 }))] {
            let params = json!({ "requestId": id, "reason": reason });
            let answer = session
                .post(notice("notifications/cancelled", params))
                .await;
            assert_eq!(answer.status(), 202);
        }
        site.gate.dropped(2).await;
        assert_eq!(silent.answer().await.events(), []);
        assert_eq!(speaking.rest().await, []);
        // The ids can be used again.
        assert_eq!(session.post(call(1, "now")).await.status(), 200);
    }
}

#[tokio::test]
async fn an_id_in_flight_is_not_taken_twice() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut first = session.send(call(1, "wait")).await;
    site.gate.arrived(1).await;
    assert_eq!(session.post(call(1, "now")).await.code(), -32600);
    site.gate.open(1);
    assert_eq!(first.answer().await.status(), 200);
    assert_eq!(
        session.post(call(1, "now")).await.json()["result"]["content"][0]["text"],
        "now"
    );
}

#[tokio::test]
async fn a_silent_session_ends() {
    let site = Site::set(|settings| settings.session_idle = IDLE).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let forgotten = Session::open(&site, Revision::V2025_11_25).await;
    tokio::time::sleep(2 * IDLE).await;
    assert_eq!(forgotten.post(call(1, "now")).await.status(), 404);
    assert_eq!(session.post(call(1, "now")).await.status(), 404);
}

/// The client lost its connection, so it could not cancel the call. No client will read the answer.
#[tokio::test]
async fn a_call_that_never_ends_does_not_keep_the_session_of_a_client_that_is_gone() {
    let site = Site::set(|settings| {
        settings.session_idle = IDLE;
        settings.keep_alive = IDLE / 4;
    })
    .await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let waiting = session.send(call(1, "wait")).await;
    site.gate.arrived(1).await;
    drop(waiting);
    // Silent sessions are searched for when other clients send requests.
    let coming = async {
        loop {
            tokio::time::sleep(IDLE / 4).await;
            Session::open(&site, Revision::V2025_11_25).await;
        }
    };
    tokio::select! {
        () = site.gate.dropped(1) => {}
        () = coming => {}
    }
    assert_eq!(session.post(call(2, "now")).await.status(), 404);
}

#[tokio::test]
async fn a_client_that_waits_for_an_answer_keeps_its_session() {
    let site = Site::set(|settings| {
        settings.session_idle = IDLE;
        settings.keep_alive = IDLE / 4;
    })
    .await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut waiting = session.send(call(1, "wait")).await;
    site.gate.arrived(1).await;
    tokio::time::sleep(2 * IDLE).await;
    Session::open(&site, Revision::V2025_11_25).await;
    site.gate.open(1);
    assert_eq!(waiting.answer().await.status(), 200);
    assert_eq!(session.post(call(2, "now")).await.status(), 200);
}

#[tokio::test]
async fn an_open_stream_keeps_a_session_and_its_end_starts_the_clock() {
    let site = Site::set(|settings| settings.session_idle = IDLE).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut stream = session.listen().await;
    tokio::time::sleep(2 * IDLE).await;
    stream.event().await.expect("the first event");
    drop(stream);
    // The stream was open for longer than a session may be silent, but the session was not silent.
    tokio::time::sleep(SOON).await;
    let back = session.post(call(1, "now")).await;
    assert_eq!(back.status(), 200, "{}", back.text());
    tokio::time::sleep(2 * IDLE).await;
    assert_eq!(session.post(call(2, "now")).await.status(), 404);
}

#[tokio::test]
async fn the_oldest_revision_may_open_a_session_too() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2024_11_05).await;
    assert_eq!(
        session.post(request(1, "ping", json!({}))).await.json()["result"],
        json!({})
    );
}

/// The mistake is the version in the body, whatever the headers are.
#[tokio::test]
async fn a_version_that_is_not_a_string_is_called_that() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        for version in [json!(7), json!(null), json!(["2026-07-28"]), json!({})] {
            let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
            let message = request(1, "tools/list", json!({ "_meta": meta }));
            let with_header = session.own(Ask::post(&message));
            let without = with_header.clone().without("mcp-protocol-version");
            for ask in [with_header, without] {
                let answer = site.ask(ask).await;
                assert_eq!((answer.status(), answer.code()), (400, -32602), "{version}");
                let problem = answer.json()["error"]["message"].to_string();
                assert!(
                    problem.contains("protocolVersion` must be a string"),
                    "{problem}"
                );
            }
        }
    }
}

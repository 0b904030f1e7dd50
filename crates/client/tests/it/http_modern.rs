//! Modern servers at a URL: every request is independent and one POST.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError, Era, ServerNotification,
    protocol::{LoggingLevel, Revision},
    transport::Limits,
};

use crate::http_site::{Site, chain, modern, plain, text};

/// A server that answers every call with JSON.
async fn echo() -> Site {
    modern(|heard, answer| {
        Box::pin(async move { answer.json(200, &heard.result(text("hello"))).await })
    })
    .await
}

// rule: N1, X1
#[tokio::test]
async fn a_call_is_one_post_with_the_headers_that_mirror_it() {
    let site = echo().await;
    let server = plain().connect(site.url()).await.unwrap();
    assert_eq!(server.server().name(), "site");
    assert_eq!(server.detected_revision().era(), Era::Modern);
    let said: String = server
        .call("gr\u{fc}\u{df}en", ())
        .await
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(said, "hello");
    server.read("file:///a b").await.unwrap_err();
    server.get("plan", ()).await.unwrap_err();
    server.tools().await.unwrap_err();
    let discover = site.last("server/discover");
    let call = site.last("tools/call");
    for (heard, method) in [
        (&discover, "server/discover"),
        (&call, "tools/call"),
        (&site.last("resources/read"), "resources/read"),
        (&site.last("prompts/get"), "prompts/get"),
        (&site.last("tools/list"), "tools/list"),
    ] {
        // streamable-http: MCP-Protocol-Version and Mcp-Method on every request, both Accept types.
        assert_eq!(
            heard.header("mcp-protocol-version"),
            Some(Revision::LATEST.as_str())
        );
        assert_eq!(heard.header("mcp-method"), Some(method));
        assert_eq!(
            heard.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert_eq!(heard.header("content-type"), Some("application/json"));
        assert_eq!(heard.path, "/mcp");
        let meta = &heard.body["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            Revision::LATEST.as_str()
        );
    }
    assert_eq!(discover.header("mcp-name"), None);
    assert_eq!(site.last("tools/list").header("mcp-name"), None);
    assert_eq!(site.last("prompts/get").header("mcp-name"), Some("plan"));
    assert_eq!(call.header("mcp-name"), Some("=?base64?Z3LDvMOfZW4=?="));
    assert_eq!(
        site.last("resources/read").header("mcp-name"),
        Some("file:///a b")
    );
}

#[tokio::test]
async fn nothing_is_sent_that_was_not_asked_and_one_connection_serves() {
    let site = echo().await;
    let server = plain().connect(site.url()).await.unwrap();
    for _ in 0..3 {
        server.call("t", ()).await.unwrap();
    }
    server.close().await;
    // There is no session to end, and no stream to read.
    let expected = [
        "POST server/discover",
        "POST tools/call",
        "POST tools/call",
        "POST tools/call",
    ];
    assert_eq!(site.lines(), expected);
    assert!(site.heard().iter().all(|heard| heard.connection == 0));
    assert!(
        site.heard()
            .iter()
            .all(|heard| heard.header("mcp-session-id").is_none())
    );
}

#[tokio::test]
async fn an_answer_may_be_a_stream_with_what_belongs_to_the_call() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            answer.chunk(": keep-alive\n\n").await;
            let token = &heard.body["params"]["_meta"]["progressToken"];
            for progress in 1..=2 {
                let params = json!({"progressToken": token, "progress": progress});
                answer
                    .event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
                    .await;
            }
            let params = json!({"level": "info", "data": "at it"});
            answer
                .event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
                .await;
            answer.event(&heard.result(text("done"))).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    server.set_log_level(LoggingLevel::Info).await.unwrap();
    let mut news = server.notifications();
    for _ in 0..3 {
        let mut seen = Vec::new();
        let call = server
            .call("t", ())
            .progress(|report| seen.push(report.progress));
        assert_eq!(call.await.unwrap().text(), "done");
        assert_eq!(seen, [1.0, 2.0]);
        assert!(matches!(
            news.next().await,
            Some(ServerNotification::Log(_))
        ));
        // The rest of the stream is read in the background, so that its connection is free again.
        // Each sleep lets all other tasks run, however busy the machine is.
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert!(site.heard().iter().all(|heard| heard.connection == 0));
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            let message = heard.result(text("gr\u{fc}\u{df}e"));
            for byte in format!("event: message\r\ndata: {message}\r\n\r\n").into_bytes() {
                answer.raw(&[b"1\r\n", &[byte][..], b"\r\n"].concat()).await;
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    assert_eq!(
        server.call("t", ()).await.unwrap().text(),
        "gr\u{fc}\u{df}e"
    );
}

#[tokio::test]
async fn dropping_a_call_closes_its_stream_and_says_nothing() {
    let (gone, mut is_gone) = tokio::sync::mpsc::channel(4);
    let site = modern(move |_, answer| {
        let gone = gone.clone();
        Box::pin(async move {
            answer.events().await;
            answer.hung_up().await;
            gone.send(()).await.unwrap();
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let call = server.call("t", ()).deadline(Duration::from_millis(50));
    let error = call.await.unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error}");
    // streamable-http: closing the stream is the cancellation.
    is_gone.recv().await.unwrap();
    tokio::time::timeout(Duration::from_millis(50), server.read("x:y"))
        .await
        .unwrap_err();
    is_gone.recv().await.unwrap();
    let expected = [
        "POST server/discover",
        "POST tools/call",
        "POST resources/read",
    ];
    assert_eq!(site.lines(), expected);
}

#[tokio::test]
async fn a_subscription_is_a_long_post_whose_notifications_are_news() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            for method in ["subscriptions/acknowledged", "tools/list_changed"] {
                let method = format!("notifications/{method}");
                answer
                    .event(&json!({"jsonrpc": "2.0", "method": method, "params": {}}))
                    .await;
            }
            answer
                .event(&heard.result(json!({"resultType": "complete"})))
                .await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut news = server.notifications();
    let params = serde_json::value::to_raw_value(&json!({"notifications": {}})).unwrap();
    server
        .request_raw("subscriptions/listen", Some(params))
        .await
        .unwrap();
    assert!(matches!(
        news.next().await,
        Some(ServerNotification::Other { .. })
    ));
    assert!(matches!(
        news.next().await,
        Some(ServerNotification::ToolsChanged)
    ));
    assert_eq!(
        site.last("subscriptions/listen").header("mcp-method"),
        Some("subscriptions/listen")
    );
}

// rule: J8
#[tokio::test]
async fn a_request_of_the_server_is_not_answered() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            answer
                .event(&json!({"jsonrpc": "2.0", "id": 9, "method": "roots/list"}))
                .await;
            answer.event(&heard.result(text("done"))).await;
        })
    })
    .await;
    let client = plain().roots(Vec::new());
    let server = client.connect(site.url()).await.unwrap();
    server.call("t", ()).await.unwrap();
    server.close().await;
    assert_eq!(site.lines(), ["POST server/discover", "POST tools/call"]);
}

/// The error of a call that the server handles like this.
async fn told(
    handler: impl for<'a> Fn(
        crate::http_site::Heard,
        &'a mut crate::http_site::Answer,
    ) -> crate::http_site::Handling<'a>
    + Send
    + Sync
    + 'static,
) -> CallError {
    let site = modern(handler).await;
    let limits = Limits::default().with_max_message_bytes(10_000);
    let client = plain().limits(limits.with_max_json_nodes(1000));
    let server = client.connect(site.url()).await.unwrap();
    let call = server.call("t", ()).await;
    assert!(!server.is_closed(), "one call fails, not the connection");
    call.unwrap_err()
}

// rule: N6
#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_ends_the_call_and_says_so() {
    let silent = told(|_, answer| Box::pin(async move { answer.hang_up() })).await;
    let torn = told(|_, answer| {
        Box::pin(async move {
            answer.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{").await;
            answer.hang_up();
        })
    })
    .await;
    let cut = told(|_, answer| {
        Box::pin(async move {
            answer.events().await;
            answer.chunk("data: {\"jsonrpc\"").await;
            answer.hang_up();
        })
    })
    .await;
    let ended = told(|_, answer| {
        Box::pin(async move {
            answer.events().await;
            answer.chunk("id: 7\nretry: 1\ndata:\n\n").await;
        })
    })
    .await;
    for error in [silent, torn, cut, ended] {
        assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
        let text = chain(&error);
        assert!(text.contains("may or may not have run"), "{text}");
        assert!(
            text.contains("`site`") && text.contains("tools/call"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn answers_that_are_none_are_told_as_what_they_are() {
    let page = told(|_, answer| {
        Box::pin(async move {
            answer
                .full(200, &[("content-type", "text/html")], "<html>")
                .await;
        })
    })
    .await;
    assert!(matches!(page, CallError::Malformed { .. }), "{page:?}");
    assert!(chain(&page).contains("text/html"), "{}", chain(&page));
    let empty = told(|_, answer| Box::pin(async move { answer.status(202).await })).await;
    assert!(matches!(empty, CallError::Malformed { .. }), "{empty:?}");
    let other = told(|mut heard, answer| {
        Box::pin(async move {
            heard.body["id"] = json!("another");
            answer.json(200, &heard.result(text("?"))).await;
        })
    })
    .await;
    assert!(matches!(other, CallError::Malformed { .. }), "{other:?}");
    let failed =
        told(|_, answer| Box::pin(async move { answer.full(500, &[], "out of\norder").await }));
    let failed = failed.await;
    assert!(
        failed
            .to_string()
            .ends_with("HTTP status 500: out of order"),
        "{failed}"
    );
}

#[tokio::test]
async fn an_error_of_the_protocol_is_found_under_any_status() {
    for (status, id) in [(404, json!("$id")), (400, Value::Null), (200, json!("$id"))] {
        let error = told(move |heard, answer| {
            let id = id.clone();
            Box::pin(async move {
                let mut error = heard.error(-32601, "what?");
                if id.is_null() {
                    error.as_object_mut().unwrap().remove("id");
                }
                answer.json(status, &error).await;
            })
        })
        .await;
        assert_eq!(
            error.rejection().map(|error| error.code),
            Some(-32601),
            "{status}"
        );
    }
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_not_read() {
    let whole = told(|heard, answer| {
        Box::pin(async move {
            answer
                .json(200, &heard.result(text(&"x".repeat(20_000))))
                .await;
        })
    })
    .await;
    let event = told(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            answer.event(&heard.result(text(&"x".repeat(20_000)))).await;
        })
    })
    .await;
    for error in [whole, event] {
        assert!(
            matches!(error, CallError::Oversized { limit: 10_000, .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_with_too_many_values_is_not_built() {
    let dense = || json!({ "content": vec![json!({ "": 0 }); 1000], "resultType": "complete" });
    let whole = told(move |heard, answer| {
        Box::pin(async move { answer.json(200, &heard.result(dense())).await })
    })
    .await;
    let event = told(move |heard, answer| {
        Box::pin(async move {
            answer.events().await;
            answer.event(&heard.result(dense())).await;
        })
    })
    .await;
    for error in [whole, event] {
        assert!(matches!(error, CallError::TooManyNodes { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_gone_leaves_the_call_unsent() {
    let site = echo().await;
    let server = plain().connect(site.url()).await.unwrap();
    drop(site);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = server.call("t", ()).await.unwrap_err();
    assert!(matches!(error, CallError::Unsent { .. }), "{error:?}");
}

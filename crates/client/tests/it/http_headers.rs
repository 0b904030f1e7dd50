//! Arguments repeated in headers, tools whose annotations are invalid, and lists that are out of date.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use turnbuckle_client::CallError;

use crate::http_site::{Site, chain, modern, plain, text};

fn tool(name: &str, property: Value) -> Value {
    let mut tool = json!({"name": name, "inputSchema": {"type": "object", "properties": {}}});
    tool["inputSchema"]["properties"]["region"] = property;
    tool
}

/// A server that requires `region` in a header, whose name changes with each list.
async fn picky(is_ever_content: bool) -> Site {
    let lists = Arc::new(AtomicUsize::new(0));
    modern(move |heard, answer| {
        let lists = lists.clone();
        Box::pin(async move {
            if heard.method() == "tools/list" {
                let number = lists.fetch_add(1, Ordering::Relaxed) + 1;
                let name = format!("Region-{number}");
                let good = tool("query", json!({"type": "string", "x-mcp-header": name}));
                let bad = tool("broken", json!({"type": "number", "x-mcp-header": "X"}));
                let tools = json!([good, bad]);
                let result = json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"});
                return answer.json(200, &heard.result(result)).await;
            }
            let wanted = format!("mcp-param-region-{}", lists.load(Ordering::Relaxed));
            if is_ever_content && heard.header(&wanted).is_some() {
                answer.json(200, &heard.result(text("found"))).await;
            } else {
                answer.json(400, &heard.error(-32020, "header mismatch")).await;
            }
        })
    })
    .await
}

// rule: X4
#[tokio::test]
async fn annotated_arguments_are_repeated_in_headers() {
    let site = picky(true).await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    server
        .call("query", json!({"region": "S\u{e3}o Paulo"}))
        .await
        .unwrap();
    let call = site.last("tools/call");
    assert_eq!(
        call.header("mcp-param-region-1"),
        Some("=?base64?U8OjbyBQYXVsbw==?=")
    );
    // streamable-http: an argument that is null or absent has no header.
    for arguments in [json!({"region": null}), json!({})] {
        server.call("query", arguments).await.unwrap_err();
        let headers = site.last("tools/call").headers;
        assert!(
            !headers.keys().any(|name| name.starts_with("mcp-param")),
            "{headers:?}"
        );
    }
}

// rule: X5
#[tokio::test]
async fn tools_with_annotations_that_cannot_be_kept_are_left_out() {
    let site = picky(true).await;
    let server = plain().connect(site.url()).await.unwrap();
    assert!(server.excluded_tools().is_empty());
    let tools = server.tools().await.unwrap();
    // streamable-http: a client MUST drop such a tool, and keep the others.
    assert_eq!(
        tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect::<Vec<_>>(),
        ["query"]
    );
    let excluded = server.excluded_tools();
    assert_eq!(excluded.len(), 1);
    assert_eq!(excluded[0].name, "broken");
    assert!(
        excluded[0].reason.contains("region"),
        "{}",
        excluded[0].reason
    );
    // Calling it by its name does not help: its headers cannot be sent.
    let error = server
        .call("broken", json!({"region": 1}))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Unsent { .. }), "{error:?}");
    assert!(chain(&error).contains("region"), "{}", chain(&error));
    assert_eq!(site.count("POST tools/call"), 0);
}

#[tokio::test]
async fn a_tool_that_turns_out_to_be_wrong_is_not_called_again() {
    let site = picky(false).await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.call("broken", ()).await.unwrap_err();
    assert!(matches!(error, CallError::Unsent { .. }), "{error:?}");
    assert_eq!(site.count("POST tools/call"), 1);
}

// rule: X5
#[tokio::test]
async fn a_header_mismatch_leads_to_another_list_and_one_more_try() {
    let site = picky(true).await;
    let server = plain().connect(site.url()).await.unwrap();
    // The tools were never listed: only the server's error shows that headers are required.
    let found = server.call("query", json!({"region": "eu"})).await.unwrap();
    assert_eq!(found.text(), "found");
    let expected = [
        "POST server/discover",
        "POST tools/call",
        "POST tools/list",
        "POST tools/call",
    ];
    assert_eq!(site.lines(), expected);
    let ids: Vec<_> = site
        .heard()
        .iter()
        .map(|heard| heard.body["id"].clone())
        .collect();
    assert_ne!(ids[1], ids[3], "a retry is a new request");
}

#[tokio::test]
async fn a_server_that_is_never_content_is_asked_twice_and_no_more() {
    let site = picky(false).await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server
        .call("query", json!({"region": "eu"}))
        .await
        .unwrap_err();
    assert_eq!(error.rejection().map(|error| error.code), Some(-32020));
    assert_eq!(site.count("POST tools/call"), 2);
    assert_eq!(site.count("POST tools/list"), 1);
}

#[tokio::test]
async fn a_number_that_no_header_carries_is_not_sent() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            let integer = tool("count", json!({"type": "integer", "x-mcp-header": "N"}));
            let result = json!({"resultType": "complete", "tools": [integer], "ttlMs": 0, "cacheScope": "private"});
            answer.json(200, &heard.result(result)).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    let error = server
        .call("count", json!({"region": 1_u64 << 60}))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Unsent { .. }), "{error:?}");
    assert_eq!(site.count("POST tools/call"), 0);
}

//! Every HTTP status at every step, and the client's reaction.

use serde_json::Value;
use turnbuckle_client::{CallError, ConnectError, protocol::Revision};

use crate::http_site::{Site, chain, discovered, initialized, modern, plain};

#[tokio::test]
async fn a_403_without_a_challenge_is_told_as_what_it_is() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            if heard.body["params"]["name"] == "origin" {
                let mut error = heard.error(-32000, "origin `http://x` is not allowed");
                error["id"] = Value::Null;
                return answer.json(403, &error).await;
            }
            answer.full(403, &[], "blocked by rule 7").await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.call("origin", ()).await.unwrap_err();
    assert!(error.to_string().contains("is not allowed"), "{error}");
    let error = server.call("wall", ()).await.unwrap_err();
    assert!(
        matches!(error, CallError::Status { status: 403, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("rule 7"), "{error}");
    assert!(!error.to_string().contains("authorization"), "{error}");
}

#[tokio::test]
async fn a_401_says_what_the_server_said() {
    let site = Site::start(|_, answer| {
        Box::pin(async move { answer.full(401, &[], "{\"error\":\"key expired\"}").await })
    })
    .await;
    let error = plain().connect(site.url()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unauthorized { status: 401, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("key expired"), "{error}");
}

/// Statuses with which servers and proxies refuse a request.
pub(crate) const ERRORS: [u16; 15] = [
    400, 402, 403, 404, 405, 406, 408, 409, 410, 415, 422, 429, 500, 502, 503,
];

#[tokio::test]
async fn whatever_status_a_legacy_server_has_for_the_probe_it_gets_its_handshake() {
    for status in ERRORS {
        let site = Site::start(move |heard, answer| {
            Box::pin(async move {
                match heard.line().as_str() {
                    "POST server/discover" => answer.full(status, &[], "no").await,
                    "POST initialize" => {
                        let result = initialized(Revision::V2025_11_25);
                        answer.json(200, &heard.result(result)).await;
                    }
                    "GET" => answer.status(405).await,
                    _ => answer.status(202).await,
                }
            })
        })
        .await;
        let server = plain().connect(site.url()).await;
        let server = server.unwrap_or_else(|error| panic!("{status}: {}", chain(&error)));
        assert_eq!(
            server.server().revision(),
            Revision::V2025_11_25,
            "{status}"
        );
    }
}

#[tokio::test]
async fn whatever_status_everything_has_the_error_names_it_soon() {
    for status in ERRORS {
        let site = Site::start(move |_, answer| {
            Box::pin(async move { answer.full(status, &[], "go away").await })
        })
        .await;
        // Ports are reused, and the transport of a server is remembered by its URL.
        let url = format!("{}?nothing-here", site.url());
        let error = plain().connect(url).await.unwrap_err();
        let text = chain(&error);
        assert!(matches!(error, ConnectError::Refused { .. }), "{text}");
        assert!(
            text.contains(&format!("HTTP status {status} go away")),
            "{text}"
        );
        assert_eq!(site.heard().len(), 3, "{:?}", site.lines());
    }
}

#[tokio::test]
async fn what_servers_with_other_queries_speak_is_remembered_apart() {
    let site = Site::start(|heard, answer| {
        Box::pin(async move {
            match (heard.path.as_str(), heard.line().as_str()) {
                ("/mcp?new", "POST server/discover") => {
                    answer.json(200, &heard.result(discovered())).await;
                }
                ("/mcp?old", "POST initialize") => {
                    let result = initialized(Revision::V2025_06_18);
                    answer.json(200, &heard.result(result)).await;
                }
                ("/mcp?old", "POST notifications/initialized") => answer.status(202).await,
                _ => answer.status(404).await,
            }
        })
    })
    .await;
    for query in ["old", "new", "old", "new"] {
        let url = format!("{}?{query}", site.url());
        plain().connect(url).await.unwrap();
    }
    // Each server was probed once, and then connected to in its own era.
    assert_eq!(site.count("POST server/discover"), 3);
    assert_eq!(site.count("POST initialize"), 2);
}

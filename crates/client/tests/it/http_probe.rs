//! Given only a URL, the client detects the transport and the era without disturbing the server.

use std::time::Duration;

use serde_json::json;
use turnbuckle_client::{ConnectError, DetectedRevision, Era, HttpTarget, protocol::Revision};

use crate::http_site::{Answer, Handling, Heard, Site, chain, initialized, modern, plain, text};

/// How a server with sessions answers a request other than `initialize`.
type Odd = for<'a> fn(Heard, &'a mut Answer) -> Handling<'a>;

/// A server of Streamable HTTP that answers the probe in an unusual way.
async fn legacy(odd: Odd) -> Site {
    Site::start(move |heard, answer| match heard.line().as_str() {
        "POST server/discover" => odd(heard, answer),
        "POST initialize" => Box::pin(async move {
            let result = initialized(Revision::V2025_06_18);
            answer.json(200, &heard.result(result)).await;
        }),
        "GET" => Box::pin(async move { answer.status(405).await }),
        "POST tools/call" => {
            Box::pin(async move { answer.json(200, &heard.result(text("hello"))).await })
        }
        _ => Box::pin(async move { answer.status(202).await }),
    })
    .await
}

#[tokio::test]
async fn whatever_a_legacy_server_says_to_the_probe_it_gets_its_handshake() {
    let answers: [Odd; 9] = [
        |_, answer| Box::pin(async move { answer.status(400).await }),
        |_, answer| Box::pin(async move { answer.full(404, &[], "<html>no such page").await }),
        |_, answer| Box::pin(async move { answer.status(405).await }),
        |_, answer| Box::pin(async move { answer.status(500).await }),
        // The server says that a session is missing, with an error code of its own.
        |heard, answer| {
            Box::pin(async move { answer.json(400, &heard.error(-32000, "session")).await })
        },
        |heard, answer| {
            Box::pin(async move { answer.json(200, &heard.error(-32601, "what?")).await })
        },
        |heard, answer| {
            Box::pin(async move { answer.json(200, &heard.result(json!({"odd": 1}))).await })
        },
        |_, answer| {
            Box::pin(async move {
                answer
                    .full(200, &[("content-type", "text/html")], "hi")
                    .await;
            })
        },
        |_, answer| Box::pin(async move { answer.hang_up() }),
    ];
    for (index, odd) in answers.into_iter().enumerate() {
        let site = legacy(odd).await;
        let server = plain().connect(site.url()).await.unwrap();
        assert_eq!(
            server.server().revision(),
            Revision::V2025_06_18,
            "answer {index}"
        );
        assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
        let expected = [
            "POST server/discover",
            "POST initialize",
            "POST notifications/initialized",
        ];
        assert_eq!(site.lines()[..3], expected, "answer {index}");
        // streamable-http: `initialize` has no session and no version header.
        assert_eq!(site.last("initialize").header("mcp-protocol-version"), None);
    }
}

#[tokio::test]
async fn a_server_that_is_silent_at_the_probe_gets_its_handshake() {
    let site = legacy(|_, answer| Box::pin(async move { answer.hung_up().await })).await;
    let client = plain().probe_timeout(Duration::from_millis(50));
    let server = client.connect(site.url()).await.unwrap();
    assert_eq!(server.detected_revision().era(), Era::Legacy);
}

// rule: M9
#[tokio::test]
async fn modern_errors_are_never_answered_with_a_handshake() {
    // An unknown method with status 404 and a JSON-RPC error: the server is modern, but incomplete.
    let site = Site::start(|heard, answer| {
        Box::pin(async move {
            if heard.method() == "server/discover" {
                answer.json(404, &heard.error(-32601, "what?")).await;
            } else {
                answer.json(200, &heard.result(text("hello"))).await;
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    assert_eq!(server.detected_revision().era(), Era::Modern);
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
    // There is no common version: the client reports that, and does not fall back.
    let site = Site::start(|heard, answer| {
        Box::pin(async move {
            let mut error = heard.error(-32022, "unsupported");
            error["error"]["data"] =
                json!({"supported": ["2099-01-01"], "requested": "2026-07-28"});
            answer.json(400, &error).await;
        })
    })
    .await;
    let error = plain().connect(site.url()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unsupported { .. }),
        "{error:?}"
    );
    assert!(chain(&error).contains("2099-01-01"), "{}", chain(&error));
    assert_eq!(site.lines(), ["POST server/discover"]);
}

// rule: M9
#[tokio::test]
async fn a_verdict_is_remembered_and_corrected() {
    let site = legacy(|_, answer| Box::pin(async move { answer.status(404).await })).await;
    for expected in [1, 1] {
        plain().connect(site.url()).await.unwrap();
        assert_eq!(site.count("POST server/discover"), expected);
    }
    // The server has become modern since it was remembered.
    let site = modern(|_, answer| Box::pin(async move { answer.status(400).await })).await;
    let detected = DetectedRevision {
        revision: Revision::V2025_06_18,
    };
    let server = plain()
        .connect(site.url())
        .known_revision(detected)
        .await
        .unwrap();
    assert_eq!(server.detected_revision().era(), Era::Modern);
    assert_eq!(site.lines()[0], "POST initialize");
}

#[tokio::test]
async fn a_pinned_era_is_the_only_one_tried() {
    let site = legacy(|_, answer| Box::pin(async move { answer.status(404).await })).await;
    let error = plain()
        .only_era(Era::Modern)
        .connect(site.url())
        .await
        .unwrap_err();
    assert!(
        matches!(error, ConnectError::Unsupported { .. }),
        "{error:?}"
    );
    assert_eq!(site.lines(), ["POST server/discover"]);
    plain()
        .only_era(Era::Legacy)
        .connect(site.url())
        .await
        .unwrap();
    assert_eq!(site.lines()[1], "POST initialize");
}

#[tokio::test]
async fn a_url_without_a_server_says_what_was_tried() {
    let site = Site::start(|_, answer| {
        Box::pin(async move {
            answer
                .full(404, &[("content-type", "text/html")], "<h1>Not Found</h1>")
                .await;
        })
    })
    .await;
    let error = plain().connect(site.url()).await.unwrap_err();
    let text = chain(&error);
    assert!(matches!(error, ConnectError::Refused { .. }), "{text}");
    for part in ["/mcp`", "server/discover", "initialize", "HTTP status 404"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    // Only a probe, a handshake and a stream were tried.
    assert_eq!(
        site.lines(),
        ["POST server/discover", "POST initialize", "GET"]
    );
}

#[tokio::test]
async fn refused_credentials_say_nothing_about_the_era() {
    for status in [401, 403] {
        let site = Site::start(move |_, answer| {
            Box::pin(async move {
                let wanted = "Bearer resource_metadata=\"https://h/.well-known\"";
                answer
                    .full(status, &[("www-authenticate", wanted)], "")
                    .await;
            })
        })
        .await;
        let error = plain().connect(site.url()).await.unwrap_err();
        let ConnectError::Unauthorized {
            status: told,
            challenge,
            ..
        } = &error
        else {
            panic!("{error:?}")
        };
        assert_eq!(*told, status);
        assert!(challenge.as_deref().unwrap().contains("resource_metadata"));
        assert_eq!(site.lines(), ["POST server/discover"]);
    }
}

#[tokio::test]
async fn what_cannot_be_reached_is_told_at_once() {
    // Bound, so that no other process gets the port, but not listening.
    let silent = tokio::net::TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let error = plain().connect(url.as_str()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unreachable { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains(&url), "{error}");
    for (target, word) in [
        (HttpTarget::new("uvx mcp-server-git"), "http://"),
        (HttpTarget::new("http://me:sesame@host/"), "credentials"),
        (
            HttpTarget::new("http://host/").header("a b", "sesame"),
            "header",
        ),
        (HttpTarget::new("http://host/").proxy("::sesame"), "proxy"),
    ] {
        let shown = format!("{target:?}");
        let error = plain().connect(target).await.unwrap_err();
        let text = chain(&error);
        assert!(
            matches!(error, ConnectError::Misconfigured { .. }),
            "{text}"
        );
        assert!(text.contains(word), "{text}");
        assert!(
            !text.contains("sesame") && !shown.contains("sesame"),
            "{text} {shown}"
        );
    }
}

#[tokio::test]
async fn redirects_are_followed_to_the_same_server_only() {
    let other = modern(|_, answer| Box::pin(async move { answer.status(500).await })).await;
    let elsewhere = format!("http://{}/mcp?token=sesame", other.address);
    let site = Site::start(move |heard, answer| {
        let elsewhere = elsewhere.clone();
        Box::pin(async move {
            match (heard.path.as_str(), heard.method()) {
                ("/mcp", _) => answer.full(307, &[("location", "/other/mcp")], "").await,
                ("/other/mcp", "server/discover") => {
                    let result = crate::http_site::discovered();
                    answer.json(200, &heard.result(result)).await;
                }
                ("/other/mcp", _) => answer.full(308, &[("location", &elsewhere)], "").await,
                ("/round", _) => answer.full(307, &[("location", "/round")], "").await,
                _ => answer.full(302, &[("location", "/mcp")], "").await,
            }
        })
    })
    .await;
    let server = plain()
        .connect(site.target().header("x-key", "sesame"))
        .await
        .unwrap();
    assert_eq!(site.heard()[1].path, "/other/mcp");
    assert_eq!(site.heard()[1].header("x-key"), Some("sesame"));
    let text = chain(&server.call("t", ()).await.unwrap_err());
    assert!(
        text.contains(&format!("http://{}/mcp,", other.address)),
        "{text}"
    );
    assert!(!text.contains("sesame"), "{text}");
    assert!(other.heard().is_empty());
    for path in ["round", "found"] {
        let url = format!("http://{}/{path}", site.address);
        let error = plain().connect(url).await.unwrap_err();
        assert!(chain(&error).contains("redirects"), "{}", chain(&error));
    }
}

//! Which requests are allowed when: handshakes, modern requests without a handshake, and both on
//! one connection.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use crate::{
    sample,
    wire::{Wire, modern_meta},
};

/// Methods of some revisions that this server does not offer.
const NOT_OFFERED: &[&str] = &[
    "logging/setLevel",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "tasks/update",
    // These are sent by servers.
    "sampling/createMessage",
    "roots/list",
    "elicitation/create",
    // A notification is not a request, even if it has an id.
    "notifications/initialized",
    "notifications/cancelled",
    "tools/Call",
    "tools/call ",
    "",
    "💥",
];

#[tokio::test]
async fn a_method_that_is_not_offered_is_not_found_at_any_revision() {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&sample::server(), revision).await;
        for method in NOT_OFFERED {
            let error = wire.error(method, json!({})).await;
            assert_eq!(error["code"], -32601, "{method} at {revision}");
            assert_eq!(
                error["message"],
                format!("method `{method}` is not available here")
            );
        }
    }
}

#[tokio::test]
async fn each_era_lacks_the_methods_of_the_other() {
    for &revision in Revision::LEGACY {
        let mut wire = Wire::at(&sample::server(), revision).await;
        for method in ["server/discover", "subscriptions/listen"] {
            assert_eq!(
                wire.code(method, json!({ "notifications": {} })).await,
                -32601,
                "{revision}"
            );
        }
        assert_eq!(wire.result("ping", json!({})).await, json!({}));
    }
    let mut wire = Wire::open(&sample::server());
    assert_eq!(wire.code("ping", json!({})).await, -32601);
}

// rule: V2
#[tokio::test]
async fn a_known_version_is_echoed_and_an_unknown_one_answered_with_the_newest_of_the_era() {
    // lifecycle: the server MUST answer the same version if it supports it, else another.
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // A handshake never results in the modern revision.
        ("2026-07-28", "2025-11-25"),
        ("1.0.0", "2025-11-25"),
        ("", "2025-11-25"),
    ];
    for (asked, answered) in cases {
        let mut wire = Wire::open(&sample::server());
        assert_eq!(
            wire.initialize(asked).await["protocolVersion"],
            answered,
            "{asked}"
        );
    }
}

#[tokio::test]
async fn a_legacy_request_before_the_handshake_is_told_both_ways_in() {
    let mut wire = Wire::open(&sample::server());
    wire.speak(Revision::LATEST_LEGACY);
    for method in ["tools/list", "tools/call", "completion/complete", "no/such"] {
        let error = wire.error(method, json!({ "name": "arrive" })).await;
        assert_eq!(error["code"], -32600, "{method}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("`initialize` first"), "{message}");
        assert!(
            message.contains("io.modelcontextprotocol/protocolVersion"),
            "{message}"
        );
    }
    // lifecycle: before the initialize response the client sends nothing but pings.
    assert_eq!(wire.result("ping", json!({})).await, json!({}));
    wire.greet(Revision::V2025_06_18).await;
    wire.result("tools/list", json!({})).await;
}

#[tokio::test]
async fn requests_are_served_after_initialize_whether_or_not_initialized_came() {
    let mut wire = Wire::open(&sample::server());
    wire.initialize("2025-06-18").await;
    wire.result("tools/list", json!({})).await;
    wire.notify("notifications/initialized", Value::Null).await;
    wire.notify("notifications/initialized", Value::Null).await;
    wire.result("tools/list", json!({})).await;
}

#[tokio::test]
async fn initialized_before_initialize_means_nothing() {
    let mut wire = Wire::open(&sample::server());
    wire.notify("notifications/initialized", Value::Null).await;
    wire.speak(Revision::LATEST_LEGACY);
    assert_eq!(wire.code("tools/list", json!({})).await, -32600);
    wire.greet(Revision::V2024_11_05).await;
    wire.result("tools/list", json!({})).await;
}

#[tokio::test]
async fn a_second_handshake_is_refused_and_the_session_goes_on_as_it_was() {
    let mut wire = Wire::at(&sample::server(), Revision::V2024_11_05).await;
    let again = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "again", "version": "2" },
    });
    let error = wire.error("initialize", again).await;
    assert_eq!(error["code"], -32600);
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.contains("2024-11-05")),
        "{error}"
    );
    let tools = wire.result("tools/list", json!({})).await;
    assert_eq!(
        tools["tools"][0].get("annotations"),
        None,
        "still the oldest revision"
    );
}

#[tokio::test]
async fn a_broken_initialize_says_what_is_missing_and_opens_nothing() {
    let mut wire = Wire::open(&sample::server());
    wire.speak(Revision::LATEST_LEGACY);
    let whole = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" },
    });
    for field in ["protocolVersion", "capabilities", "clientInfo"] {
        let mut params = whole.clone();
        params
            .as_object_mut()
            .expect("an object")
            .shift_remove(field);
        let error = wire.error("initialize", params).await;
        assert_eq!(error["code"], -32602);
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains(field)),
            "{error}"
        );
    }
    assert_eq!(wire.code("tools/list", json!({})).await, -32600);
    wire.result("initialize", whole).await;
}

#[tokio::test]
async fn initialize_is_a_handshake_even_with_modern_metadata_on_it() {
    let mut wire = Wire::open(&sample::server());
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" },
        "_meta": modern_meta(),
    });
    let result = wire.result("initialize", params).await;
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result.get("resultType"), None);
}

// rule: M2
#[tokio::test]
async fn a_modern_request_that_says_too_little_is_told_what_is_missing() {
    // basic: a request that lacks a required `_meta` field MUST be answered with -32602.
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    let version = json!({ VERSION: "2026-07-28" });
    let cases = [
        ("server/discover", json!({}), json!([VERSION, CAPABILITIES])),
        (
            "server/discover",
            json!({ "_meta": {} }),
            json!([VERSION, CAPABILITIES]),
        ),
        (
            "server/discover",
            json!({ "_meta": { CAPABILITIES: {} } }),
            json!([VERSION]),
        ),
        (
            "server/discover",
            json!({ "_meta": version }),
            json!([CAPABILITIES]),
        ),
        (
            "tools/list",
            json!({ "_meta": version }),
            json!([CAPABILITIES]),
        ),
        (
            "no/such",
            json!({ "_meta": version }),
            json!([CAPABILITIES]),
        ),
        (
            "tools/list",
            json!({ "_meta": { VERSION: "2026-07-28", CAPABILITIES: "none" } }),
            json!([CAPABILITIES]),
        ),
    ];
    let mut wire = Wire::open(&sample::server());
    wire.speak(Revision::LATEST_LEGACY); // The metadata is this test's own.
    for (method, params, missing) in cases {
        let error = wire.error(method, params.clone()).await;
        assert_eq!(error["code"], -32602, "{method} {params}");
        assert_eq!(
            error["data"],
            json!({ "missing": missing }),
            "{method} {params}"
        );
    }
    assert_eq!(
        wire.code("server/discover", json!({ "_meta": 7 })).await,
        -32602
    );
    // The client need not describe itself.
    let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: {} });
    wire.result("tools/list", json!({ "_meta": meta })).await;
}

// rule: M3
#[tokio::test]
async fn a_legacy_version_without_a_session_is_answered_with_the_supported_ones() {
    // versioning: -32022 MUST carry the supported versions and the one that was asked for.
    let mut wire = Wire::open(&sample::server());
    let spoken = json!(Revision::NEWEST_FIRST);
    let discovered = wire.result("server/discover", json!({})).await;
    assert_eq!(discovered["supportedVersions"], spoken);
    for version in ["2026-07-29", "2025-11-25", "1900-01-01", ""] {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
        for method in ["server/discover", "tools/call", "ping", "no/such"] {
            let error = wire.error(method, json!({ "_meta": meta })).await;
            assert_eq!(error["code"], -32022, "{version} {method}");
            assert_eq!(
                error["data"],
                json!({ "supported": spoken, "requested": version })
            );
        }
    }
    // A version that is not a string counts as missing.
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": 20_260_728 });
    assert_eq!(
        wire.code("tools/list", json!({ "_meta": meta })).await,
        -32602
    );
    // So does a missing version, in a request that only a modern client would send.
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
    wire.send(&json!({
        "jsonrpc": "2.0", "id": "lost", "method": "tools/list", "params": { "_meta": meta },
    }))
    .await;
    assert_eq!(wire.receive().await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_modern_request_needs_no_handshake_and_leaves_nothing_behind() {
    let mut wire = Wire::open(&sample::server());
    wire.call("arrive", json!({ "from": "Bern", "hours": 2 }))
        .await;
    wire.speak(Revision::LATEST_LEGACY);
    assert_eq!(
        wire.code("tools/list", json!({})).await,
        -32600,
        "no session was opened"
    );
    wire.greet(Revision::V2025_03_26).await;
    wire.speak(Revision::LATEST);
    let modern = wire.result("tools/list", json!({})).await;
    assert_eq!(modern["resultType"], "complete");
    wire.speak(Revision::V2025_03_26);
    let legacy = wire.result("tools/list", json!({})).await;
    assert_eq!(legacy.get("resultType"), None);
    assert_eq!(legacy["tools"][0].get("outputSchema"), None);
}

// rule: RS2
#[tokio::test]
async fn a_resource_that_is_not_there_has_the_code_of_its_revision() {
    // resources: -32002 until 2025-11-25, -32602 since.
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&sample::server(), revision).await;
        let error = wire
            .error("resources/read", json!({ "uri": "map://nowhere" }))
            .await;
        let code = if revision.is_modern() { -32602 } else { -32002 };
        assert_eq!(error["code"], code, "{revision}");
        assert_eq!(error["data"], json!({ "uri": "map://nowhere" }));
    }
}

#[tokio::test]
async fn unknown_notifications_and_stray_responses_are_ignored() {
    let mut wire = Wire::at(&sample::server(), Revision::V2025_11_25).await;
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/never/heard/of","params":{"a":[1]}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"lose"}}"#,
        r#"{"jsonrpc":"2.0","method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":99,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#,
    ] {
        wire.send_line(line).await;
    }
    wire.assert_quiet().await;
}

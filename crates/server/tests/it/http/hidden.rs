//! An entry that the caller may not see does not exist: not for headers, for scopes, or in a
//! session.

use http::{StatusCode, request::Parts};
use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{AuthDecision, Authorized, Caller, HttpRefusal, Protect};

use super::{
    ask::{Ask, request},
    site::{SESSIONS, Session, Site},
};
use crate::{
    gate::Gate,
    hidden::{requests, server},
};

/// Admits every request, with a caller that has no scopes.
struct LetsEverybodyIn;

impl Protect for LetsEverybodyIn {
    fn admit(&self, _: &Parts) -> AuthDecision {
        AuthDecision::Now(Ok(Authorized::new(Caller::new("ada"))))
    }

    fn lacking(&self, scopes: &[String]) -> HttpRefusal {
        HttpRefusal::new(StatusCode::FORBIDDEN, scopes.join(" "))
    }
}

/// A server with a hidden entry, and one without it.
async fn sites() -> [Site; 2] {
    let start = |has| Site::serving(server(has), Gate::new(), |http| http);
    [start(true).await, start(false).await]
}

#[tokio::test]
async fn a_hidden_tool_demands_no_headers() {
    let [hidden, absent] = sites().await;
    let call = |arguments| Ask::call("secret", arguments);
    let asks = [
        call(json!({ "region": "eu" })),
        call(json!({ "region": "eu" })).with("mcp-param-region", "us"),
        call(json!({ "region": "eu" })).with("mcp-param-region", "eu"),
        call(json!({})),
        call(json!({})).with("mcp-name", "other"),
    ];
    for ask in asks {
        let (one, other) = (hidden.ask(ask.clone()).await, absent.ask(ask.clone()).await);
        assert_eq!(one.status(), other.status(), "{ask:?}");
        assert_eq!(one.text(), other.text(), "{ask:?}");
    }
    let answer = hidden.ask(call(json!({ "region": "eu" }))).await;
    assert_eq!(
        answer.json()["error"]["message"],
        "there is no tool `secret`"
    );
}

#[tokio::test]
async fn a_hidden_tool_demands_no_scopes() {
    let start = |has| {
        Site::serving(server(has), Gate::new(), |http| {
            http.protect(LetsEverybodyIn)
        })
    };
    let (hidden, absent) = (start(true).await, start(false).await);
    for (method, params) in requests() {
        if method.ends_with("/list") {
            continue;
        }
        let ask = Ask::modern(method, params);
        let (one, other) = (hidden.ask(ask.clone()).await, absent.ask(ask.clone()).await);
        assert_eq!(one.status(), other.status(), "{ask:?}");
        assert_eq!(one.text(), other.text(), "{ask:?}");
    }
}

#[tokio::test]
async fn a_session_sees_nothing_of_what_is_hidden() {
    let [hidden, absent] = sites().await;
    for revision in SESSIONS {
        let one = Session::open(&hidden, revision).await;
        let other = Session::open(&absent, revision).await;
        for (method, params) in requests() {
            let message = request(1, method, params);
            let (one, other) = (one.post(message.clone()).await, other.post(message).await);
            assert_eq!(one.status(), other.status(), "{revision} {method}");
            assert_eq!(one.text(), other.text(), "{revision} {method}");
        }
    }
}

/// A panic in the author's rule ends one request, with or without a guard.
#[tokio::test]
async fn a_rule_that_panics_ends_one_request() {
    let server = || {
        turnbuckle_server::Server::new("s", "1").tool(
            turnbuckle_server::Tool::new("torn", async || "")
                .visible(|_| panic!("no idea who that is")),
        )
    };
    let guarded = Site::serving(server(), Gate::new(), |http| http.protect(LetsEverybodyIn)).await;
    let open = Site::serving(server(), Gate::new(), |http| http).await;
    for site in [&guarded, &open] {
        let answer = site.ask(Ask::call("torn", json!({}))).await;
        assert_eq!(answer.code(), -32603);
        let opened = site.ask(Ask::initialize(Revision::V2025_06_18)).await;
        assert_eq!(opened.status(), 200);
    }
}

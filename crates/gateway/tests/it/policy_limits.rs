//! Policies: what is counted against the limits of a caller, and methods that no rule can judge.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use turnbuckle_client::Era;
use turnbuckle_gateway::{
    Gateway, LiveGateway, UpstreamSettings,
    operation::{Operation, Policy, PolicyRule, Rate},
};
use turnbuckle_protocol::{ServerCapabilities, error::code};
use turnbuckle_server::{BoxFuture, Caller, Relay, RelayOffer, RelayReply, RelayedRequest, Server};

use crate::{
    by_hand::{as_caller, as_legacy_caller, call, keys, request, retry, send, text},
    site::{listen, remote},
    upstream,
};

/// A server that answers every method, and counts its requests.
struct AnyMethod(Arc<AtomicUsize>);

impl Relay for AnyMethod {
    fn offer(&self, _: &Caller) -> RelayOffer {
        RelayOffer::new(ServerCapabilities::default())
    }

    fn serve(&self, _: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let result = json!({ "resultType": "complete", "answered": true });
        let reply = RelayReply::Result(result.to_string().into_bytes());
        Some(Box::pin(std::future::ready(reply)))
    }
}

/// A gateway with a server that answers every method, and the count of what reaches it.
async fn any_method(policy: Policy) -> (LiveGateway, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let server = Server::new("any", "1").relay(Arc::new(AnyMethod(Arc::clone(&asked))));
    let url = listen(server.build().expect("a server")).await;
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server("any", remote(&url))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    asked.store(0, Ordering::SeqCst);
    (gateway, asked)
}

fn error_code(answer: &Result<Value, Value>) -> Option<i64> {
    answer.as_ref().err()?["code"].as_i64()
}

#[tokio::test]
async fn methods_that_the_protocol_does_not_have_are_counted() {
    let rule = PolicyRule::for_all().rate(Rate::per_hour(2));
    let (gateway, asked) = any_method(Policy::new().rule(rule)).await;
    let params = call("secret_delete", &json!({}));
    for era in [Era::Legacy, Era::Modern] {
        let ada = match era {
            Era::Modern => as_caller(&gateway, "ada").await,
            Era::Legacy => as_legacy_caller(&gateway, "eve").await,
        };
        for _ in 0..2 {
            let answer = request(&ada, "vendor/method", &params).await;
            assert_eq!(answer.expect("it is answered")["answered"], true);
        }
        let refused = request(&ada, "vendor/method", &params).await;
        assert_eq!(error_code(&refused), Some(code::TOO_MANY_REQUESTS));
        // The client asks for the state of a task as often as the server tells it to.
        let polled = request(&ada, "tasks/get", &json!({ "taskId": "x" })).await;
        assert_ne!(error_code(&polled), Some(code::TOO_MANY_REQUESTS));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    gateway.close().await;
}

/// A server that ignores case or NUL characters would run the tool, and no rule would judge it.
#[tokio::test]
async fn a_method_in_other_letters_is_refused() {
    for policy in [
        Policy::new(),
        Policy::new().rule(PolicyRule::for_all().deny(["secret*"])),
    ] {
        let (gateway, asked) = any_method(policy).await;
        let params = call("secret_delete", &json!({}));
        for name in [
            "Tools/Call",
            "TOOLS/CALL",
            "tools/Call",
            "Resources/read",
            "tool\u{17f}/call",
            "tools/call\0",
        ] {
            for caller in [
                as_caller(&gateway, "ada").await,
                as_legacy_caller(&gateway, "ada").await,
            ] {
                let refused = request(&caller, name, &params).await;
                assert_eq!(error_code(&refused), Some(-32601), "{name}: {refused:?}");
            }
        }
        assert_eq!(asked.load(Ordering::SeqCst), 0);
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_caller_with_few_entries_has_no_other_methods() {
    let few = PolicyRule::for_callers(["guest"]).allow(["echo"]);
    let (gateway, asked) = any_method(Policy::new().rule(few)).await;
    let params = call("", &json!({}));
    let guest = as_caller(&gateway, "guest").await;
    let refused = request(&guest, "vendor/method", &params).await;
    assert_eq!(error_code(&refused), Some(-32601), "{refused:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let ada = as_caller(&gateway, "ada").await;
    let answered = request(&ada, "vendor/method", &params).await;
    assert!(answered.is_ok(), "{answered:?}");
    gateway.close().await;
}

/// A gateway whose legacy server asks, with this rule.
async fn asking(rule: PolicyRule) -> LiveGateway {
    let url = listen(upstream::server().build().expect("a server")).await;
    let settings = UpstreamSettings::new().era(Era::Legacy);
    let policy = Policy::new().rule(rule);
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server_with("one", remote(&url), settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn a_call_that_waits_for_answers_counts_as_running() {
    let gateway = asking(PolicyRule::for_all().concurrency(1)).await;
    let ada = as_caller(&gateway, "ada").await;
    let asked = send(&ada, &call("twice", &json!({})))
        .await
        .expect("a question");
    assert_eq!(gateway.parked(), 1);
    for tool in ["form", "echo"] {
        let refused = send(&ada, &call(tool, &json!({}))).await;
        assert_eq!(
            error_code(&refused),
            Some(code::TOO_MANY_REQUESTS),
            "{tool}"
        );
    }
    // A state that the gateway did not make continues nothing.
    let mut forged = call("echo", &json!({}));
    forged["requestState"] = json!("bm90aGluZw");
    let refused = send(&ada, &forged).await;
    assert_eq!(error_code(&refused), Some(code::TOO_MANY_REQUESTS));
    let eve = as_caller(&gateway, "eve").await;
    let echoed = send(&eve, &call("echo", &json!({}))).await;
    assert_eq!(text(&echoed.expect("her own limit")), "{}");
    // The answers are not another call.
    let again = retry("twice", &asked, &keys(&asked));
    let asked = send(&ada, &again).await.expect("a question");
    let done = send(&ada, &retry("twice", &asked, &keys(&asked))).await;
    assert_eq!(text(&done.expect("a result")), "accepted and accepted");
    // The place becomes free when the call has ended, which may be a moment after its result.
    loop {
        match send(&ada, &call("echo", &json!({}))).await {
            Ok(echoed) => break assert_eq!(text(&echoed), "{}"),
            Err(error) => assert_eq!(error["code"], code::TOO_MANY_REQUESTS, "{error}"),
        }
        tokio::task::yield_now().await;
    }
    gateway.close().await;
}

/// The state of the call is inside that of the gateway's own question.
#[tokio::test]
async fn an_allowed_call_that_waits_for_answers_is_continued() {
    let rule = PolicyRule::for_all().ask(["form"]).concurrency(1);
    let gateway = asking(rule).await;
    let ada = as_caller(&gateway, "ada").await;
    let first = call("form", &json!({}));
    let asked = send(&ada, &first).await.expect("a question");
    let mut allowed = first.clone();
    allowed["requestState"] = asked["requestState"].clone();
    allowed["inputResponses"] = json!({
        "turnbuckle.confirm": { "action": "accept", "content": { "allow": true } }
    });
    let form = send(&ada, &allowed).await.expect("a question of the tool");
    assert_eq!(gateway.parked(), 1);
    let refused = send(&ada, &call("echo", &json!({}))).await;
    assert_eq!(error_code(&refused), Some(code::TOO_MANY_REQUESTS));
    let done = send(&ada, &retry("form", &form, &keys(&form))).await;
    assert_eq!(text(&done.expect("a result")), "accepted");
    gateway.close().await;
}

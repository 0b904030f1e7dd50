//! Parked calls of modern clients at legacy servers that ask. The requests are hand-written, so
//! that they can be repeated, altered and sent by other callers.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::Era;
use turnbuckle_gateway::{Gateway, LiveGateway, UpstreamSettings};

use crate::{
    by_hand::{as_caller, call, keys, retry, send, text},
    child,
    site::{Way, gateway, listen, remote},
    upstream::{self, RUNS, VISITED},
};

#[tokio::test]
async fn a_call_is_resumed_and_never_run_twice_however_often_it_is_retried() {
    let gateway = gateway(Way::Http, Era::Legacy).await;
    let ada = as_caller(&gateway, "ada").await;
    let before = RUNS.load(Ordering::SeqCst);
    let asked = send(&ada, &call("form", &json!({}))).await.unwrap();
    assert_eq!(gateway.parked(), 1);
    let entry = &asked["inputRequests"][keys(&asked)[0]];
    assert_eq!(entry["method"], "elicitation/create");
    assert_eq!(entry["params"]["message"], "Are you sure?");
    let retry = retry("form", &asked, &keys(&asked));
    let first = send(&ada, &retry).await.unwrap();
    let second = send(&ada, &retry).await.unwrap();
    assert_eq!(text(&first), "accepted");
    assert_eq!(first, second);
    assert_eq!(gateway.parked(), 0);
    assert_eq!(RUNS.load(Ordering::SeqCst), before + 1);
    gateway.close().await;
}

#[tokio::test]
async fn questions_are_joined_and_missing_answers_asked_for_again() {
    for way in [Way::Http, Way::Stdio] {
        let gateway = gateway(way, Era::Legacy).await;
        let ada = as_caller(&gateway, "ada").await;
        let asked = send(&ada, &call("joined", &json!({}))).await.unwrap();
        let all = keys(&asked);
        assert_eq!(all.len(), 2, "{asked}");
        let again = send(&ada, &retry("joined", &asked, &all[..1]))
            .await
            .unwrap();
        assert_eq!(keys(&again), all[1..], "{again}");
        // Repeating a retry of an earlier round gives the same reply.
        let repeated = send(&ada, &retry("joined", &asked, &all[..1]))
            .await
            .unwrap();
        assert_eq!(keys(&repeated), all[1..], "{repeated}");
        let done = send(&ada, &retry("joined", &again, &all[1..]))
            .await
            .unwrap();
        assert_eq!(text(&done), "accepted and accepted");
        gateway.close().await;
    }
}

/// A client may lose the reply to a retry without the answers, and send the first retry again.
#[tokio::test]
async fn answers_to_questions_that_are_still_open_count_in_an_earlier_round() {
    let gateway = gateway(Way::Http, Era::Legacy).await;
    let ada = as_caller(&gateway, "ada").await;
    let asked = send(&ada, &call("joined", &json!({}))).await.unwrap();
    let all = keys(&asked);
    for _ in 0..2 {
        let again = send(&ada, &retry("joined", &asked, &[])).await.unwrap();
        assert_eq!(keys(&again), all, "{again}");
    }
    let second = retry("joined", &asked, &all[1..]);
    let again = send(&ada, &second).await.unwrap();
    assert_eq!(keys(&again), all[..1]);
    let done = send(&ada, &retry("joined", &asked, &all)).await.unwrap();
    assert_eq!(text(&done), "accepted and accepted");
    gateway.close().await;
}

#[tokio::test]
async fn one_question_after_another_takes_one_round_each() {
    let gateway = gateway(Way::Stdio, Era::Legacy).await;
    let ada = as_caller(&gateway, "ada").await;
    let first = send(&ada, &call("twice", &json!({}))).await.unwrap();
    let second = send(&ada, &retry("twice", &first, &keys(&first)))
        .await
        .unwrap();
    assert_ne!(keys(&first), keys(&second), "keys are never used again");
    let done = send(&ada, &retry("twice", &second, &keys(&second)))
        .await
        .unwrap();
    assert_eq!(text(&done), "accepted and accepted");
    gateway.close().await;
}

#[tokio::test]
async fn a_state_is_of_no_use_to_another_caller_or_for_another_request() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(Way::Http, era).await;
        let (ada, eve) = (
            as_caller(&gateway, "ada").await,
            as_caller(&gateway, "eve").await,
        );
        let asked = send(&ada, &call("form", &json!({}))).await.unwrap();
        let good = retry("form", &asked, &keys(&asked));
        let stolen = send(&eve, &good).await.unwrap_err();
        assert_eq!(stolen["code"], -32602, "{stolen}");
        let mut altered = good.clone();
        altered["arguments"] = json!({ "all": true });
        let altered = send(&ada, &altered).await.unwrap_err();
        assert_eq!(altered["code"], -32602, "{altered}");
        let mut forged = good.clone();
        forged["requestState"] = json!("bm90aGluZw");
        assert_eq!(send(&ada, &forged).await.unwrap_err()["code"], -32602);
        assert_eq!(text(&send(&ada, &good).await.unwrap()), "accepted");
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_call_that_is_not_answered_in_time_ends() {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with(
            "one",
            child::spec(),
            UpstreamSettings::new().era(Era::Legacy),
        )
        .park_for(Duration::from_millis(50))
        .open()
        .unwrap();
    let ada = as_caller(&gateway, "ada").await;
    let asked = send(&ada, &call("form", &json!({}))).await.unwrap();
    while gateway.parked() > 0 {
        tokio::task::yield_now().await;
    }
    // The state was sealed a moment after the time for answers began.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let late = send(&ada, &retry("form", &asked, &keys(&asked)))
        .await
        .unwrap_err();
    assert_eq!(late["code"], -32602, "the box has expired too: {late}");
    gateway.close().await;
}

#[tokio::test]
async fn a_call_whose_server_is_gone_says_so() {
    let gateway = gateway(Way::Stdio, Era::Legacy).await;
    let ada = as_caller(&gateway, "ada").await;
    let asked = send(&ada, &call("form", &json!({}))).await.unwrap();
    gateway.remove("one").await;
    let lost = send(&ada, &retry("form", &asked, &keys(&asked)))
        .await
        .unwrap_err();
    assert!(lost["code"] == -32603 || lost["code"] == -32602, "{lost}");
    assert_eq!(gateway.parked(), 0);
}

#[tokio::test]
async fn a_caller_keeps_sixteen_calls_waiting_and_no_more() {
    let gateway = gateway(Way::Http, Era::Legacy).await;
    let ada = as_caller(&gateway, "ada").await;
    for _ in 0..16 {
        let asked = send(&ada, &call("form", &json!({}))).await.unwrap();
        assert_eq!(keys(&asked).len(), 1);
    }
    let refused = send(&ada, &call("form", &json!({}))).await.unwrap_err();
    assert_eq!(refused["code"], -32603, "{refused}");
    let eve = as_caller(&gateway, "eve").await;
    assert!(send(&eve, &call("form", &json!({}))).await.is_ok());
    gateway.close().await;
}

// G6: two calls that ask in one process both get their answers.
#[tokio::test]
async fn two_asking_calls_of_one_caller_share_a_process() {
    let gateway = gateway(Way::Stdio, Era::Legacy).await;
    let ada = as_caller(&gateway, "ada").await;
    let run = async || {
        let asked = send(&ada, &call("form", &json!({}))).await.unwrap();
        let done = send(&ada, &retry("form", &asked, &keys(&asked)))
            .await
            .unwrap();
        text(&done).to_owned()
    };
    // The first call teaches the gateway that the tool asks; from then on calls take turns.
    assert_eq!(run().await, "accepted");
    let (one, other) = tokio::join!(run(), run());
    assert_eq!((one.as_str(), other.as_str()), ("accepted", "accepted"));
    gateway.close().await;
}

/// A gateway whose parked calls wait for this long, with a server that requires a visit to a URL first.
async fn visiting_gateway(park_for: Duration) -> LiveGateway {
    let url = listen(upstream::server().build().expect("a server")).await;
    let settings = UpstreamSettings::new().era(Era::Legacy);
    let gateway = Gateway::new("gateway", "1.0.0")
        .park_for(park_for)
        .server_with("one", remote(&url), settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

/// A call of `visit_first` by a client that can open URLs.
fn visit_first() -> Value {
    let mut params = call("visit_first", &json!({}));
    let declared = "io.modelcontextprotocol/clientCapabilities";
    params["_meta"][declared] = json!({ "elicitation": { "url": {} } });
    params
}

/// The same call with the user's answer to the question.
fn visit_answered(asked: &Value, action: &str) -> Value {
    let mut params = visit_first();
    params["inputResponses"] = json!({ keys(asked)[0]: { "action": action } });
    params["requestState"] = asked["requestState"].clone();
    params
}

// G9: the call did not run before the visit, so each retry sends it again.
#[tokio::test]
async fn a_url_that_must_be_visited_first_is_asked_for() {
    let gateway = visiting_gateway(Duration::from_secs(1)).await;
    let ada = as_caller(&gateway, "ada").await;
    let lacking = send(&ada, &call("visit_first", &json!({}))).await;
    assert!(lacking.is_err() || lacking.unwrap()["isError"] == true);
    let asked = send(&ada, &visit_first()).await.unwrap();
    let entry = &asked["inputRequests"][keys(&asked)[0]]["params"];
    assert_eq!(entry["mode"], "url");
    assert_eq!(entry["url"], "https://shop.example/login");
    assert!(entry.get("elicitationId").is_none(), "{entry}");
    assert_eq!(gateway.parked(), 0, "nothing runs meanwhile");
    // The user is not done in time, so the server requires the visit again.
    let again = send(&ada, &visit_answered(&asked, "accept")).await.unwrap();
    assert_eq!(keys(&again), keys(&asked));
    // A user who declined the visit is not asked again.
    let error = send(&ada, &visit_answered(&again, "decline")).await;
    let error = error.unwrap_err();
    assert_eq!(error["data"]["code"], -32042, "{error}");
    gateway.close().await;
}

// G9: a client reports that the user opens the URL, but not when they are done.
#[tokio::test]
async fn a_retry_waits_for_the_end_of_a_visit() {
    let gateway = visiting_gateway(Duration::from_mins(1)).await;
    let ada = as_caller(&gateway, "ada").await;
    let visited = async |count: usize| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        VISITED.store(count, Ordering::SeqCst);
    };
    let asked = send(&ada, &visit_first()).await.unwrap();
    let params = visit_answered(&asked, "accept");
    let (other, ()) = tokio::join!(send(&ada, &params), visited(1));
    // Another URL is asked for immediately.
    let other = other.unwrap();
    let entry = &other["inputRequests"][keys(&other)[0]]["params"];
    assert_eq!(entry["url"], "https://shop.example/terms");
    let params = visit_answered(&other, "accept");
    let (done, ()) = tokio::join!(send(&ada, &params), visited(2));
    assert_eq!(text(&done.unwrap()), "visited");
    gateway.close().await;
}

#[tokio::test]
async fn a_gateway_that_closes_ends_the_wait_for_a_visit() {
    let gateway = visiting_gateway(Duration::from_mins(1)).await;
    let ada = as_caller(&gateway, "ada").await;
    let asked = send(&ada, &visit_first()).await.unwrap();
    let params = visit_answered(&asked, "accept");
    let (ended, ()) = tokio::join!(send(&ada, &params), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        gateway.close().await;
    });
    assert!(ended.is_err(), "{ended:?}");
}

// G6: a user who never answers does not block the process for others.
#[tokio::test]
async fn a_call_that_waits_for_its_user_does_not_hold_up_others() {
    for way in [Way::Sse, Way::Stdio] {
        let gateway = gateway(way, Era::Legacy).await;
        let (ada, eve) = (
            as_caller(&gateway, "ada").await,
            as_caller(&gateway, "eve").await,
        );
        let left = send(&ada, &call("form", &json!({}))).await.unwrap();
        for _ in 0..2 {
            let asked = send(&eve, &call("form", &json!({}))).await.unwrap();
            let done = send(&eve, &retry("form", &asked, &keys(&asked)))
                .await
                .unwrap();
            assert_eq!(text(&done), "accepted");
        }
        let done = send(&ada, &retry("form", &left, &keys(&left)))
            .await
            .unwrap();
        assert_eq!(text(&done), "accepted");
        gateway.close().await;
    }
}

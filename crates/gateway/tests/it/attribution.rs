//! Questions on a pipe, where nothing identifies their call: no caller sees another caller's
//! question (G6).

use std::time::Duration;

use turnbuckle_client::RelayRequest;
use turnbuckle_protocol::envelope::Raw;

use crate::{
    by_hand::{as_caller, as_legacy_caller, keys, send, text},
    raw_site::{begin, params, shared, tell, until, yes},
};

#[tokio::test]
async fn a_server_is_told_why_a_call_was_given_up() {
    let gateway = shared(Duration::from_mins(1)).await;
    let operator = as_caller(&gateway, "operator").await;
    for (client, who, reason) in [
        (as_caller(&gateway, "ada").await, "ada", "enough"),
        (as_legacy_caller(&gateway, "eve").await, "eve", "late"),
    ] {
        let params = serde_json::value::to_raw_value(&params("later", who)).expect("JSON");
        let request = RelayRequest::new("tools/call", Some(Raw::from(&params).into()));
        let mut call = client.relay(request).expect("sent");
        let (is_there, because) = (format!("is {who}"), format!("because {reason}"));
        tokio::select! {
            event = call.next() => panic!("{event:?}"),
            () = until(&operator, &is_there) => {}
        }
        call.cancel(reason);
        let told = until(&operator, &because);
        let told = tokio::time::timeout(Duration::from_secs(20), told).await;
        told.unwrap_or_else(|_| panic!("{who}: the reason was not told"));
    }
    gateway.close().await;
}

#[tokio::test]
async fn a_question_of_a_call_that_was_given_up_is_not_shown_to_another_caller() {
    let gateway = shared(Duration::from_mins(1)).await;
    let (ada, eve, operator) = (
        as_caller(&gateway, "ada").await,
        as_caller(&gateway, "eve").await,
        as_caller(&gateway, "operator").await,
    );
    let given_up = begin(&ada, &operator, "later", "ada").await;
    given_up.abort();
    until(&operator, "cancelled 1").await;
    let eves = begin(&eve, &operator, "later", "eve").await;
    // The process has not noticed the cancellation, and asks for ada's call.
    tell(&operator, "ask ada").await;
    tell(&operator, "end eve").await;
    let done = eves.await.expect("no panic").expect("a result");
    assert_eq!(text(&done), "eve is done");
    assert_eq!(gateway.parked(), 0);
    gateway.close().await;
}

#[tokio::test]
async fn a_question_is_not_shown_to_another_caller_whose_tool_has_asked_before() {
    let gateway = shared(Duration::from_mins(1)).await;
    let (ada, eve, operator) = (
        as_caller(&gateway, "ada").await,
        as_caller(&gateway, "eve").await,
        as_caller(&gateway, "operator").await,
    );
    let first = begin(&eve, &operator, "other", "first").await;
    tell(&operator, "ask first").await;
    let asked = first.await.expect("no panic").expect("a question");
    let done = send(&eve, &yes("other", "first", &asked)).await;
    assert_eq!(text(&done.expect("a result")), "first: accept");
    let eves = begin(&eve, &operator, "other", "eve").await;
    let adas = begin(&ada, &operator, "later", "ada").await;
    tell(&operator, "ask ada").await;
    // The question may belong to either call, until one of them is over.
    assert_eq!(gateway.parked(), 0);
    tell(&operator, "end eve").await;
    let done = eves.await.expect("no panic").expect("a result");
    assert_eq!(text(&done), "eve is done");
    let asked = adas.await.expect("no panic").expect("a question");
    let done = send(&ada, &yes("later", "ada", &asked)).await;
    assert_eq!(text(&done.expect("a result")), "ada: accept");
    // From now on the two calls take turns, and each user is asked their own question.
    for (caller, who) in [(&ada, "ada"), (&eve, "eve")] {
        let tool = if who == "ada" { "later" } else { "other" };
        let begun = begin(caller, &operator, tool, who).await;
        tell(&operator, &format!("ask {who}")).await;
        let asked = begun.await.expect("no panic").expect("a question");
        let entry = &asked["inputRequests"][keys(&asked)[0]]["params"];
        assert_eq!(entry["message"], format!("for {who}"));
        let done = send(caller, &yes(tool, who, &asked))
            .await
            .expect("a result");
        assert_eq!(text(&done), format!("{who}: accept"));
    }
    gateway.close().await;
}

#[tokio::test]
async fn a_server_works_on_an_answer_for_as_long_as_it_takes() {
    let park_for = Duration::from_millis(400);
    let gateway = shared(park_for).await;
    let ada = as_caller(&gateway, "ada").await;
    let operator = as_caller(&gateway, "operator").await;
    let begun = begin(&ada, &operator, "later", "slow").await;
    tell(&operator, "ask slow").await;
    let asked = begun.await.expect("no panic").expect("a question");
    let answered = yes("later", "slow", &asked);
    let caller = ada.clone();
    let resumed = tokio::spawn(async move { send(&caller, &answered).await });
    // The time for answers passes while the server works, and the call still exists.
    tokio::time::sleep(park_for * 3).await;
    assert_eq!(gateway.parked(), 1);
    tell(&operator, "end slow").await;
    let done = resumed.await.expect("no panic").expect("a result");
    assert_eq!(text(&done), "slow is done");
    assert_eq!(gateway.parked(), 0);
    gateway.close().await;
}

#[tokio::test]
async fn a_retry_that_is_cancelled_ends_the_call() {
    let gateway = shared(Duration::from_mins(1)).await;
    let ada = as_caller(&gateway, "ada").await;
    let operator = as_caller(&gateway, "operator").await;
    let begun = begin(&ada, &operator, "later", "slow").await;
    tell(&operator, "ask slow").await;
    let asked = begun.await.expect("no panic").expect("a question");
    let answered = yes("later", "slow", &asked);
    let (caller, params) = (ada.clone(), answered.clone());
    let resumed = tokio::spawn(async move { send(&caller, &params).await });
    // Once the answers are taken, the same retry waits too, and both are given up.
    while gateway.parked() > 0 && !resumed.is_finished() {
        if tell(&operator, "is slow").await {
            resumed.abort();
        }
    }
    until(&operator, "cancelled 1").await;
    while gateway.parked() > 0 {
        tokio::task::yield_now().await;
    }
    let late = send(&ada, &answered).await.expect_err("it is over");
    assert_eq!(late["code"], -32603, "{late}");
    gateway.close().await;
}

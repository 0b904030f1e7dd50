//! Questions on a pipe for callers that are not identified: each question reaches the call that
//! asked it, and no other (G6).

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_client::{Connection, Era};

use crate::{
    by_hand::{as_nobody, call, keys, request_with, send, text},
    raw_site::{begin, params, shared, tell, yes},
};

/// A call of a tool that immediately asks a question, which names the call.
fn asking(who: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "who": { "type": "string" } } });
    let question = json!({ "message": format!("for {who}"), "requestedSchema": schema });
    let arguments = json!({ "method": "elicitation/create", "params": question });
    call("pass", &json!({ "arguments": arguments }))
}

fn saying(who: &str) -> Value {
    json!({ "action": "accept", "content": { "who": who } })
}

/// The user whose answer the server got.
fn answered_by(result: &Value) -> String {
    let said = result["content"][0]["text"].as_str();
    let said = said.unwrap_or_else(|| panic!("{result}"));
    let said: Value = serde_json::from_str(said).expect("an answer");
    said["result"]["content"]["who"].to_string()
}

/// Calls the tool as a modern client, and answers its questions.
async fn ask_modern(client: Connection, who: String) -> String {
    let mut again = asking(&who);
    let asked = send(&client, &again).await.expect("a question");
    let key = keys(&asked)[0];
    let message = &asked["inputRequests"][key]["params"]["message"];
    assert_eq!(message, &format!("for {who}"), "another call's question");
    again["inputResponses"] = json!({ key: saying(&who) });
    again["requestState"] = asked["requestState"].clone();
    let done = send(&client, &again).await.expect("a result");
    answered_by(&done)
}

#[tokio::test]
async fn first_calls_of_two_clients_are_asked_their_own_questions() {
    for _ in 0..4 {
        let gateway = shared(Duration::from_mins(1)).await;
        let (ada, eve) = (
            as_nobody(&gateway, Era::Legacy).await,
            as_nobody(&gateway, Era::Legacy).await,
        );
        let ask = async |client: &Connection, who: &str| {
            let mut params = asking(who);
            // A legacy client declares this once, when it connects.
            params.as_object_mut().expect("params").remove("_meta");
            let done = request_with(client, "tools/call", &params, &saying(who)).await;
            answered_by(&done.expect("a result"))
        };
        let (adas, eves) = tokio::join!(ask(&ada, "ada"), ask(&eve, "eve"));
        assert_eq!((&*adas, &*eves), ("\"ada\"", "\"eve\""));
        gateway.close().await;
    }
}

#[tokio::test]
async fn first_calls_of_one_client_are_asked_their_own_questions() {
    let gateway = shared(Duration::from_mins(1)).await;
    let client = as_nobody(&gateway, Era::Modern).await;
    let calls: Vec<_> = (0..12)
        .map(|number| tokio::spawn(ask_modern(client.clone(), format!("n{number}"))))
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.expect("its own"), format!("\"n{number}\""));
    }
    gateway.close().await;
}

#[tokio::test]
async fn a_question_waits_until_one_call_is_left_that_may_have_asked_it() {
    let gateway = shared(Duration::from_mins(1)).await;
    let (ada, eve, operator) = (
        as_nobody(&gateway, Era::Modern).await,
        as_nobody(&gateway, Era::Modern).await,
        as_nobody(&gateway, Era::Modern).await,
    );
    // The tool is known not to ask, so its calls run concurrently.
    let first = begin(&ada, &operator, "later", "first").await;
    tell(&operator, "end first").await;
    first.await.expect("no panic").expect("a result");
    let adas = begin(&ada, &operator, "later", "ada").await;
    let eves = begin(&eve, &operator, "later", "eve").await;
    tell(&operator, "ask ada").await;
    // A call that began later did not ask.
    let late = begin(&eve, &operator, "later", "late").await;
    assert!(!adas.is_finished() && !eves.is_finished());
    tell(&operator, "end eve").await;
    let done = eves.await.expect("no panic").expect("a result");
    assert_eq!(text(&done), "eve is done");
    let asked = adas.await.expect("no panic").expect("a question");
    let message = &asked["inputRequests"][keys(&asked)[0]]["params"]["message"];
    assert_eq!(message, "for ada");
    let done = send(&ada, &yes("later", "ada", &asked)).await;
    assert_eq!(text(&done.expect("a result")), "ada: accept");
    tell(&operator, "end late").await;
    late.await.expect("no panic").expect("a result");
    gateway.close().await;
}

#[tokio::test]
async fn of_two_questions_that_may_be_of_two_calls_one_is_refused_and_the_tool_takes_turns() {
    let gateway = shared(Duration::from_mins(1)).await;
    let (ada, eve, operator) = (
        as_nobody(&gateway, Era::Modern).await,
        as_nobody(&gateway, Era::Modern).await,
        as_nobody(&gateway, Era::Modern).await,
    );
    let first = begin(&ada, &operator, "later", "first").await;
    tell(&operator, "end first").await;
    first.await.expect("no panic").expect("a result");
    let adas = begin(&ada, &operator, "later", "ada").await;
    let eves = begin(&eve, &operator, "later", "eve").await;
    tell(&operator, "ask ada").await;
    tell(&operator, "ask eve").await;
    // The first question is refused. When its call has ended, the other question can belong to only
    // one call.
    let done = adas.await.expect("no panic").expect("a result");
    assert_eq!(text(&done), "ada: refused");
    let asked = eves.await.expect("no panic").expect("a question");
    let message = &asked["inputRequests"][keys(&asked)[0]]["params"]["message"];
    assert_eq!(message, "for eve");
    let done = send(&eve, &yes("later", "eve", &asked)).await;
    assert_eq!(text(&done.expect("a result")), "eve: accept");
    // The next calls take turns.
    let adas = begin(&ada, &operator, "later", "ada").await;
    let (caller, eves) = (eve.clone(), params("later", "eve"));
    let eves = tokio::spawn(async move { send(&caller, &eves).await });
    tell(&operator, "ask ada").await;
    let asked = adas.await.expect("no panic").expect("a question");
    let done = send(&ada, &yes("later", "ada", &asked)).await;
    assert_eq!(text(&done.expect("a result")), "ada: accept");
    while !tell(&operator, "is eve").await {
        tokio::task::yield_now().await;
    }
    tell(&operator, "ask eve").await;
    let asked = eves.await.expect("no panic").expect("a question");
    let done = send(&eve, &yes("later", "eve", &asked)).await;
    assert_eq!(text(&done.expect("a result")), "eve: accept");
    gateway.close().await;
}

#[tokio::test]
async fn a_call_after_one_that_was_given_up_is_asked() {
    let gateway = shared(Duration::from_mins(1)).await;
    let (ada, operator) = (
        as_nobody(&gateway, Era::Modern).await,
        as_nobody(&gateway, Era::Modern).await,
    );
    let given_up = begin(&ada, &operator, "later", "ada").await;
    given_up.abort();
    crate::raw_site::until(&operator, "cancelled 1").await;
    let again = ask_modern(ada.clone(), "again".to_owned()).await;
    assert_eq!(again, "\"again\"");
    gateway.close().await;
}

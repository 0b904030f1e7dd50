//! Questions of servers: the host names the server that asks, questions come one at a time, and
//! only during a call.

use std::sync::{Arc, Mutex};

use turnbuckle_host::{
    ActionKind, Audit, AuditRecord, ConsentAnswer, FormAnswer, Review, Rules, SamplingError,
    SamplingRequest, Scope,
    protocol::{CreateMessageRequestParams, CreateMessageResult, ErrorObject, SamplingMessage},
};

use crate::{
    person::{Person, shared},
    program::{server, trusting, within},
};

fn said_yes() -> Person {
    Person::who(ConsentAnswer::Allow(Scope::Once))
}

// rule: E9
#[tokio::test]
async fn a_question_carries_the_id_of_the_host_and_not_the_name_of_the_server() {
    let person = shared(said_yes());
    // The server gives itself the id of another server.
    let host = trusting()
        .user(person.clone())
        .server("liar", server(&["--name", "bank"]))
        .server("bank", server(&["--name", "bank"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let conversation = host.conversation();
    let output = within("a call", conversation.call("liar__fill", ()))
        .await
        .unwrap();
    assert!(output.text().contains("Vienna"), "{}", output.text());
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].who.server.as_str(), "liar");
    assert_eq!(asked[0].who.calls_itself.as_deref(), Some("bank"));
    assert_eq!(asked[0].who.conversation, Some(conversation.id()));
    // The tools of the lying server are listed under its own id too.
    let catalog = host.catalog();
    assert_eq!(
        catalog.tool("liar__echo").unwrap().server().as_str(),
        "liar"
    );
    host.close().await;
}

#[tokio::test]
async fn the_person_is_asked_one_thing_at_a_time() {
    let person = shared(said_yes());
    let host = trusting()
        .user(person.clone())
        .server("a", server(&[]))
        .server("b", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    let calls: Vec<_> = ["a__fill", "b__fill", "a__fill", "b__fill"]
        .map(|name| {
            let host = host.clone();
            tokio::spawn(async move { host.call(name, ()).await.unwrap().text() })
        })
        .into();
    for call in calls {
        let text = within("a call", call).await.unwrap();
        assert!(text.contains("Vienna"), "{text}");
    }
    assert_eq!(person.asked().len(), 4);
    assert_eq!(person.most_open(), 1);
    host.close().await;
}

#[tokio::test]
async fn a_server_that_asks_without_being_called_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let record = record.to_str().unwrap();
    let person = shared(said_yes());
    let records: Arc<Mutex<Vec<AuditRecord>>> = Arc::default();
    let audit = records.clone();
    let host = trusting()
        .user(person.clone())
        .model(|_| async { Err::<CreateMessageResult, SamplingError>("never asked".into()) })
        .audit(Audit::from_fn(move |record| {
            audit.lock().unwrap().push(record.clone());
        }))
        .server("nosy", server(&["--mode", "nosy", "--record", record]))
        .open()
        .await;
    within("start", host.ready()).await;
    // The answer to a later call shows that both questions were answered.
    let answered = || {
        std::fs::read_to_string(record)
            .unwrap()
            .matches("ask-")
            .count()
    };
    within("both answers", async {
        while answered() < 2 {
            let echoed = host.call("echo", serde_json::json!({"text": "x"})).await;
            echoed.unwrap();
        }
    })
    .await;
    assert!(person.asked().is_empty());
    let heard = std::fs::read_to_string(record).unwrap();
    assert!(heard.contains(r#""action":"decline""#), "{heard}");
    let refused = |action: &str| {
        let records = records.lock().unwrap();
        let mut denials = records.iter().filter(|it| it.outcome == "denied");
        denials.any(|it| it.action == action && it.server == "nosy")
    };
    assert!(refused("form") && refused("sample"));
    host.close().await;
}

#[tokio::test]
async fn a_form_can_be_declined_and_a_policy_can_refuse_to_show_it() {
    for (form, rules, shown, action) in [
        (FormAnswer::Decline, Rules::new(), 1, "decline"),
        (FormAnswer::Cancel, Rules::new(), 1, "cancel"),
        (
            FormAnswer::Cancel,
            Rules::new().deny(ActionKind::ShowForm, "*", "*", "no forms"),
            0,
            "decline",
        ),
    ] {
        let mut person = said_yes();
        person.form = form;
        let person = shared(person);
        let host = trusting()
            .policy(rules.trust("*"))
            .user(person.clone())
            .server("only", server(&[]))
            .open()
            .await;
        within("start", host.ready()).await;
        let text = within("a call", host.call("fill", ()))
            .await
            .unwrap()
            .text();
        assert!(text.contains(action), "{text}");
        assert_eq!(person.asked().len(), shown);
        host.close().await;
    }
}

/// A model that reports what it was asked.
async fn model(request: SamplingRequest) -> Result<CreateMessageResult, SamplingError> {
    let messages = request.params.messages.iter();
    let texts: Vec<_> = messages
        .flat_map(|message| &message.content)
        .filter_map(|content| content.as_text())
        .collect();
    let said = format!("{} asked {}", request.server, texts.join(" + "));
    Ok(CreateMessageResult::new("test-model", said))
}

// rule: HC3, Q1
#[tokio::test]
async fn a_person_sees_and_edits_what_goes_to_the_model_and_what_goes_to_the_server() {
    let asking = || {
        Rules::new()
            .allow(ActionKind::Start, "*", "*")
            .allow(ActionKind::Call, "*", "*")
    };
    let edited = CreateMessageRequestParams::new(vec![SamplingMessage::user("edited prompt")], 9);
    let changed = CreateMessageResult::new("test-model", "edited answer");
    for (prompt, answer, heard, wanted) in [
        (
            Review::Accept(Scope::Once),
            Review::Accept(Scope::Once),
            &["prompt of 1", "answer only asked secret of the server"][..],
            "only asked secret of the server",
        ),
        (
            Review::Edited(Box::new(edited)),
            Review::Accept(Scope::Once),
            &["prompt of 1", "answer only asked edited prompt"],
            "only asked edited prompt",
        ),
        (
            Review::Accept(Scope::Once),
            Review::Edited(Box::new(changed)),
            &["prompt of 1", "answer only asked secret of the server"],
            "edited answer",
        ),
        (
            Review::Accept(Scope::Once),
            Review::Decline,
            &["prompt of 1", "answer only asked secret of the server"],
            "declined",
        ),
        (
            Review::Decline,
            Review::Accept(Scope::Once),
            &["prompt of 1"],
            "declined",
        ),
    ] {
        let mut person = said_yes();
        person.prompt = prompt;
        person.answer = answer;
        let person = shared(person);
        let host = trusting()
            .policy(asking())
            .user(person.clone())
            .model(model)
            .server("only", server(&[]))
            .open()
            .await;
        within("start", host.ready()).await;
        let text = within("a call", host.call("sample", ()))
            .await
            .unwrap()
            .text();
        assert!(text.contains(wanted), "{text}");
        assert_eq!(person.heard(), heard);
        host.close().await;
    }
}

#[tokio::test]
async fn a_review_that_is_accepted_for_a_conversation_is_not_repeated_in_it() {
    let rules = Rules::new()
        .allow(ActionKind::Start, "*", "*")
        .allow(ActionKind::Call, "*", "*");
    let mut person = said_yes();
    person.prompt = Review::Accept(Scope::Conversation);
    person.answer = Review::Accept(Scope::Conversation);
    let person = shared(person);
    let host = trusting()
        .policy(rules)
        .user(person.clone())
        .model(model)
        .server("only", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    let conversation = host.conversation();
    for _ in 0..3 {
        within("a call", conversation.call("sample", ()))
            .await
            .unwrap();
    }
    assert_eq!(person.asked().len(), 2);
    drop(conversation);
    within("a call", host.conversation().call("sample", ()))
        .await
        .unwrap();
    assert_eq!(person.asked().len(), 4);
    host.close().await;
}

/// The text of a model's API error is not shown to servers; an error made for the server is.
#[tokio::test]
async fn a_server_is_told_what_it_can_do_something_about() {
    for (is_for_the_server, wanted) in [(true, "slow down"), (false, "failed to answer")] {
        let model = move |_: SamplingRequest| async move {
            let error = ErrorObject::new(429, "slow down");
            let error: SamplingError = if is_for_the_server {
                error.into()
            } else {
                "slow down, account 7".into()
            };
            Err::<CreateMessageResult, _>(error)
        };
        let host = trusting()
            .model(model)
            .server("only", server(&[]))
            .open()
            .await;
        within("start", host.ready()).await;
        let output = within("a call", host.call("sample", ())).await.unwrap();
        let told: serde_json::Value = serde_json::from_str(&output.text()).unwrap();
        assert_eq!(told["code"] == 429, is_for_the_server, "{told}");
        let message = told["message"].as_str().unwrap();
        assert!(message.contains(wanted) && !message.contains('7'), "{told}");
        host.close().await;
    }
}

#[tokio::test]
async fn without_a_person_and_a_model_nothing_is_offered() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let spec = server(&["--record", record.to_str().unwrap()]);
    let host = trusting().server("only", spec).open().await;
    within("start", host.ready()).await;
    let heard = std::fs::read_to_string(&record).unwrap();
    let initialize = heard.lines().find(|line| line.contains("\"initialize\""));
    let initialize = initialize.unwrap();
    assert!(!initialize.contains("elicitation"), "{initialize}");
    assert!(!initialize.contains("sampling"), "{initialize}");
    host.close().await;
}

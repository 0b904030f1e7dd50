//! Consent, by table: the policy, the grants, the answer of the user, and the outcome.

use std::sync::{Arc, Mutex};

use serde_json::json;
use turnbuckle_host::{
    ActionKind, Audit, ConsentAnswer, Denied, FailureKind, Host, HostBuilder, HostError, Rules,
    Scope, ServerState, client::CallError, protocol::Root,
};

use crate::{
    person::{Person, shared},
    program::{quick, server, trusting, within},
};

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    ByPolicy,
    ByUser,
    NoUserInterface,
}

fn outcome(result: Result<String, HostError>) -> Outcome {
    match result {
        Ok(_) => Outcome::Done,
        Err(HostError::Denied { source, .. }) => match source {
            Denied::ByPolicy(_) => Outcome::ByPolicy,
            Denied::ByUser => Outcome::ByUser,
            Denied::NoUserInterface => Outcome::NoUserInterface,
            other => panic!("{other}"),
        },
        Err(error) => panic!("{error}"),
    }
}

fn starting() -> Rules {
    Rules::new().allow(ActionKind::Start, "*", "*")
}

fn with(rules: Rules, person: Option<Arc<Person>>) -> HostBuilder {
    let host = Host::builder("host-tests", "1")
        .policy(rules)
        .pacing(quick())
        .server("only", server(&[]));
    match person {
        Some(person) => host.user(person),
        None => host,
    }
}

async fn echo(host: &Host) -> Outcome {
    let called = within("a call", host.call("echo", json!({"text": "hi"}))).await;
    outcome(called.map(|output| output.text()))
}

// rule: HC1
#[tokio::test]
async fn each_decision_has_its_outcome() {
    use ConsentAnswer::{Allow, Deny};
    let allow = || starting().allow(ActionKind::Call, "only", "echo");
    // The policy, the answer of the user, the outcomes of two calls, and how often the user is asked.
    for (number, (rules, person, wanted, asked)) in [
        (allow(), None, [Outcome::Done; 2], 0),
        (allow(), Some(Deny), [Outcome::Done; 2], 0),
        // `echo` has `readOnlyHint`. This is a hint of the server and does not replace consent.
        (starting(), None, [Outcome::NoUserInterface; 2], 0),
        (starting(), Some(Deny), [Outcome::ByUser; 2], 2),
        (starting(), Some(Allow(Scope::Once)), [Outcome::Done; 2], 2),
        (
            starting(),
            Some(Allow(Scope::Always)),
            [Outcome::Done; 2],
            1,
        ),
        // There is no conversation to allow it for.
        (
            starting(),
            Some(Allow(Scope::Conversation)),
            [Outcome::Done; 2],
            2,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let person = person.map(|answer| shared(Person::who(answer)));
        let host = with(rules, person.clone()).open().await;
        within("start", host.ready()).await;
        let outcomes = [echo(&host).await, echo(&host).await];
        assert_eq!(outcomes, wanted, "case {number}");
        let heard = person.map_or(0, |person| person.asked().len());
        assert_eq!(heard, asked, "case {number}");
        host.close().await;
    }
}

#[tokio::test]
async fn a_policy_may_look_at_the_arguments() {
    let policy = |request: &turnbuckle_host::Request<'_>| match request.action {
        turnbuckle_host::Action::Call {
            arguments: Some(arguments),
            ..
        } if arguments.get().contains("rm -rf") => {
            turnbuckle_host::Decision::Deny("that would delete everything".to_owned())
        }
        _ => turnbuckle_host::Decision::Allow,
    };
    let host = trusting()
        .policy(policy)
        .server("only", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    assert_eq!(echo(&host).await, Outcome::Done);
    let called = within("a call", host.call("echo", json!({"text": "rm -rf /"}))).await;
    assert_eq!(
        outcome(called.map(|output| output.text())),
        Outcome::ByPolicy
    );
    host.close().await;
}

#[tokio::test]
async fn a_policy_sees_pairs_and_a_plain_value_by_name() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let policy = {
        let seen = Arc::clone(&seen);
        move |request: &turnbuckle_host::Request<'_>| {
            if let turnbuckle_host::Action::Call {
                arguments: Some(arguments),
                ..
            } = request.action
            {
                seen.lock().unwrap().push(arguments.get().to_owned());
            }
            turnbuckle_host::Decision::Allow
        }
    };
    let host = trusting()
        .policy(policy)
        .server("only", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    for call in [host.call("echo", [("text", "a")]), host.call("echo", "a")] {
        let output = within("a call", call).await.unwrap().ok().unwrap();
        assert_eq!(output.text(), "a");
    }
    let refused = within("a call", host.call("echo", ["a"])).await;
    assert!(
        matches!(refused, Err(HostError::Call(CallError::Unwritable { .. }))),
        "{refused:?}"
    );
    assert_eq!(*seen.lock().unwrap(), [r#"{"text":"a"}"#; 2]);
    host.close().await;
}

// rule: T10
#[tokio::test]
async fn the_person_sees_what_is_called_and_can_change_the_arguments() {
    let edited = json!({"text": "changed"});
    let answer = ConsentAnswer::AllowEdited(edited.as_object().unwrap().clone());
    let person = shared(Person::who(answer));
    let host = with(starting(), Some(person.clone())).open().await;
    within("start", host.ready()).await;
    let output = within("a call", host.call("echo", json!({"text": "hi"}))).await;
    assert_eq!(output.unwrap().text(), "changed");
    let asked = &person.asked()[0];
    let question = asked.question.as_ref().unwrap();
    assert_eq!(
        (question.kind, &*question.subject),
        (ActionKind::Call, "echo")
    );
    assert_eq!(
        question.arguments.as_ref().unwrap().get(),
        r#"{"text":"hi"}"#
    );
    assert_eq!(question.description.as_deref(), Some("The tool echo."));
    host.close().await;
}

/// A user cannot bypass the policy by editing arguments.
#[tokio::test]
async fn a_policy_decides_about_edited_arguments_too() {
    let policy = |request: &turnbuckle_host::Request<'_>| match request.action {
        turnbuckle_host::Action::Call {
            arguments: Some(arguments),
            ..
        } if arguments.get().contains("rm -rf") => {
            turnbuckle_host::Decision::Deny("that would delete everything".to_owned())
        }
        turnbuckle_host::Action::Call { .. } => turnbuckle_host::Decision::Ask,
        _ => turnbuckle_host::Decision::Allow,
    };
    let edited = json!({"text": "rm -rf /"});
    let answer = ConsentAnswer::AllowEdited(edited.as_object().unwrap().clone());
    let host = trusting()
        .policy(policy)
        .user(shared(Person::who(answer)))
        .server("only", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    assert_eq!(echo(&host).await, Outcome::ByPolicy);
    host.close().await;
}

/// If a trusted server changes the description of its tool, the user is asked again.
#[tokio::test]
async fn a_tool_that_is_described_anew_is_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grants.toml");
    for scope in [Scope::Always, Scope::Conversation] {
        let person = shared(Person::who(ConsentAnswer::Allow(scope)));
        let rules = starting().allow(ActionKind::Call, "only", "turn");
        let host = with(rules, Some(person.clone()))
            .grants(&file)
            .unwrap()
            .open()
            .await;
        within("start", host.ready()).await;
        let conversation = host.conversation();
        let echo = async || {
            let called = conversation.call("echo", json!({"text": "hi"}));
            within("a call", called).await.unwrap();
        };
        echo().await;
        echo().await;
        assert_eq!(person.heard(), ["call echo"]);
        let before = host.catalog();
        within("a call", host.call("turn", ())).await.unwrap();
        within("the new list", host.catalog_after(&before)).await;
        echo().await;
        let asked = person.asked();
        assert_eq!(asked.len(), 2, "{asked:?}");
        let changed = |index: usize| asked[index].question.as_ref().unwrap().has_changed;
        assert!(!changed(0) && changed(1));
        echo().await;
        assert_eq!(person.asked().len(), 2);
        drop(conversation);
        host.close().await;
        std::fs::remove_file(&file).ok();
    }
}

#[tokio::test]
async fn a_server_that_may_not_start_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("pid");
    let denying = shared(Person::who(ConsentAnswer::Deny));
    for person in [None, Some(denying.clone())] {
        let builder = Host::builder("host-tests", "1");
        let builder = match person {
            Some(person) => builder.user(person),
            None => builder,
        };
        let spec = server(&["--pid", record.to_str().unwrap()]);
        let host = builder.server("only", spec).open().await;
        within("the refusal", host.ready()).await;
        let state = host.state("only").unwrap();
        let ServerState::Failed { failure, .. } = state else {
            panic!("{state:?}")
        };
        assert_eq!(failure.kind, FailureKind::NotAllowed);
        assert!(!record.exists());
        host.close().await;
    }
    let asked = denying.asked();
    assert_eq!(asked.len(), 1);
    let launch = asked[0].question.as_ref().unwrap().launch.clone().unwrap();
    assert!(launch.contains("server.py"), "{launch}");
}

#[tokio::test]
async fn a_grant_is_kept_in_a_file_and_can_be_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings/grants.toml");
    let person = shared(Person::who(ConsentAnswer::Allow(Scope::Always)));
    let host = with(starting(), Some(person))
        .grants(&file)
        .unwrap()
        .open()
        .await;
    within("start", host.ready()).await;
    assert_eq!(echo(&host).await, Outcome::Done);
    host.close().await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("server = \"only\"\nallow = \"call\"\nsubject = \"echo\""),
        "{text}"
    );

    // Another program opens the grants, without a user interface.
    let host = with(starting(), None).grants(&file).unwrap().open().await;
    within("start", host.ready()).await;
    assert_eq!(echo(&host).await, Outcome::Done);
    assert_eq!(host.grants().len(), 1);
    assert_eq!(host.revoke(|grant| grant.subject == "echo").unwrap(), 1);
    assert_eq!(echo(&host).await, Outcome::NoUserInterface);
    host.close().await;

    // Another program under the same server name does not get the grants of the first.
    std::fs::write(&file, &text).unwrap();
    let host = Host::builder("host-tests", "1")
        .policy(starting())
        .server("only", server(&["--name", "impostor"]))
        .grants(&file)
        .unwrap()
        .open()
        .await;
    within("start", host.ready()).await;
    assert_eq!(echo(&host).await, Outcome::NoUserInterface);
    host.close().await;
}

// rule: T10
#[tokio::test]
async fn the_audit_log_has_calls_decisions_and_answers_and_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let person = shared(Person::who(ConsentAnswer::Allow(Scope::Once)));
    let host = with(starting(), Some(person))
        .audit(Audit::file(&file).unwrap())
        .open()
        .await;
    within("start", host.ready()).await;
    let secret = json!({"text": "hunter2"});
    within("a call", host.call("echo", secret)).await.unwrap();
    within("a call", host.call("fill", ())).await.unwrap();
    let uri = "test://ada:hunter2@test-server/notes?key=hunter2";
    within("a reading", host.read_from("only", uri))
        .await
        .unwrap();
    let root = Root::new("file://ada:hunter2@elsewhere/folder");
    within("a root", host.share_root("only", root))
        .await
        .unwrap();
    host.close().await;
    let log = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!log.contains("hunter2") && !log.contains("Vienna"), "{log}");
    let has = |event: &str, action: &str, outcome: &str| {
        lines.iter().any(|line| {
            line["server"] == "only"
                && line["event"] == event
                && line["action"] == action
                && line["outcome"] == outcome
        })
    };
    assert!(has("decision", "start", "allowed"), "{log}");
    assert!(has("decision", "call", "allowed"), "{log}");
    assert!(has("call", "call", "done"), "{log}");
    assert!(has("answer", "form", "accepted"), "{log}");
    assert!(has("state", "start", "ready"), "{log}");
    let mut of_start = lines.iter().filter(|line| line["action"] == "start");
    assert_eq!(of_start.next().unwrap()["event"], "decision", "{log}");
    assert_eq!(of_start.next().unwrap()["outcome"], "starting", "{log}");
    let call = lines.iter().find(|line| line["event"] == "call").unwrap();
    assert_eq!(call["names"], json!(["text"]));
    let answer = lines.iter().find(|line| line["event"] == "answer").unwrap();
    assert_eq!(answer["names"], json!(["city"]));
    let subject =
        |action: &str| &lines.iter().find(|line| line["action"] == action).unwrap()["subject"];
    assert_eq!(subject("read"), "test://test-server/notes");
    assert_eq!(subject("root"), "file://elsewhere/folder");
}

#[tokio::test]
async fn a_call_that_is_given_up_is_written_down() {
    let records: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let sink = records.clone();
    let host = trusting()
        .audit(Audit::from_fn(move |record| {
            if record.event == "call" {
                sink.lock().unwrap().push(record.outcome);
            }
        }))
        .server("only", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    {
        let mut call = Box::pin(IntoFuture::into_future(host.call("hang", ())));
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(call.as_mut().poll(context).is_pending())
        });
        assert!(polled.await);
    }
    assert_eq!(*records.lock().unwrap(), ["cancelled"]);
    host.close().await;
}

// rule: J10
#[tokio::test]
async fn nobody_is_asked_about_a_call_with_an_invalid_key_of_meta() {
    let person = shared(Person::who(ConsentAnswer::Allow(Scope::Once)));
    let host = with(starting(), Some(person.clone())).open().await;
    within("start", host.ready()).await;
    let call = host.call("echo", json!({"text": "hi"})).meta("my key", 1);
    let error = within("a call", call).await.expect_err("an invalid key");
    let reason = turnbuckle_base::error_chain::in_one_line(&error);
    assert!(reason.contains("not a valid key of `_meta`"), "{reason}");
    assert_eq!(person.heard(), Vec::<String>::new());
}

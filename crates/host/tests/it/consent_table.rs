//! Consent for every kind of action, by table: the policy, the answer of the user, and the outcome.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::json;
use turnbuckle_host::{
    ActionKind, Audit, AuditRecord, ConsentAnswer, Conversation, Decision, FormAnswer, Host,
    Request, Review, SamplingError, SamplingRequest, Scope, VisitAnswer,
    protocol::{CreateMessageResult, Root},
};

use crate::{
    person::{Person, shared},
    program::{quick, server, within},
};

/// The audit record of an action: the outcome, and who decided.
type Written = Option<(&'static str, &'static str)>;

struct Case {
    policy: Decision,
    user: Option<Person>,
    /// The expected record of an action.
    wanted: Written,
    /// The expected record of a form or a visit, which the user answers. Without a user, the host
    /// does not offer them to servers.
    shown: Written,
}

fn willing() -> Person {
    let mut person = Person::who(ConsentAnswer::Allow(Scope::Once));
    person.prompt = Review::Accept(Scope::Once);
    person.answer = Review::Accept(Scope::Once);
    person
}

fn unwilling() -> Person {
    let mut person = Person::who(ConsentAnswer::Deny);
    person.form = FormAnswer::Decline;
    person.visit = VisitAnswer::Decline;
    person
}

fn cases() -> [Case; 5] {
    let denied = || Decision::Deny("the policy says no".to_owned());
    [
        Case {
            policy: Decision::Allow,
            user: None,
            wanted: Some(("allowed", "policy")),
            shown: None,
        },
        Case {
            policy: denied(),
            user: Some(willing()),
            wanted: Some(("denied", "policy")),
            shown: Some(("denied", "policy")),
        },
        Case {
            policy: Decision::Ask,
            user: None,
            wanted: Some(("denied", "none")),
            shown: None,
        },
        Case {
            policy: Decision::Ask,
            user: Some(unwilling()),
            wanted: Some(("denied", "user")),
            shown: Some(("declined", "user")),
        },
        Case {
            policy: Decision::Ask,
            user: Some(willing()),
            wanted: Some(("allowed", "user")),
            shown: Some(("accepted", "user")),
        },
    ]
}

async fn model(_: SamplingRequest) -> Result<CreateMessageResult, SamplingError> {
    Ok(CreateMessageResult::new("test-model", "said"))
}

/// Performs an action of this kind, which needs consent. A denial is an error here and is recorded
/// in the audit log.
async fn act(host: &Host, conversation: &Conversation, kind: ActionKind) {
    let call = async |tool, arguments| drop(conversation.call(tool, arguments).await);
    match kind {
        ActionKind::Start => {}
        ActionKind::Call => call("one__echo", json!({"text": "x"})).await,
        ActionKind::Read => drop(conversation.attach("test://one/notes").await),
        ActionKind::GetPrompt => {
            let arguments = BTreeMap::new();
            drop(conversation.get_prompt("one__review", &arguments).await);
        }
        ActionKind::ShowForm => call("one__fill", json!({})).await,
        ActionKind::ShowUrl => call("one__fill", json!({"url": "https://example.com/"})).await,
        ActionKind::SendPrompt | ActionKind::ReturnAnswer => call("one__sample", json!({})).await,
        ActionKind::ShareRoot => drop(host.share_root("one", Root::new("file:///tmp")).await),
        ActionKind::ShareContext => {
            conversation.attach("test://two/notes").await.unwrap();
            call("one__sample", json!({"context": "allServers"})).await;
        }
        other => panic!("a new kind: {other}"),
    }
}

// rule: HC1, HC2
#[tokio::test]
async fn every_kind_of_action_needs_consent() {
    for (number, case) in cases().into_iter().enumerate() {
        let records: Arc<Mutex<Vec<AuditRecord>>> = Arc::default();
        // The case decides about one kind after the other; all other kinds are allowed.
        let tried = Arc::new(Mutex::new(ActionKind::Start));
        let (audit, decided) = (records.clone(), tried.clone());
        let policy = case.policy;
        let mut builder = Host::builder("host-tests", "1")
            .policy(move |request: &Request<'_>| {
                if request.action.kind() == *decided.lock().unwrap() {
                    policy.clone()
                } else {
                    Decision::Allow
                }
            })
            .audit(Audit::from_fn(move |record| {
                audit.lock().unwrap().push(record.clone());
            }))
            .model(model)
            .pacing(quick())
            .server("one", server(&["--name", "one"]))
            .server("two", server(&["--name", "two"]));
        if let Some(person) = case.user {
            builder = builder.user(shared(person));
        }
        let host = builder.open().await;
        within("the decision about the start", host.ready()).await;
        for kind in ActionKind::ALL {
            if kind != ActionKind::Start {
                records.lock().unwrap().clear();
                *tried.lock().unwrap() = kind;
                let conversation = host.conversation();
                within(kind.as_str(), act(&host, &conversation, kind)).await;
            }
            let written = records.lock().unwrap().iter().find_map(|record| {
                let is_it = record.server == "one"
                    && record.action == kind.as_str()
                    && matches!(record.event, "decision" | "answer");
                is_it.then_some((record.outcome, record.by?))
            });
            let wanted = match kind {
                ActionKind::ShowForm | ActionKind::ShowUrl => case.shown,
                _ => case.wanted,
            };
            assert_eq!(written, wanted, "case {number}, {kind}");
            if kind == ActionKind::Start {
                // The other kinds need running servers and a catalog.
                *tried.lock().unwrap() = ActionKind::Read;
                for server in ["one", "two"] {
                    within("the start", host.start(server)).await.unwrap();
                }
                assert!(host.catalog().tool("one__echo").is_some());
            }
        }
        host.close().await;
    }
}

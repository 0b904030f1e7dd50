//! Policies: what callers see, what they may call, and what the user is asked first.

use std::sync::{Arc, Mutex};

use serde_json::json;
use turnbuckle_client::{CallError, Client, Connection, Era};
use turnbuckle_gateway::{
    Gateway, LiveGateway, UpstreamSettings,
    operation::{Operation, Policy, PolicyRule},
};
use turnbuckle_protocol::{ElicitResult, Revision, error::code};

use crate::{
    site::{Door, join, join_as, listen, remote},
    upstream,
};

/// A gateway with one server of an era, whose operation has this policy.
async fn gateway(rule: PolicyRule, era: Era) -> LiveGateway {
    let operation = Operation::new().policy(Policy::new().rule(rule));
    let url = listen(upstream::server().build().expect("a server")).await;
    let settings = UpstreamSettings::new().era(era);
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(operation))
        .server_with("one", remote(&url), settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

type Questions = Arc<Mutex<Vec<String>>>;

/// A client whose user answers our question with this, and accepts every other form.
fn asked(revision: Revision, allow: Option<bool>) -> (Client, Questions) {
    let heard = Questions::default();
    let questions = Arc::clone(&heard);
    let client = Client::new("front", "1")
        .only(revision)
        .on_form(move |ask| {
            let message = ask.message.clone();
            questions.lock().expect("no panic").push(message.clone());
            async move {
                Ok(match allow {
                    _ if !message.starts_with("Allow ") => ElicitResult::accept::<&str, &str>([]),
                    Some(allow) => ElicitResult::accept([("allow", allow)]),
                    None => ElicitResult::decline(),
                })
            }
        });
    (client, heard)
}

const ASKABLE: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

fn rejected(error: &CallError) -> i64 {
    error.rejection().map_or(0, |error| error.code)
}

async fn names(client: &Connection) -> Vec<String> {
    let tools = client.tools().await.expect("a list");
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn the_user_is_asked_before_a_call_and_once_for_it() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(PolicyRule::for_all().ask(["echo", "twice"]), era).await;
        for revision in ASKABLE {
            let (client, heard) = asked(revision, Some(true));
            let client = join(&client, &gateway, Door::Http).await;
            let echoed = client.call("echo", json!({ "a": 1 })).await;
            let echoed = echoed.unwrap_or_else(|error| panic!("{era:?} {revision}: {error}"));
            assert_eq!(echoed.text(), r#"{"a":1}"#, "{era:?} {revision}");
            let questions = std::mem::take(&mut *heard.lock().expect("no panic"));
            assert_eq!(questions.len(), 1, "{era:?} {revision}: {questions:?}");
            let question = &questions[0];
            assert!(
                question.contains("tool `echo` of server `one`") && question.contains("\"a\": 1"),
                "{question}"
            );
            // The server asks too, twice, and the user is asked by us before that, once.
            let twice = client.call("twice", json!({})).await;
            let twice = twice.unwrap_or_else(|error| panic!("{era:?} {revision}: {error}"));
            assert_eq!(twice.text(), "accepted and accepted", "{era:?} {revision}");
            let questions = std::mem::take(&mut *heard.lock().expect("no panic"));
            assert_eq!(questions.len(), 3, "{era:?} {revision}: {questions:?}");
            assert!(
                questions[0].starts_with("Allow tool `twice`"),
                "{questions:?}"
            );
            // What no rule asks about is not asked about.
            client.call("steps", json!({})).await.expect("a result");
            assert!(heard.lock().expect("no panic").is_empty());
            assert!(names(&client).await.contains(&"echo".to_owned()));
        }
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_user_who_says_no_and_a_client_that_cannot_ask_are_refused() {
    let gateway = gateway(PolicyRule::for_all().ask(["echo"]), Era::Modern).await;
    for revision in ASKABLE {
        for answer in [Some(false), None] {
            let (client, heard) = asked(revision, answer);
            let client = join(&client, &gateway, Door::Http).await;
            let error = client.call("echo", json!({})).await.expect_err("refused");
            assert_eq!(rejected(&error), code::FORBIDDEN, "{revision}: {error}");
            assert_eq!(heard.lock().expect("no panic").len(), 1);
        }
    }
    for revision in Revision::NEWEST_FIRST.iter().copied() {
        let client = Client::new("plain", "1").only(revision);
        let client = join(&client, &gateway, Door::Http).await;
        let error = client.call("echo", json!({})).await.expect_err("refused");
        let expected = if revision.is_modern() {
            code::MISSING_REQUIRED_CLIENT_CAPABILITY
        } else {
            code::FORBIDDEN
        };
        assert_eq!(rejected(&error), expected, "{revision}: {error}");
        assert!(error.to_string().contains("consent"), "{error}");
    }
    gateway.close().await;
}

/// A state is for the caller and the arguments that the user was asked about.
#[tokio::test]
async fn consent_is_for_one_caller_and_one_call() {
    use turnbuckle_client::{RelayEvent, RelayRequest};
    use turnbuckle_protocol::envelope::{Raw, RawText};

    async fn send(client: &Connection, params: &serde_json::Value) -> serde_json::Value {
        let text = params.to_string();
        let raw: &serde_json::value::RawValue = serde_json::from_str(&text).expect("JSON");
        let params = RawText::from(Raw::from(raw));
        let call = client.relay(RelayRequest::new("tools/call", Some(params)));
        let mut call = call.expect("it is sent");
        loop {
            let raw = match call.next().await {
                RelayEvent::Result(raw) | RelayEvent::Error(raw) => raw,
                RelayEvent::Lost(error) => panic!("{error}"),
                _ => continue,
            };
            return serde_json::from_str(raw.get()).expect("JSON");
        }
    }

    let gateway = gateway(PolicyRule::for_all().ask(["echo"]), Era::Modern).await;
    let (client, _) = asked(Revision::V2026_07_28, Some(true));
    let ada = join_as(&client, &gateway, "ada").await;
    let eve = join_as(&client, &gateway, "eve").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "front", "version": "1" },
    });
    let first = json!({ "name": "echo", "arguments": { "a": 1 }, "_meta": meta });
    let asked = send(&ada, &first).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut retry = first.clone();
    retry["requestState"] = asked["requestState"].clone();
    retry["inputResponses"] = json!({
        "turnbuckle.confirm": { "action": "accept", "content": { "allow": true } }
    });
    let mut altered = retry.clone();
    altered["arguments"] = json!({ "a": 2 });
    let answer = send(&ada, &altered).await;
    assert_ne!(answer["resultType"], "complete", "{answer}");
    let answer = send(&eve, &retry).await;
    assert_ne!(answer["resultType"], "complete", "{answer}");
    let answer = send(&ada, &retry).await;
    assert_eq!(answer["content"][0]["text"], r#"{"a":1}"#, "{answer}");
    gateway.close().await;
}

#[cfg(feature = "cel")]
#[tokio::test]
async fn expressions_decide_about_lists_and_calls() {
    let rule = PolicyRule::for_all()
        .deny_if(r#"caller.id == "guest" && !annotations.readOnlyHint"#)
        .and_then(|rule| rule.deny_if(r#"tool == "echo" && has(arguments.secret)"#))
        .and_then(|rule| rule.ask_if(r#"tool == "echo" && has(arguments.careful)"#))
        .expect("sound expressions");
    let gateway = gateway(rule, Era::Modern).await;
    for revision in ASKABLE {
        let (client, heard) = asked(revision, Some(true));
        let guest = join_as(&client, &gateway, "guest").await;
        assert_eq!(names(&guest).await, ["echo"], "{revision}");
        assert!(guest.call("steps", json!({})).await.is_err());
        let ada = join_as(&client, &gateway, "ada").await;
        assert!(names(&ada).await.len() > 5);
        assert!(ada.call("steps", json!({})).await.is_ok());
        assert!(ada.call("echo", json!({ "open": 1 })).await.is_ok());
        let error = ada.call("echo", json!({ "secret": 1 })).await;
        let error = error.expect_err("denied");
        assert!(error.to_string().contains("unknown tool"), "{error}");
        assert!(heard.lock().expect("no panic").is_empty());
        assert!(ada.call("echo", json!({ "careful": 1 })).await.is_ok());
        assert_eq!(heard.lock().expect("no panic").len(), 1);
    }
    gateway.close().await;
}

#[cfg(feature = "cel")]
#[tokio::test]
async fn a_rule_knows_the_server_of_a_call_that_waits_for_its_start() {
    use turnbuckle_gateway::Naming;

    use crate::{child, site};

    for naming in [Naming::Prefixed, Naming::Auto] {
        let rule = PolicyRule::for_all().deny_if("server == 'one' && tool == 'touch'");
        let policy = Policy::new().rule(rule.expect("a condition"));
        let gateway = Gateway::new("gateway", "1")
            .naming(naming)
            .operation(Arc::new(Operation::new().policy(policy)))
            .server("one", child::spec())
            .open()
            .expect("a gateway");
        let plain = site::client(turnbuckle_client::Era::Modern);
        let ada = site::join_as(&plain, &gateway, "ada").await;
        let tool = match naming {
            Naming::Prefixed => "one__touch",
            _ => "touch",
        };
        // The server is starting.
        let denied = ada.call(tool, serde_json::json!({})).await;
        assert!(denied.is_err(), "{naming:?}: {denied:?}");
        gateway.close().await;
    }
}

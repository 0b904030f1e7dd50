//! What a recorder records: both hops of a request, waiting questions, callers, and denials.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnbuckle_client::{Client, Era};
use turnbuckle_gateway::{
    Gateway, LiveGateway, UpstreamSettings,
    observe::{Period, Recorder},
    operation::{Operation, Policy, PolicyRule},
};
use turnbuckle_protocol::{ElicitResult, Revision};

use crate::site::{self, Door, join, join_as};
use crate::{child, upstream};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

async fn gateway(recorder: &Arc<Recorder>, era: Era) -> LiveGateway {
    let url = site::listen(upstream::server().build().expect("a server")).await;
    let gateway = Gateway::new("gateway", "1.0.0")
        .observe(Arc::clone(recorder))
        .server_with("one", site::remote(&url), UpstreamSettings::new().era(era))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

fn overview(gateway: &LiveGateway) -> Value {
    let overview = gateway.overview(Period::Quarter);
    serde_json::to_value(overview.expect("it is recorded")).expect("JSON")
}

#[tokio::test]
async fn both_hops_of_a_call_are_recorded_in_every_cell() {
    for (from, to) in ERAS.into_iter().flat_map(|from| ERAS.map(|to| (from, to))) {
        let recorder = Recorder::new();
        let gateway = gateway(&recorder, to).await;
        let client = join(&site::client(from), &gateway, Door::Lines).await;
        let echoed = client.call("echo", json!({ "digits": 1 })).await;
        echoed.expect("an echo");
        let missing = client.call("nothing", json!({})).await;
        missing.expect_err("there is no such tool");
        let calls = recorder.exchanges(0, 100);
        let calls: Vec<_> = calls
            .into_iter()
            .filter(|one| one.method == "tools/call")
            .collect();
        let [echo, failed] = &*calls else {
            panic!("{calls:?}")
        };
        assert_eq!((echo.outcome, failed.outcome), ("ok", "error"));
        assert_eq!(echo.name.as_deref(), Some("echo"));
        assert_eq!(echo.client.as_deref(), Some("front 1.0.0"));
        assert_eq!(echo.server.as_deref(), Some("one"));
        assert_eq!(echo.from.is_modern(), from == Era::Modern);
        assert_eq!(
            echo.to.map(Revision::is_modern),
            Some(to == Era::Modern),
            "{from:?} {to:?}"
        );
        let whole = recorder.exchange(echo.number).expect("it is kept");
        let whole = serde_json::to_value(whole).expect("JSON");
        let messages = whole["messages"].as_array().expect("messages");
        let parts: Vec<_> = messages
            .iter()
            .map(|one| format!("{} {}", one["hop"], one["part"]).replace('"', ""))
            .collect();
        assert_eq!(
            parts,
            [
                "client request",
                "server request",
                "server result",
                "client result"
            ],
            "{from:?} {to:?}"
        );
        let sent = messages[1]["text"].as_str().expect("a text");
        assert!(sent.contains(r#""digits":1"#), "{sent}");
        let has_version = sent.contains("io.modelcontextprotocol/protocolVersion");
        assert_eq!(has_version, to == Era::Modern, "{sent}");
        let seen = overview(&gateway);
        assert_eq!(seen["cells"].as_array().map(Vec::len), Some(1), "{seen}");
        assert_eq!(seen["cells"][0]["calls"], 2);
        let server = &seen["servers"][0];
        assert_eq!(
            (&server["state"], &server["errors"]),
            (&json!("ready"), &json!(1))
        );
        assert_eq!(seen["callers"][0]["client"], "front 1.0.0");
        gateway.close().await;
    }
}

#[tokio::test]
async fn questions_are_shown_while_they_wait() {
    for (from, to) in ERAS.into_iter().flat_map(|from| ERAS.map(|to| (from, to))) {
        if (from, to) == (Era::Modern, Era::Modern) {
            // Neither the server nor the gateway keeps state.
            continue;
        }
        let recorder = Recorder::new();
        let gateway = gateway(&recorder, to).await;
        let (asked, answered) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, waits) = (Arc::clone(&asked), Arc::clone(&answered));
        let client = Client::new("front", "1.0.0")
            .only_era(from)
            .on_form(move |_| {
                let (told, waits) = (Arc::clone(&told), Arc::clone(&waits));
                async move {
                    told.notify_one();
                    waits.notified().await;
                    Ok(ElicitResult::accept::<&str, &str>([]))
                }
            });
        let client = join_as(&client, &gateway, "ada").await;
        let calling = tokio::spawn(async move { client.call("form", json!({})).await });
        asked.notified().await;
        let seen = overview(&gateway);
        let [waiting] = &**seen["waiting"].as_array().expect("questions") else {
            panic!("{from:?} {to:?}: {seen}")
        };
        assert_eq!(waiting["message"], "Are you sure?");
        assert_eq!(
            (&waiting["name"], &waiting["caller"]),
            (&json!("form"), &json!("ada"))
        );
        assert_eq!(
            (&waiting["server"], &waiting["step"]),
            (&json!("one"), &json!(1))
        );
        let number = waiting["exchange"].as_u64().expect("its request");
        assert_eq!(recorder.exchange(number).expect("kept").summary.asked, 1);
        answered.notify_one();
        let done = calling.await.expect("no panic").expect("a result");
        assert_eq!(done.text(), "accepted", "{from:?} {to:?}");
        let seen = overview(&gateway);
        assert_eq!(seen["waiting"], json!([]), "{from:?} {to:?}");
        assert_eq!(seen["callers"][0]["asked"], 1);
        if from == Era::Modern {
            // The retry is recognised as a continuation of the same call.
            let last = recorder.exchanges(0, 1).pop().expect("the retry");
            assert_eq!(last.continues, Some(number));
        }
        gateway.close().await;
    }
}

#[tokio::test]
async fn what_is_denied_is_counted_with_its_rule() {
    let recorder = Recorder::new();
    let policy = Policy::new().rule(PolicyRule::for_all().deny(["ec*"]));
    let operation = Operation::new()
        .policy(policy)
        .recorder(Arc::clone(&recorder));
    let operation = Arc::new(operation);
    let gateway = Gateway::new("gateway", "1.0.0")
        .observe(Arc::clone(&recorder))
        .operation(operation)
        .server("one", child::spec())
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let client = join_as(&site::client(Era::Modern), &gateway, "ada").await;
    for _ in 0..3 {
        let denied = client.call("echo", json!({})).await;
        denied.expect_err("it is denied");
    }
    let seen = overview(&gateway);
    let [denial] = &**seen["denials"].as_array().expect("denials") else {
        panic!("{seen}")
    };
    assert_eq!(
        (&denial["name"], &denial["caller"]),
        (&json!("echo"), &json!("ada"))
    );
    assert_eq!(denial["count"], 3);
    assert!(
        denial["reason"]
            .as_str()
            .is_some_and(|it| it.contains("ec*")),
        "{denial}"
    );
    assert_eq!(seen["series"]["denied"], 3);
    let long = format!("ec{}", "h".repeat(100_000));
    let denied = client.call(&long, json!({})).await;
    denied.expect_err("it is denied");
    let seen = overview(&gateway);
    let kept = seen["denials"][0]["name"].as_str().expect("a name");
    assert!(
        long.starts_with(kept) && kept.len() == 1_000,
        "{}",
        kept.len()
    );
    // A program has a process, and can be restarted.
    assert_eq!(seen["servers"][0]["processes"], 1);
    assert!(gateway.restart("one"));
    assert!(!gateway.restart("none"));
    gateway.settled().await;
    assert_eq!(overview(&gateway)["servers"][0]["state"], "ready");
    gateway.close().await;
}

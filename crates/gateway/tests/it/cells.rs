//! Calls, lists, reads, prompts, progress, logs, cancellation and changes, in every combination of eras.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use turnbuckle_client::{Change, Era, Listen, NotificationStream, ServerNotification};
use turnbuckle_gateway::UpstreamSettings;
use turnbuckle_protocol::{ClientCapabilities, LoggingLevel, Lower, Revision};

use crate::site::{Door, Way, cells, client, gateway_with, join};
use crate::{
    raw_site,
    upstream::{GIVEN_UP, WAITING},
};

/// How long to wait for an update, several times the 50 ms for which changes are collected.
const HEARD_WITHIN: Duration = Duration::from_millis(300);

#[tokio::test]
async fn every_cell_lists_calls_reads_and_gets() {
    for cell in cells() {
        let (client, gateway) = cell.open().await;
        let tools = client.tools().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "echo"), "{cell:?}");
        let echoed = client.call("echo", json!({ "a": [1, "x"] })).await;
        assert_eq!(
            echoed.expect("an echo").text(),
            r#"{"a":[1,"x"]}"#,
            "{cell:?}"
        );
        let read = client.read("note://one").await.expect("a note");
        assert_eq!(read.contents.len(), 1, "{cell:?}");
        let prompts = client.prompts().await.expect("prompts");
        assert_eq!(prompts.len(), 1, "{cell:?}");
        let missing = client.read("note://none").await.expect_err("no note");
        let rejection = missing.rejection().expect("an answer");
        assert!(rejection.is_resource_not_found(), "{cell:?}: {rejection}");
        let unknown = client
            .call("nothing", json!({}))
            .await
            .expect_err("no tool");
        assert_eq!(
            unknown.rejection().map(|it| it.code),
            Some(-32602),
            "{cell:?}"
        );
        assert_eq!(
            client.server().instructions(),
            Some("Be careful."),
            "{cell:?}"
        );
        gateway.close().await;
    }
}

#[tokio::test]
async fn every_cell_tells_of_progress_and_logs() {
    for cell in cells() {
        let (client, gateway) = cell.open().await;
        let mut logs = client.logs();
        let reports = Arc::new(Mutex::new(Vec::new()));
        let kept = reports.clone();
        let done = client
            .call("steps", json!({}))
            .log_level(LoggingLevel::Info)
            .progress(move |report| kept.lock().unwrap().push(report.progress))
            .await;
        assert_eq!(done.expect("steps").text(), "done", "{cell:?}");
        assert_eq!(*reports.lock().unwrap(), [1.0, 2.0], "{cell:?}");
        let logged = logs.next().await.expect("a log message");
        let logged = format!("{logged:?}");
        assert!(
            logged.contains("Warning") && !logged.contains("too mild"),
            "{cell:?}: {logged}"
        );
        gateway.close().await;
    }
}

#[tokio::test]
async fn cancelling_reaches_the_server() {
    for cell in cells() {
        if cell.way == Way::Stdio {
            // Whether the child process notices is not visible here.
            continue;
        }
        let (client, gateway) = cell.open().await;
        let caller = client.clone();
        let call = tokio::spawn(async move { caller.call("wait", json!({})).await });
        WAITING.notified().await;
        call.abort();
        GIVEN_UP.notified().await;
        gateway.close().await;
    }
}

#[tokio::test]
async fn every_cell_hears_of_changes() {
    for cell in cells() {
        let (client, gateway) = cell.open().await;
        let listen = Listen::lists().resource("note://one");
        let mut changes = client.listen(listen).await.expect("a stream");
        client.call("touch", json!({})).await.expect("touched");
        client.call("grow", json!({})).await.expect("grown");
        let (mut is_updated, mut is_changed) = (false, false);
        while !(is_updated && is_changed) {
            match changes.next().await.expect("a change").expect("a change") {
                Change::ResourceUpdated { uri, .. } => {
                    assert_eq!(&*uri, "note://one", "{cell:?}");
                    is_updated = true;
                }
                Change::ToolsChanged => is_changed = true,
                _ => {}
            }
        }
        let tools = client.tools().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "grown"), "{cell:?}");
        gateway.close().await;
    }
}

#[tokio::test]
async fn every_pair_of_revisions_calls_lists_and_asks() {
    for upstream in Revision::NEWEST_FIRST {
        let settings = UpstreamSettings::new().revision(*upstream);
        let gateway = gateway_with(Way::Stdio, settings).await;
        for front in Revision::NEWEST_FIRST {
            let client = client(Era::Legacy).only(*front);
            let client = join(&client, &gateway, Door::Lines).await;
            let pair = format!("{front} in front of {upstream}");
            assert_eq!(client.server().revision(), *front);
            assert!(client.tools().await.expect("tools").len() > 10, "{pair}");
            let echoed = client.call("echo", json!({ "a": 1.5 })).await;
            assert_eq!(echoed.expect("an echo").text(), r#"{"a":1.5}"#, "{pair}");
            let read = client.read("note://one").await.expect("a note");
            assert_eq!(read.contents.len(), 1, "{pair}");
            let sampled = client.call("sample", json!({})).await;
            assert_eq!(sampled.expect("a sample").text(), "Paris", "{pair}");
            let form = client.call("form", json!({})).await;
            let has_forms = |revision: Revision| {
                let mut forms = ClientCapabilities::new().with_form_elicitation();
                forms.lower(revision);
                forms.elicitation.is_some()
            };
            if has_forms(*front) && has_forms(*upstream) {
                assert_eq!(form.expect("a form").text(), "accepted", "{pair}");
            } else {
                // One of the two sides cannot express the question, so the tool reports that it
                // cannot ask.
                let is_refused =
                    form.map_or(true, |output| output.into_result().is_error == Some(true));
                assert!(is_refused, "{pair}");
            }
        }
        gateway.close().await;
    }
}

/// The next update of a resource, unchanged.
async fn next_update(news: &mut NotificationStream) -> Value {
    loop {
        let told = news.next().await.expect("the connection is open");
        if let ServerNotification::ResourceUpdated { params, .. } = told {
            let mut params: Value = serde_json::from_str(params.get()).expect("params");
            // Remove the id of the client's own subscription.
            if let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut) {
                meta.remove("io.modelcontextprotocol/subscriptionId");
            }
            if params["_meta"] == json!({}) {
                params.as_object_mut().expect("params").remove("_meta");
            }
            return params;
        }
    }
}

// rule: J16
#[tokio::test]
async fn an_update_goes_through_every_cell_once_and_as_it_came() {
    for cell in cells() {
        let (client, gateway) = cell.open().await;
        let mut news = client.notifications();
        let listen = Listen::new().resource("note://one");
        let _changes = client.listen(listen).await.expect("a stream");
        // A modern client may be listening before its gateway is.
        let warm = json!({ "uri": "note://one", "title": "warm" });
        loop {
            let told = client.call("retitle", warm.clone()).await;
            told.expect("it is told");
            let heard = tokio::time::timeout(HEARD_WITHIN, next_update(&mut news)).await;
            if heard.is_ok_and(|heard| heard == warm) {
                break;
            }
        }
        while tokio::time::timeout(HEARD_WITHIN, next_update(&mut news))
            .await
            .is_ok()
        {}
        for said in [
            json!({ "uri": "note://one", "title": "A", "extra": [1, { "b": null }] }),
            json!({ "uri": "note://one", "_meta": { "com.example/n": 1 }, "title": "B" }),
            json!({ "uri": "note://one" }),
        ] {
            let told = client.call("retitle", said.clone()).await;
            told.expect("it is told");
            assert_eq!(next_update(&mut news).await, said, "{cell:?}");
        }
        let more = tokio::time::timeout(HEARD_WITHIN, next_update(&mut news)).await;
        assert!(more.is_err(), "{cell:?}: {more:?}");
        gateway.close().await;
    }
}

// rule: J16
#[tokio::test]
async fn an_update_of_a_part_is_passed_on_byte_for_byte() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = raw_site::shared(Duration::from_mins(1)).await;
        let client = join(&client(era), &gateway, Door::Lines).await;
        let mut news = client.notifications();
        let listen = Listen::new().resource("a:1").resource("a:1/part");
        let _changes = client.listen(listen).await.expect("a stream");
        let mut heard = Vec::new();
        // A modern client may be listening before its gateway is.
        while heard.is_empty() {
            client.call("update", json!({})).await.expect("updated");
            let told = async {
                loop {
                    let told = news.next().await.expect("the connection is open");
                    if let ServerNotification::ResourceUpdated { params, .. } = told
                        && params.get().contains("title")
                    {
                        heard.push(params.get().to_owned());
                    }
                }
            };
            let _: Result<(), _> = tokio::time::timeout(HEARD_WITHIN, told).await;
        }
        // Two followed resources contain this part, and the client is notified once.
        let [heard] = &heard[..] else {
            panic!("{era:?}: {heard:?}")
        };
        let said = r#"{"uri":"a:1/part/2","title":"T","n":1.0e2"#;
        assert!(heard.starts_with(said), "{era:?}: {heard}");
        assert_eq!(heard.len() == said.len() + 1, era == Era::Legacy, "{heard}");
        gateway.close().await;
    }
}

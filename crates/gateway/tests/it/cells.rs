//! Calls, lists, reads, prompts, progress, logs, cancellation and changes in every cell.

use std::sync::{Arc, Mutex};

use serde_json::json;
use turnbuckle_client::{Change, Era, Listen};
use turnbuckle_gateway::UpstreamSettings;
use turnbuckle_protocol::{ClientCapabilities, LoggingLevel, Lower, Revision};

use crate::site::{Door, Way, cells, client, gateway_with, join};
use crate::upstream::{GIVEN_UP, WAITING};

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
            // What the child notices is not seen here.
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
                // No words for it on one of the two sides: the tool says that it cannot ask.
                let is_refused =
                    form.map_or(true, |output| output.into_result().is_error == Some(true));
                assert!(is_refused, "{pair}");
            }
        }
        gateway.close().await;
    }
}

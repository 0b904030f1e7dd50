//! The log contains the errors that the client may not see, under the number that the client got.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex},
};

use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};
use turnbuckle_protocol::{
    self as protocol, BlobResourceContents, ContentBlock, Meta, TextResourceContents,
};
use turnbuckle_server::{Fault, Resource, ResourcePage, Server, Tool};

use crate::wire::Wire;

/// A log that keeps errors and warnings as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0
            .lock()
            .expect("no code panics while it holds the lock")
            .push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct Full;

#[derive(Debug, thiserror::Error)]
#[error("the ticket cannot be kept")]
struct Lost(#[source] Full);

#[tokio::test]
async fn a_fault_is_logged_with_its_causes_under_the_number_that_the_peer_sees() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let live = Server::new("s", "1")
        .tool(Tool::new("fault", async || {
            Err::<(), _>(Fault::new(Lost(Full)))
        }))
        .tool(Tool::new("panic", async || -> &'static str {
            panic!("out of paper")
        }))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    for (tool, causes) in [
        (
            "fault",
            &["the ticket cannot be kept: the disk is full"][..],
        ),
        ("panic", &["out of paper"]),
    ] {
        let error = wire.error("tools/call", json!({ "name": tool })).await;
        let message = error["message"].as_str().expect("a message");
        let number = message.rsplit(' ').next().expect("the number comes last");
        let lines = std::mem::take(
            &mut *log
                .0
                .lock()
                .expect("no code panics while it holds the lock"),
        );
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&format!("fault={number} ")), "{lines:?}");
        for cause in causes {
            assert!(lines[0].contains(cause), "{lines:?}");
            assert!(!message.contains(cause), "{message}");
        }
    }
}

/// Results of handlers are checked against the grammar before they are sent; the client gets no
/// details.
// rule: RS1, RS4
#[tokio::test]
async fn content_that_breaks_the_grammar_is_a_fault() {
    let block =
        |block: ContentBlock| Tool::new("t", move || std::future::ready(vec![block.clone()]));
    let link = |uri: &str| ContentBlock::link(protocol::Resource::new(uri, "n"));
    for (content, told) in [
        (ContentBlock::image("not base64", "image/png"), "not base64"),
        (ContentBlock::audio("AAAA", "wav"), "not a media type"),
        (link("no scheme"), "not a URI"),
        (
            ContentBlock::resource(BlobResourceContents::new("a:b", "AAA")),
            "not base64",
        ),
    ] {
        let log = Log::default();
        let _guard = tracing::subscriber::set_default(log.clone());
        let live = Server::new("s", "1")
            .tool(block(content))
            .build()
            .expect("a server");
        let mut wire = Wire::open(&live);
        let error = wire.error("tools/call", json!({ "name": "t" })).await;
        assert_eq!(error["code"], -32603);
        assert!(!error.to_string().contains(told));
        let logged = log
            .0
            .lock()
            .expect("no code panics while it holds the lock")
            .join("\n");
        assert!(logged.contains(told), "{logged}");
    }
}

/// A server that returns resources should have resources: its author is told once.
// rule: T9
#[tokio::test]
async fn resources_in_results_of_a_server_without_resources_are_reported_once() {
    let tool = || {
        Tool::new("t", async || {
            let contents = TextResourceContents::new("a:b", "text");
            vec![ContentBlock::resource(contents)]
        })
    };
    let with = Server::new("s", "1").resource(Resource::new("a:b", async || "text"));
    let slow = || {
        Tool::new("slow", async || {
            tokio::task::yield_now().await;
            let contents = TextResourceContents::new("a:b", "text");
            vec![ContentBlock::resource(contents)]
        })
    };
    for (server, reports) in [(Server::new("s", "1"), 2), (with, 0)] {
        let log = Log::default();
        let _guard = tracing::subscriber::set_default(log.clone());
        let live = server.tool(tool()).tool(slow()).build();
        let mut wire = Wire::open(&live.expect("a server"));
        for name in ["t", "slow", "t", "slow"] {
            wire.result("tools/call", json!({ "name": name })).await;
        }
        let logged = log
            .0
            .lock()
            .expect("no code panics while it holds the lock")
            .clone();
        let about = logged
            .iter()
            .filter(|line| line.contains("offers no resources"))
            .collect::<Vec<_>>();
        assert_eq!(about.len(), reports, "{logged:?}");
        // Each tool is reported once, by its name.
        for (line, name) in about.iter().zip(["\"t\"", "\"slow\""]) {
            assert!(line.contains(name), "{line}");
        }
    }
}

/// The results of a list callback are checked against the grammar: the valid entries are sent.
// rule: RS1, J10
#[tokio::test]
async fn what_a_callback_lists_and_reads_is_checked() {
    let list = async || {
        let listed = |uri: &str| protocol::Resource::new(uri, "listed");
        ResourcePage::new(vec![
            listed("file://a b"),
            listed("file:///ok"),
            listed("file:///type").with_mime_type("plain text"),
            listed("file:///meta").with_meta(Meta::new().with("my key", 1).with("good", 1)),
        ])
    };
    let read = async || {
        let contents = TextResourceContents::new("no scheme", "text");
        protocol::ReadResourceResult::new(vec![contents.into()])
    };
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let files = Resource::new("file:///{name}", read).list(list);
    let live = Server::new("s", "1").resource(files).build();
    let mut wire = Wire::open(&live.expect("a server"));
    let listed = wire.result("resources/list", json!({})).await;
    let listed = &listed["resources"];
    let uris: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["uri"].as_str())
        .collect();
    let kept = ["file:///ok", "file:///type", "file:///meta"];
    assert_eq!(uris, kept.map(Some));
    assert_eq!(listed[1].get("mimeType"), None);
    assert_eq!(listed[2]["_meta"], json!({ "good": 1 }));
    wire.error("resources/read", json!({ "uri": "file:///x" }))
        .await;
    let logged = log
        .0
        .lock()
        .expect("no code panics while it holds the lock")
        .join("\n");
    for told in [
        "file://a b",
        "plain text",
        "my key",
        "`no scheme` is not a URI",
    ] {
        assert!(logged.contains(told), "{told}: {logged}");
    }
}

//! Notifications of changes, logs, cached results and answers by hand, between our client and our server, at every
//! revision.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use turnbuckle::{
    Ask, CallError, Change, Changes, Client, Form, Listen, Log, Resource, Revision, Round, Server,
    Tool, ToolError,
    client::{Answers, ChangeStream, Logged},
    protocol::{CacheScope, ElicitResult, LoggingLevel},
    tool,
};
use turnbuckle_testing::{connect_with, every_revision, record};

/// Nothing here takes a tenth of this; it only ends a test that would hang.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Says that a resource changed.
#[tool]
async fn touch(#[extract] changes: Changes, uri: String) -> &'static str {
    changes.resource(uri);
    "touched"
}

/// Says that the tools are others.
#[tool]
async fn shuffle(#[extract] changes: Changes) -> &'static str {
    changes.tools();
    "shuffled"
}

/// Writes to the log.
#[tool]
async fn grumble(#[extract] log: Log) -> &'static str {
    log.warning("it is late");
    log.debug("and dark");
    "done"
}

#[derive(Form)]
struct Seat {
    /// Which row.
    row: u8,
}

/// Books a seat.
#[tool]
async fn book(Ask(ask): Ask) -> Result<String, ToolError> {
    let seat: Seat = ask.form("seat", "Which seat?").await?.accepted()?;
    Ok(format!("row {}", seat.row))
}

fn server() -> Server {
    Server::new("library", "1.0.0")
        .no_default_log_level()
        .tool(touch)
        .tool(shuffle)
        .tool(grumble)
        .tool(book)
        .resource(Resource::new("note://1", async || "one"))
        .resource(Resource::new("note://2", async || "two"))
}

async fn change(changes: &mut ChangeStream) -> Change {
    let next = timeout(TIMEOUT, changes.next()).await;
    next.expect("in time")
        .expect("it goes on")
        .expect("a change")
}

every_revision! {
    async fn changes_are_told_to_those_who_listen(client = server()) {
        let wish = Listen::new().tools().resource("note://1");
        let mut changes = client.listen(wish).await.unwrap();
        assert!(changes.refused().is_empty(), "{:?}", changes.refused());
        // Changes that were not asked for are not reported.
        client.call("touch", json!({"uri": "note://2"})).await.unwrap();
        client.call("touch", json!({"uri": "note://1"})).await.unwrap();
        let first = change(&mut changes).await;
        assert!(matches!(&first, Change::ResourceUpdated { uri, .. } if &**uri == "note://1"), "{first:?}");
        client.call("shuffle", json!({})).await.unwrap();
        assert!(matches!(change(&mut changes).await, Change::ToolsChanged));
        // Two listeners of one connection get the same change, and one of them may leave before the other.
        let mut second = client.listen(Listen::new().resource("note://1")).await.unwrap();
        drop(changes);
        client.call("touch", json!({"uri": "note://1"})).await.unwrap();
        assert!(matches!(change(&mut second).await, Change::ResourceUpdated { .. }));
        client.close().await;
        let last = timeout(TIMEOUT, second.next()).await.unwrap();
        assert!(matches!(last, Some(Err(CallError::Closed { .. }))), "{last:?}");
    }

    async fn what_a_server_does_not_have_is_refused(client = Server::new("s", "1").tool(touch)) {
        let changes = client.listen(Listen::lists()).await.unwrap();
        assert!(changes.acknowledged().wants_tools());
        assert!(changes.refused().wants_prompts() && changes.refused().wants_resources());
        let nothing = client.listen(Listen::new().prompts()).await;
        assert!(matches!(nothing, Err(CallError::NotOffered { .. })), "{nothing:?}");
    }

    async fn logs_come_from_the_level_that_was_asked_for(client = server()) {
        let mut logs = client.logs();
        client.call("grumble", json!({})).await.unwrap();
        client.call("grumble", json!({})).log_level(LoggingLevel::Info).await.unwrap();
        let Some(Logged::Message(message)) = timeout(TIMEOUT, logs.next()).await.unwrap() else {
            panic!("a message")
        };
        assert_eq!((message.level, &message.data), (LoggingLevel::Warning, &json!("it is late")));
        client.set_log_level(LoggingLevel::Debug).await.unwrap();
        client.call("grumble", json!({})).await.unwrap();
        for said in ["it is late", "and dark"] {
            let Some(Logged::Message(message)) = timeout(TIMEOUT, logs.next()).await.unwrap() else {
                panic!("a message")
            };
            assert_eq!(message.data, json!(said));
        }
    }
}

#[tokio::test]
async fn a_call_is_answered_by_hand_at_every_revision_that_has_forms() {
    for revision in Revision::ALL.iter().copied().skip(2) {
        let server = server().build().unwrap();
        let client = Client::new("host", "1")
            .answering(Answers::new().forms_by_hand())
            .only(revision);
        let first = connect_with(&server, &client).await.unwrap();
        let round = first.by_hand(first.call("book", json!({}))).await.unwrap();
        let Round::Asked(pending) = round else {
            panic!("it asks")
        };
        let key = pending.asks().keys().next().unwrap().clone();
        let filled = ElicitResult::accept([("row", 12)]);
        let answers = [(key, filled.into())].into_iter().collect();
        // If the call is portable, another connection continues it.
        let second = connect_with(&server, &client).await.unwrap();
        let goes_on = if pending.is_portable() {
            &second
        } else {
            &first
        };
        assert_eq!(pending.is_portable(), revision.is_modern());
        let round = goes_on.resume(pending, answers).await.unwrap();
        let Round::Done(output) = round else {
            panic!("it is done")
        };
        assert_eq!(output.text(), "row 12", "{revision}");
    }
}

#[tokio::test]
async fn what_the_server_allows_is_asked_for_once() {
    let minute = Duration::from_mins(1);
    let server = server()
        .tool(Tool::new("late", async || "x"))
        .cache(minute, CacheScope::Private)
        .build()
        .unwrap();
    let (end, recorded) = record(&server);
    let client = Client::new("host", "1").connect(end).await.unwrap();
    let asked = || {
        let lines = recorded.lines();
        lines
            .iter()
            .filter(|line| line.message["method"] == "tools/list")
            .count()
    };
    let mut changes = client.listen(Listen::new().tools()).await.unwrap();
    for _ in 0..3 {
        client.tools().await.unwrap();
    }
    assert_eq!(asked(), 1);
    client.call("shuffle", json!({})).await.unwrap();
    assert!(matches!(change(&mut changes).await, Change::ToolsChanged));
    client.tools().await.unwrap();
    assert_eq!(asked(), 2);
}

#[cfg(feature = "http")]
mod over_http {
    //! The same over real sockets.

    use turnbuckle::Http;

    use super::*;

    #[tokio::test]
    async fn changes_are_told_over_http() {
        for revision in Revision::ALL.iter().copied().skip(1) {
            let server = server().build().unwrap();
            let (announce, announced) = tokio::sync::oneshot::channel();
            let http = Http::bind("127.0.0.1:0").announce(|address| {
                let _ = announce.send(address.expect("it is not a unix socket"));
            });
            let served = server.clone();
            let serving = tokio::spawn(async move { served.serve(http).await });
            let url = format!("http://{}/mcp", announced.await.unwrap());
            let client = Client::new("host", "1").only(revision);
            let connection = client.connect(url.as_str()).await.unwrap();
            let wish = Listen::new().tools().resource("note://1");
            let mut changes = connection.listen(wish).await.unwrap();
            connection
                .call("touch", json!({"uri": "note://1"}))
                .await
                .unwrap();
            let heard = change(&mut changes).await;
            assert!(
                matches!(heard, Change::ResourceUpdated { .. }),
                "{revision}: {heard:?}"
            );
            server.changes().tools();
            assert!(matches!(change(&mut changes).await, Change::ToolsChanged));
            connection.close().await;
            serving.abort();
        }
    }
}

//! What the peer may not see of a fault, the log has: under the number that the peer was told.

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
use turnbuckle_server::{Fault, Server, Tool};

use crate::wire::Wire;

/// A log that keeps its errors as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().expect("nobody panics here").push(line.0);
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
        let number = message.rsplit(' ').next().expect("the number stands last");
        let lines = std::mem::take(&mut *log.0.lock().expect("nobody panics here"));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&format!("fault={number} ")), "{lines:?}");
        for cause in causes {
            assert!(lines[0].contains(cause), "{lines:?}");
            assert!(!message.contains(cause), "{message}");
        }
    }
}

//! Values of every type, with every optional field set or with none.
//!
//! They are struct literals without `..`, so that a new field does not compile until it has a sample.

mod ask;
mod capability;
mod message;
mod task;
mod value;

pub(crate) use ask::*;
pub(crate) use capability::*;
pub(crate) use message::*;
pub(crate) use task::*;
pub(crate) use value::*;

use crate::{ClientCapabilities, Id, LoggingLevel, Meta, RelatedTask, Revision, meta};
use serde_json::json;

/// Which fields of a value are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fullness {
    /// All fields.
    Full,
    /// Only required fields.
    Bare,
}

impl Fullness {
    pub(crate) const BOTH: [Self; 2] = [Self::Full, Self::Bare];

    /// Returns the value, if all fields are set.
    pub(crate) fn opt<T>(self, value: T) -> Option<T> {
        match self {
            Self::Full => Some(value),
            Self::Bare => None,
        }
    }

    /// Returns the items if all fields are set, and otherwise none.
    pub(crate) fn list<T>(self, items: Vec<T>) -> Vec<T> {
        self.opt(items).unwrap_or_default()
    }

    /// Returns the `_meta` of a value inside a message.
    pub(crate) fn meta(self) -> Option<Meta> {
        self.opt(Meta::new().with("example.com/note", json!({"a": [1, "b"]})))
    }

    /// Returns the `_meta` of a message, with every reserved key of every revision.
    pub(crate) fn message_meta(self) -> Option<Meta> {
        let meta = self.meta()?;
        Some(
            meta.with_progress_token("token-1".into())
                .with(meta::key::PROTOCOL_VERSION, Revision::LATEST)
                .with(meta::key::CLIENT_CAPABILITIES, ClientCapabilities::new())
                .with_client_info(&implementation(self))
                .with_log_level(LoggingLevel::Notice)
                .with_subscription_id(&Id::from(7))
                .with_server_info(&implementation(self))
                .with_related_task(&RelatedTask {
                    task_id: "task-1".into(),
                })
                .with(meta::key::MODEL_IMMEDIATE_RESPONSE, "it runs")
                .with(
                    meta::key::TRACEPARENT,
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                ),
        )
    }

    /// Returns the `_meta` of a request, which a modern peer always requires.
    pub(crate) fn request_meta(self, to: Revision) -> Option<Meta> {
        let required = to
            .is_modern()
            .then(|| Meta::of_request(to, &ClientCapabilities::new()));
        self.message_meta().or(required)
    }
}

//! Sends `tracing` events of handlers as log messages.

use std::fmt;

use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context};
use turnbuckle_protocol::LoggingLevel;

use super::scope;
use crate::handler::log_offer;

/// A layer for `tracing_subscriber` that sends `tracing` events of handlers to their client as log
/// messages, if the client asked for them.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
/// use turnbuckle_server::ClientLog;
///
/// // `module_path!()` in `main.rs` is the name of the program: its own events, and no others.
/// let subscriber = tracing_subscriber::registry().with(ClientLog::of(module_path!()));
/// # let _ = subscriber;
/// ```
///
/// Only events of the given targets are sent, because events of libraries may contain details that
/// clients must not see. The message is an object with the event's fields, and with its text in
/// `message`; the event's target becomes the logger. Events in a task that a handler spawned belong
/// to no call: see [`Log::scope`](crate::Log::scope).
///
/// Once it is installed, every server in the process declares `logging`. A filter on the whole
/// subscriber applies here, too; to send clients more than you log, put filters on single layers.
#[derive(Clone, Debug)]
#[must_use = "nothing is sent until the layer is part of the subscriber"]
pub struct ClientLog {
    targets: Vec<String>,
}

impl ClientLog {
    /// Creates a layer that sends the events of this target and of its children: `app` includes
    /// `app::db`.
    pub fn of(target: impl Into<String>) -> Self {
        Self {
            targets: vec![target.into()],
        }
    }

    /// Also sends the events of this target and of its children.
    pub fn and(mut self, target: impl Into<String>) -> Self {
        self.targets.push(target.into());
        self
    }

    fn is_ours(&self, target: &str) -> bool {
        self.targets.iter().any(|ours| {
            target
                .strip_prefix(ours.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }
}

impl<S: Subscriber> Layer<S> for ClientLog {
    fn on_layer(&mut self, _: &mut S) {
        log_offer::start_forwarding();
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if !self.is_ours(metadata.target()) {
            return;
        }
        let level = level_of(*metadata.level());
        let Some(log) = scope::current().filter(|log| log.is_wanted(level)) else {
            return;
        };
        let mut fields = Fields::default();
        event.record(&mut fields);
        log.say_as(Some(metadata.target()), level, fields.0);
    }
}

fn level_of(level: Level) -> LoggingLevel {
    match level {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        _ => LoggingLevel::Debug,
    }
}

/// The fields of an event as JSON.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_holds_those_inside_it_and_no_other() {
        let layer = ClientLog::of("app").and("lib::db");
        for ours in ["app", "app::x", "lib::db", "lib::db::pool"] {
            assert!(layer.is_ours(ours), "{ours}");
        }
        for other in ["application", "lib", "lib::dbx", "", "turnbuckle_server"] {
            assert!(!layer.is_ours(other), "{other}");
        }
    }
}

//! The log: on stderr, because stdout belongs to data.

use std::{fmt, io};

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// What is logged unless `RUST_LOG` is set: only what the user should look at.
const DEFAULT_FILTER: &str = "warn";

/// Sends what the libraries log to stderr, filtered by `RUST_LOG`, with the time and the module.
pub(crate) fn open() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
}

/// The same for commands that do one thing and end: unless `RUST_LOG` is set, lines read like our
/// own messages.
pub(crate) fn open_plain() {
    if EnvFilter::try_from_default_env().is_ok() {
        return open();
    }
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(DEFAULT_FILTER))
        .with_writer(io::stderr)
        .event_format(Plain)
        .init();
}

/// A line such as `warning: …`, without a time and the name of a module.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let word = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            _ => "note",
        };
        write!(writer, "{word}: ")?;
        context
            .field_format()
            .format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

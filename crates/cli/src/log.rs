//! The log, on stderr because stdout is for data.

use std::{fmt, io};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};
use turnbuckle_command_line::control;

/// The default of `RUST_LOG`: only messages that the user should see.
const DEFAULT_FILTER: &str = "warn";

/// Writes log messages of the libraries to stderr, filtered by `RUST_LOG`, with the time and the module.
pub(crate) fn open() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        // Internal errors would be printed with `eprintln!`, which panics if stderr is closed.
        .log_internal_errors(false)
        .init();
}

/// The same for commands that do one thing and end: unless `RUST_LOG` is set, lines look like our
/// own messages.
pub(crate) fn open_plain() {
    if EnvFilter::try_from_default_env().is_ok() {
        return open();
    }
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(DEFAULT_FILTER))
        .with_writer(io::stderr)
        .log_internal_errors(false)
        .event_format(Plain)
        .init();
}

/// A format such as `warning: …`, without the time and the module.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let word = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            _ => "note",
        };
        let mut sentence = Sentence::default();
        event.record(&mut sentence);
        let line = format!("{word}: {}", control::one_line(&sentence.to_string()));
        writeln!(writer, "{}", control::for_stderr(&line))
    }
}

/// The fields of an event as a sentence: ``server `lab`: a ping was not answered: timed out``.
#[derive(Default)]
struct Sentence {
    server: Option<String>,
    message: Option<String>,
    /// The reason.
    reason: Option<String>,
    others: Vec<String>,
}

impl Sentence {
    fn take(&mut self, name: &str, value: String) {
        match name {
            "server" => self.server = Some(value),
            "message" => self.message = Some(value),
            "error" | "reason" | "mismatch" => self.reason = Some(value),
            _ => self
                .others
                .push(format!("{} `{value}`", name.replace('_', " "))),
        }
    }
}

impl Visit for Sentence {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field.name(), value.to_owned());
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.server.as_ref().map(|name| format!("server `{name}`"));
        let parts = [&server, &self.message, &self.reason];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        f.write_str(&parts.join(": "))?;
        if !self.others.is_empty() {
            write!(f, " ({})", self.others.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_reads_like_a_message() {
        let mut sentence = Sentence::default();
        for (name, value) in [
            ("tool", "x"),
            ("reason", "a header cannot be written"),
            ("server", "lab"),
            ("message", "left a tool out of the list"),
        ] {
            sentence.take(name, value.to_owned());
        }
        assert_eq!(
            sentence.to_string(),
            "server `lab`: left a tool out of the list: a header cannot be written (tool `x`)"
        );
    }
}

//! Log messages that arrive after the answer of their call.
//!
//! Servers at URLs may send them on the session's event stream, which is read concurrently with the
//! answers.

use std::time::Duration;

use super::{Link, OnDrop, Outgoing};

/// How long an answer is held back for log messages.
const WITHIN: Duration = Duration::from_secs(1);

/// How long the session's event stream is read after everything on it has arrived.
const READING: Duration = Duration::from_millis(10);

impl Link {
    /// Waits for the log messages that the server sent before its last answer. Everything that a server
    /// sends before it answers a ping arrives before that answer, on every stream.
    pub(super) async fn await_late_log(&self) {
        let is_apart = self.wire.http().is_some_and(|it| it.has_session_stream());
        if !is_apart || !self.relays.expects_late_log() {
            return;
        }
        let deadline = self.profile().settings.deadline(Some(WITHIN));
        let outgoing = Outgoing::plain("ping");
        if let Ok(ping) = self.prepare(&outgoing, deadline, OnDrop::Cancel, &())
            // Boxed, so that the future of the call does not grow by this future.
            && let Err(error) = Box::pin(ping.answer(None)).await
        {
            tracing::debug!(server = &**self.server(), %error, "late log messages may be lost");
        }
        tokio::time::sleep(READING).await;
    }
}

//! Log messages that arrive after the answer of their call.
//!
//! Servers at URLs may send them by the stream of their session, which is read beside the answers.

use std::time::Duration;

use super::{Link, OnDrop, Outgoing};

/// How long an answer is held back for log messages at the most.
const WITHIN: Duration = Duration::from_secs(1);

/// How long the stream of the session has to be read once everything on it has arrived.
const READING: Duration = Duration::from_millis(10);

impl Link {
    /// Waits until the log messages have come that the server sent before its last answer. What a server
    /// sent before it answers a ping has arrived before that answer, whatever stream it came on.
    pub(super) async fn await_late_log(&self) {
        let is_apart = self.wire.http().is_some_and(|it| it.has_session_stream());
        if !is_apart || !self.relays.expects_late_log() {
            return;
        }
        let deadline = self.profile().settings.deadline(Some(WITHIN));
        let outgoing = Outgoing::plain("ping");
        if let Ok(ping) = self.prepare(&outgoing, deadline, OnDrop::Cancel, &())
            // Boxed: the future of the call would have room for it while its answer is waited for.
            && let Err(error) = Box::pin(ping.answer(None)).await
        {
            tracing::debug!(server = &**self.server(), %error, "late log messages may be lost");
        }
        tokio::time::sleep(READING).await;
    }
}

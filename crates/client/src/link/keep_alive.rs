//! Pings the server at an interval.

use turnbuckle_session::requests::Overdue;
use turnbuckle_transport::KeepAlive;

use super::{Link, OnDrop, Outgoing};
use crate::error::{CallError, Ending};

impl Link {
    /// Pings the server for as long as the connection is open, if the settings say so.
    ///
    /// ping: an implementation SHOULD ping periodically, MAY treat a connection as failed if there is
    /// no answer, and SHOULD log that.
    pub(crate) async fn keep_alive(&self, settings: KeepAlive) {
        if !self.wire.is_http() && !settings.on_pipes {
            return;
        }
        let mut failures = 0;
        loop {
            tokio::time::sleep(settings.every).await;
            if self.is_closed() {
                return;
            }
            let Err(error) = self.ping_once(settings).await else {
                failures = 0;
                continue;
            };
            failures += 1;
            let server = &**self.server();
            tracing::warn!(server, failures, %error, "a ping was not answered");
            if failures >= settings.failures {
                failures = 0;
                self.fail_unanswered(settings).await;
            }
        }
    }

    /// Any answer counts as a sign of life, even an error.
    async fn ping_once(&self, settings: KeepAlive) -> Result<(), CallError> {
        let method = if self.revision().is_modern() {
            "server/discover"
        } else {
            "ping"
        };
        let deadline = self.profile().settings.deadline(Some(settings.timeout));
        let outgoing = Outgoing::plain(method);
        let request = self.prepare(&outgoing, deadline, OnDrop::Cancel, &())?;
        // The clock of calls is paused while the server waits for an answer, and a user may take hours
        // for it, so this uses the clock of the runtime. ping: the receiver MUST respond promptly.
        match tokio::time::timeout(settings.timeout, request.answer(None)).await {
            Ok(Ok(_) | Err(CallError::Rejected { .. })) => Ok(()),
            Ok(Err(error)) => Err(error),
            Err(_) => {
                let overdue = Overdue::Silent(settings.timeout);
                Err(CallError::overdue(self.server(), method, overdue))
            }
        }
    }

    /// Called when too many pings had no answer. A session at a URL is opened again, which does no
    /// harm. A modern server at a URL needs nothing. A connection over a pipe ends.
    #[cfg_attr(
        not(feature = "http"),
        expect(
            clippy::unused_async,
            reason = "over HTTP there is something to wait for"
        )
    )]
    async fn fail_unanswered(&self, settings: KeepAlive) {
        let count = settings.failures;
        #[cfg(feature = "http")]
        if let Some(http) = self.wire.http() {
            http.note_down();
            let session = http.sessions.current();
            if session.can_expire() {
                let reason = "the server stopped answering pings, so a new session is opened";
                self.session_lost(http, &session, reason).await;
            }
            return;
        }
        let reason = format!("it did not answer {count} pings in a row");
        self.lose(Ending::failed(reason));
        self.wire.close();
    }
}

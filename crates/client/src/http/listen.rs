//! The stream by which a server of a session says what belongs to no request.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::Instant;

use super::{Http, exchange::is_message, head, position::Position, session::Session};
use crate::link::{Link, Opened, race};

/// What ends a handshake.
pub(super) const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How long a server may take to accept that.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(10);

/// A stream that lasted this long was one, also if nothing was said on it.
const QUIET_STREAM: Duration = Duration::from_secs(10);

impl Opened {
    /// Says that the handshake is over, and listens to what the server says by itself.
    pub(crate) async fn begin_session(&mut self) {
        let Some(http) = self.link.wire.http().cloned() else {
            return self.link.notify("notifications/initialized", &());
        };
        // Before anything else is sent: two requests may overtake each other.
        let telling = http.tell(&self.link, Bytes::from_static(INITIALIZED));
        match self.link.pending.within(INITIALIZED_TIMEOUT, telling).await {
            Some(Ok(())) => {}
            Some(Err(fault)) => {
                let error =
                    fault.into_error(self.link.server().clone(), "notifications/initialized");
                tracing::warn!(%error, "the handshake did not end as it should");
            }
            None => tracing::warn!(
                server = &**self.link.server(),
                "did not take the end of the handshake"
            ),
        }
        if !http.is_answered_by_events() {
            self.spawn(listen(self.link.clone(), http));
        }
    }
}

/// Listens for as long as the connection is open, to one session after the other.
async fn listen(link: Arc<Link>, http: Arc<Http>) {
    let mut sessions = http.sessions.subscribe();
    let sessions = async {
        loop {
            let session = sessions.borrow_and_update().clone();
            let follow = async {
                follow(&link, &http, &session).await;
                pending::<()>().await;
            };
            race(follow, sessions.changed()).await;
        }
    };
    race(sessions, link.ended()).await;
}

/// Reads the stream of one session, and comes back when it breaks, until the server has none.
async fn follow(link: &Link, http: &Http, session: &Session) {
    let mut position = Position::default();
    let mut has_gap = false;
    loop {
        let begun = Instant::now();
        let mut headers = head::of_session(link, session);
        position.add_to(&mut headers);
        match http.agent.events(&http.address, headers).await {
            Ok(reply) if reply.status().is_success() && reply.is_events() => {
                if std::mem::replace(&mut has_gap, true) && !position.is_known() {
                    link.stream_reopened();
                }
                let mut events = reply.events(http.limit);
                let mut is_useful = false;
                while let Ok(Some(event)) = events.next().await {
                    is_useful = true;
                    position.note(&event);
                    if is_message(&event) {
                        http.receive(event.data.as_bytes());
                    }
                }
                // Quiet streams are cut by what stands between, which is no failure either.
                if is_useful || begun.elapsed() >= QUIET_STREAM {
                    position.has_succeeded();
                    tokio::time::sleep(position.wait()).await;
                    continue;
                }
            }
            // transports: 405 says that there is none. A 404 may say the same, or that the session
            // is over, which the next call will find out and mend.
            Ok(reply) if !reply.status().is_server_error() => {
                tracing::debug!(server = &**link.server(), status = %reply.status(), "has no stream of its own");
                if reply.status().as_u16() == 404 && session.can_expire() {
                    link.standing.doubt();
                } else {
                    link.stream_gone("the server has no stream to tell of changes by");
                }
                return;
            }
            Ok(reply) => tracing::debug!(status = %reply.status(), "no stream for now"),
            Err(error) => tracing::debug!(%error, "no stream for now"),
        }
        if !position.has_failed() {
            tracing::warn!(
                server = &**link.server(),
                "gave up its stream of notifications"
            );
            link.stream_gone("the stream by which the server tells of changes broke for good");
            return;
        }
        tokio::time::sleep(position.wait()).await;
    }
}

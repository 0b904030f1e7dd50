//! The GET stream of a session, for messages that belong to no request.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::Instant};
use turnbuckle_transport::http::client::StatusCode;

use crate::{
    future::race,
    http::{Http, Position, Session, is_gone, is_message, is_passing, of_session},
    link::{Link, Opened},
};

/// A stream that lasted this long was one, also if nothing was said on it.
const QUIET_STREAM: Duration = Duration::from_secs(10);
/// How long the first call waits for the stream, by which it may be asked. Servers that have one
/// open it at once; some say so with the first event only, and must not hold up everything.
const STREAM_OPENS: Duration = Duration::from_secs(1);

/// Says that the handshake is over, and listens to what the server says by itself.
pub(crate) async fn begin_session(opened: &Opened) {
    let Some(http) = opened.link.wire.http().cloned() else {
        return opened.link.notify("notifications/initialized", &());
    };
    http.end_handshake().await;
    if http.uses_http_sse() {
        return;
    }
    let (opens, is_open) = oneshot::channel();
    opened.spawn(listen(opened.link.clone(), http, opens));
    // Servers that ask by this stream lose what they ask before it is there.
    if opened.link.profile().is_askable() {
        let _ = tokio::time::timeout(STREAM_OPENS, is_open).await;
    }
}

/// Listens for as long as the connection is open, to one session after the other. `opens` is
/// dropped once it is known whether there is a stream.
async fn listen(link: Arc<Link>, http: Arc<Http>, opens: oneshot::Sender<()>) {
    let mut opens = Some(opens);
    let mut sessions = http.sessions.changes();
    let sessions = async {
        loop {
            let session = sessions.borrow_and_update().clone();
            let follow = async {
                follow(&link, &http, &session, &mut opens).await;
                pending::<()>().await;
            };
            race(follow, sessions.changed()).await;
        }
    };
    race(sessions, link.lifecycle.ended()).await;
}

/// Reads the stream of one session and reopens it when it breaks, until the server says that there
/// is no stream.
async fn follow(
    link: &Link,
    http: &Http,
    session: &Session,
    opens: &mut Option<oneshot::Sender<()>>,
) {
    let mut position = Position::default();
    let mut has_gap = false;
    loop {
        let begun = Instant::now();
        let mut headers = of_session(&link.ends, session);
        position.add_to(&mut headers);
        let attempt = http.begin_attempt();
        let reply = http.agent.events(&http.address, headers).await;
        http.note_reach(attempt, &reply);
        drop(opens.take());
        match reply {
            Ok(reply) if reply.status().is_success() && reply.is_events() => {
                if std::mem::replace(&mut has_gap, true) && !position.is_known() {
                    link.stream_reopened();
                }
                let mut events = reply.events(http.limit);
                http.set_session_stream(true);
                let mut is_useful = false;
                while let Ok(Some(event)) = events.next().await {
                    is_useful = true;
                    position.note(&event);
                    if is_message(&event) {
                        http.receive(event.data.as_bytes(), None);
                        http.room().await;
                    }
                }
                http.set_session_stream(false);
                // Proxies cut quiet streams, which is not a failure either.
                if is_useful || begun.elapsed() >= QUIET_STREAM {
                    position.has_succeeded();
                    tokio::time::sleep(position.wait()).await;
                    continue;
                }
            }
            Ok(reply) if can_come_back(reply.status(), has_gap) => {
                tracing::debug!(status = %reply.status(), "no stream for now");
                position.wait_at_least(reply.retry_after());
            }
            Ok(reply) => return leave(link, http, session, reply.status(), has_gap).await,
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

/// Whether a refusal of the stream may be another answer in a while. Where there was a stream before,
/// that is likely: servers refuse a second one until they have noticed that the first is gone.
fn can_come_back(status: StatusCode, had_stream: bool) -> bool {
    let is_final = is_gone(status) || status == StatusCode::METHOD_NOT_ALLOWED;
    is_passing(status) || (had_stream && !is_final)
}

/// The server has no stream. transports: 405 says so. A 404 may say the same, or that the session
/// is over; if there was a stream before, it means the session.
async fn leave(link: &Link, http: &Http, session: &Session, status: StatusCode, had_stream: bool) {
    tracing::debug!(server = &**link.server(), %status, "has no stream of its own");
    if !is_gone(status) || !session.can_expire() {
        link.stream_gone("the server has no stream to tell of changes by");
    } else if !had_stream {
        // The next call finds out and mends it.
        link.desired.doubt();
    } else if let Err(fault) = Box::pin(link.reopen_session(http, session)).await {
        let error = fault.into_error(link.server().clone(), "initialize");
        tracing::warn!(%error, "the session is over, and no other could be opened");
        link.desired.doubt();
    }
}

//! The GET stream of a session, for messages that belong to no request.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::Instant};
use turnbuckle_transport::http::client::StatusCode;

use crate::{
    future::race,
    http::{Http, Position, Session, is_gone, is_message, is_passing, of_session},
    link::{Link, Opened},
};

/// A stream that lasted this long has worked, even if no event came on it.
const QUIET_STREAM: Duration = Duration::from_secs(10);
/// How long the first call waits for the stream, on which the server may send requests. Servers with a
/// stream open it at once, but some send the response head only with the first event, and must not
/// delay everything.
const STREAM_OPENS: Duration = Duration::from_secs(1);

/// Ends the handshake, and starts to read the server's messages that belong to no request.
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
    // Some servers lose requests that they send before this stream is open.
    if opened.link.profile().is_askable() {
        let _ = tokio::time::timeout(STREAM_OPENS, is_open).await;
    }
}

/// Reads the streams of all sessions, one after the other, while the connection is open. `opens` is
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
                // Proxies close idle streams, which is not a failure either.
                if is_useful || begun.elapsed() >= QUIET_STREAM {
                    position.has_succeeded();
                    tokio::time::sleep(position.wait()).await;
                    continue;
                }
            }
            Ok(reply) if can_come_back(reply.status(), has_gap) => {
                tracing::debug!(status = %reply.status(), "could not open the stream of notifications");
                position.wait_at_least(reply.retry_after());
            }
            Ok(reply) => return leave(link, http, session, reply.status(), has_gap).await,
            Err(error) => tracing::debug!(%error, "could not open the stream of notifications"),
        }
        if !position.has_failed() {
            tracing::warn!(
                server = &**link.server(),
                "gave up opening the stream of notifications"
            );
            link.stream_gone("the stream of notifications broke and could not be opened again");
            return;
        }
        tokio::time::sleep(position.wait()).await;
    }
}

/// Whether the server may accept the stream later although it refused it now. If there was a stream
/// before, that is likely: servers refuse a second stream until they have noticed that the first is
/// closed.
fn can_come_back(status: StatusCode, had_stream: bool) -> bool {
    let is_final = is_gone(status) || status == StatusCode::METHOD_NOT_ALLOWED;
    is_passing(status) || (had_stream && !is_final)
}

/// Handles a server without a stream. transports: 405 means that it has no stream. A 404 may mean the
/// same, or that the session has expired; if there was a stream before, the session has expired.
async fn leave(link: &Link, http: &Http, session: &Session, status: StatusCode, had_stream: bool) {
    tracing::debug!(server = &**link.server(), %status, "the server has no stream of notifications");
    if !is_gone(status) || !session.can_expire() {
        link.stream_gone("the server has no stream of notifications");
    } else if !had_stream {
        // The next call will detect whether the session has expired, and then open a new one.
        link.desired.doubt();
    } else if let Err(fault) = Box::pin(link.reopen_session(http, session)).await {
        let error = fault.into_error(link.server().clone(), "initialize");
        tracing::warn!(%error, "the session ended, and a new one could not be opened");
        link.desired.doubt();
    }
}

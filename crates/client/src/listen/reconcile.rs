//! The task that brings the subscriptions of a session to the wanted state.

use std::sync::Arc;

use turnbuckle_protocol::{ResourceRequestParams, SetLevelRequestParams};

use super::{backoff::Backoff, subscriptions_listen::is_final};
use crate::{
    error::CallError,
    future::join_all,
    link::Link,
    subscription::{SessionNumber, SessionRequest},
};

/// Keeps the session in the desired state while the connection is open.
pub(super) async fn reconcile(link: Arc<Link>) {
    let mut backoff = Backoff::default();
    while !link.is_closed() {
        let (session, requests) = link.desired.requests();
        if requests.is_empty() {
            link.desired.changed().await;
            continue;
        }
        let each = requests
            .into_iter()
            .map(|request| send(&link, session, request));
        let failed: Vec<Failed> = join_all(each).await.into_iter().flatten().collect();
        if failed.is_empty() {
            backoff.reset();
            continue;
        }
        let wait = backoff.next();
        for Failed { request, error } in failed {
            give_up_if(&link, wait.is_none(), &request, &error);
        }
        match wait {
            Some(wait) => tokio::time::sleep(wait).await,
            None => backoff.reset(),
        }
    }
}

/// A failed request whose subject is still wanted.
struct Failed {
    request: SessionRequest,
    error: CallError,
}

async fn send(link: &Link, session: SessionNumber, request: SessionRequest) -> Option<Failed> {
    let desired = &link.desired;
    let outcome = match &request {
        SessionRequest::Ping => link.ask("ping", &()).await,
        SessionRequest::SetLevel(level) => {
            let params = SetLevelRequestParams::new(*level);
            link.ask("logging/setLevel", &params).await
        }
        SessionRequest::Subscribe(uri) => {
            let params = ResourceRequestParams::new(&**uri);
            link.ask("resources/subscribe", &params).await
        }
        SessionRequest::Unsubscribe(uri) => {
            let params = ResourceRequestParams::new(&**uri);
            link.ask("resources/unsubscribe", &params).await
        }
    };
    match (&request, outcome) {
        // The ping has done its work: if the session had expired, sending it has opened another.
        (SessionRequest::Ping, _) => None,
        // If the server refuses to unsubscribe, its further notifications are ignored.
        (SessionRequest::Unsubscribe(uri), _) => {
            desired.unsubscribed(uri);
            None
        }
        (SessionRequest::SetLevel(level), Ok(_)) => {
            desired.level_done(session, *level);
            None
        }
        (SessionRequest::Subscribe(uri), Ok(_)) => {
            desired.subscribed(session, uri);
            None
        }
        (SessionRequest::SetLevel(level), Err(error)) if is_final(&error) => {
            tracing::debug!(server = &**link.server(), %error, "could not set the server's log level");
            desired.level_done(session, *level);
            None
        }
        (SessionRequest::SetLevel(_), Err(error)) => Some(Failed { request, error }),
        (SessionRequest::Subscribe(uri), Err(error)) => {
            let is_wanted = desired.not_subscribed(uri, || link.again(&error));
            is_wanted.then_some(Failed { request, error })
        }
    }
}

/// Fails the listeners of a resource if it cannot be subscribed to in the new session.
fn give_up_if(link: &Link, is_over: bool, request: &SessionRequest, error: &CallError) {
    if let SessionRequest::Subscribe(uri) = request
        && (is_over || is_final(error))
    {
        link.desired.forget(uri);
        link.changes.fail_resource(uri, || link.again(error));
    }
}

//! The task that makes a session match the wishes for it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{ResourceRequestParams, SetLevelRequestParams};

use super::{
    backoff::Backoff,
    standing::{Session, Step},
    subscriptions_listen::is_final,
};
use crate::{
    CallError,
    call::join_all,
    link::{Link, OnDrop, Outgoing},
};

/// Keeps the session as it is wanted, for as long as the connection is there.
pub(super) async fn keep(link: Arc<Link>) {
    let mut backoff = Backoff::default();
    while !link.is_closed() {
        let (session, steps) = link.standing.steps();
        if steps.is_empty() {
            link.standing.changed().await;
            continue;
        }
        let each = steps.into_iter().map(|step| take(&link, session, step));
        let failed: Vec<Failed> = join_all(each).await.into_iter().flatten().collect();
        if failed.is_empty() {
            backoff.reset();
            continue;
        }
        let wait = backoff.next();
        for Failed { step, error } in failed {
            give_up_if(&link, wait.is_none(), &step, &error);
        }
        match wait {
            Some(wait) => tokio::time::sleep(wait).await,
            None => backoff.reset(),
        }
    }
}

/// A step that failed, and is still wanted.
struct Failed {
    step: Step,
    error: CallError,
}

async fn take(link: &Link, session: Session, step: Step) -> Option<Failed> {
    let standing = &link.standing;
    let outcome = match &step {
        Step::Ping => ask(link, "ping", &()).await,
        Step::SetLevel(level) => {
            ask(
                link,
                "logging/setLevel",
                &SetLevelRequestParams::new(*level),
            )
            .await
        }
        Step::Subscribe(uri) => {
            let params = ResourceRequestParams::new(&**uri);
            ask(link, "resources/subscribe", &params).await
        }
        Step::Unsubscribe(uri) => {
            let params = ResourceRequestParams::new(&**uri);
            ask(link, "resources/unsubscribe", &params).await
        }
    };
    match (&step, outcome) {
        // Whatever the answer was, the question has found out what it was to find out.
        (Step::Ping, _) => None,
        // A server that cannot stop telling of a resource is not heard.
        (Step::Unsubscribe(uri), _) => {
            standing.unsubscribed(uri);
            None
        }
        (Step::SetLevel(level), Ok(_)) => {
            standing.level_done(session, *level);
            None
        }
        (Step::Subscribe(uri), Ok(_)) => {
            standing.subscribed(session, uri);
            None
        }
        (Step::SetLevel(level), Err(error)) if is_final(&error) => {
            tracing::debug!(server = &**link.server(), %error, "the level of its log was not set");
            standing.level_done(session, *level);
            None
        }
        (Step::SetLevel(_), Err(error)) => Some(Failed { step, error }),
        (Step::Subscribe(uri), Err(error)) => {
            let is_wanted = standing.not_subscribed(uri, || link.again(&error));
            is_wanted.then_some(Failed { step, error })
        }
    }
}

/// Those who listened to a resource before the session was another are told when it cannot be
/// listened to in this one.
fn give_up_if(link: &Link, is_over: bool, step: &Step, error: &CallError) {
    if let Step::Subscribe(uri) = step
        && (is_over || is_final(error))
    {
        link.standing.forget(uri);
        link.listeners.fail_resource(uri, || link.again(error));
    }
}

async fn ask<P: Serialize>(
    link: &Link,
    method: &'static str,
    params: &P,
) -> Result<Box<RawValue>, CallError> {
    let outgoing = Outgoing {
        method,
        meta: None,
        progress: false,
    };
    let deadline = link.profile.settings.deadline(None);
    let request = link.prepare(&outgoing, deadline, OnDrop::Cancel, params)?;
    request.answer(None).await
}

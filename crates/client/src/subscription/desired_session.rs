//! The desired state of a session: its log level, and the subscribed resources. A task of the
//! connection (`listen::reconcile`) brings the session to this state, and does so again when another
//! session replaces it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::sync::{Notify, oneshot};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::LoggingLevel;

use crate::error::CallError;

/// How many requests for one session are sent at once.
const MAX_REQUESTS: usize = 16;

/// The desired state of a connection's session.
#[derive(Debug, Default)]
pub(crate) struct DesiredSession {
    state: Mutex<SessionState>,
    /// Wakes the task.
    changed: Notify,
}

#[derive(Debug, Default)]
struct SessionState {
    is_kept: bool,
    /// The number of sessions before this one.
    session: u64,
    /// The number of listeners so far.
    listeners: u64,
    level: Option<DesiredLevel>,
    resources: BTreeMap<Arc<str>, DesiredResource>,
    /// Whether the session may have expired, which a ping finds out.
    is_in_doubt: bool,
    /// Whether the server has no stream for messages that belong to no request.
    is_silent: bool,
}

#[derive(Debug)]
struct DesiredLevel {
    wanted: LoggingLevel,
    /// The session in which it was last set.
    set_in: Option<u64>,
}

#[derive(Debug, Default)]
struct DesiredResource {
    /// The listeners of the resource. When the last one is gone, it is unsubscribed.
    listeners: BTreeSet<u64>,
    /// The session in which the resource is subscribed.
    subscribed_in: Option<u64>,
    is_under_way: bool,
    waiting: Vec<WaitingListener>,
}

/// A listener that waits for the result of subscribing to a resource.
#[derive(Debug)]
struct WaitingListener {
    listener: u64,
    told: oneshot::Sender<Result<(), CallError>>,
}

/// The result of subscribing to a resource.
pub(crate) type Granted = oneshot::Receiver<Result<(), CallError>>;

/// A request that brings the session closer to its desired state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SessionRequest {
    SetLevel(LoggingLevel),
    Subscribe(Arc<str>),
    Unsubscribe(Arc<str>),
    /// Checks whether the session still exists.
    Ping,
}

/// The number of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionNumber(u64);

impl DesiredSession {
    /// Whether the task must be started. From now on it counts as running.
    pub(crate) fn begin(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_kept, true)
    }

    /// Waits until there may be requests to send.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Sets the desired log level.
    pub(crate) fn want_level(&self, level: LoggingLevel) {
        self.state.lock().level = Some(DesiredLevel {
            wanted: level,
            set_in: None,
        });
        self.changed.notify_one();
    }

    /// Records that a call has just set this level.
    pub(crate) fn has_level(&self, level: LoggingLevel) {
        let mut state = self.state.lock();
        state.level = Some(DesiredLevel {
            wanted: level,
            set_in: Some(state.session),
        });
    }

    /// Whether messages of this severity are sent in this session.
    pub(crate) fn hears(&self, level: LoggingLevel) -> bool {
        let state = self.state.lock();
        let set = state.level.as_ref();
        set.is_some_and(|set| set.set_in == Some(state.session) && set.wanted <= level)
    }

    /// Returns a number for a new listener.
    pub(crate) fn number(&self) -> u64 {
        let mut state = self.state.lock();
        state.listeners += 1;
        state.listeners
    }

    /// Adds a listener's subscription to a resource.
    pub(crate) fn want(&self, uri: &Arc<str>, listener: u64) -> Granted {
        let (told, granted) = oneshot::channel();
        let mut state = self.state.lock();
        let session = state.session;
        let resource = state.resources.entry(uri.clone()).or_default();
        resource.listeners.insert(listener);
        if resource.subscribed_in == Some(session) && !resource.is_under_way {
            let _ = told.send(Ok(()));
        } else {
            resource.waiting.push(WaitingListener { listener, told });
        }
        drop(state);
        self.changed.notify_one();
        granted
    }

    /// Removes a listener's subscription to a resource.
    pub(crate) fn release(&self, uri: &Arc<str>, listener: u64) {
        let mut state = self.state.lock();
        if let Some(resource) = state.resources.get_mut(uri) {
            resource.listeners.remove(&listener);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Called when another session has replaced the last one: everything must be requested again.
    pub(crate) fn reopened(&self) {
        let mut state = self.state.lock();
        state.session += 1;
        state.is_in_doubt = false;
        state.is_silent = false;
        drop(state);
        self.changed.notify_one();
    }

    /// Called when the session may have expired, which a client that only listens would not notice.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "a pipe breaks for good")
    )]
    pub(crate) fn doubt(&self) {
        self.state.lock().is_in_doubt = true;
        self.changed.notify_one();
    }

    /// Called when the server has no stream for messages that belong to no request.
    pub(crate) fn fall_silent(&self) {
        self.state.lock().is_silent = true;
    }

    /// Whether the server has no such stream.
    pub(crate) fn is_silent(&self) -> bool {
        self.state.lock().is_silent
    }

    /// Returns the requests to send now, each with a different subject, and their session.
    pub(crate) fn requests(&self) -> (SessionNumber, Vec<SessionRequest>) {
        let mut state = self.state.lock();
        let session = state.session;
        let mut requests = Vec::new();
        if std::mem::take(&mut state.is_in_doubt) {
            requests.push(SessionRequest::Ping);
        }
        if let Some(level) = &state.level
            && level.set_in != Some(session)
        {
            requests.push(SessionRequest::SetLevel(level.wanted));
        }
        // These subscriptions ended with their session, and no listener wants them any more.
        state.resources.retain(|_, resource| {
            !resource.listeners.is_empty() || resource.subscribed_in == Some(session)
        });
        for (uri, resource) in &mut state.resources {
            let is_subscribed = resource.subscribed_in == Some(session);
            let request = match (!resource.listeners.is_empty(), is_subscribed) {
                (true, false) => SessionRequest::Subscribe(uri.clone()),
                (false, true) => SessionRequest::Unsubscribe(uri.clone()),
                _ => continue,
            };
            if requests.len() == MAX_REQUESTS {
                break;
            }
            resource.is_under_way = true;
            requests.push(request);
        }
        (SessionNumber(session), requests)
    }

    /// Records that the level was set.
    pub(crate) fn level_done(&self, session: SessionNumber, level: LoggingLevel) {
        if let Some(wanted) = &mut self.state.lock().level
            && wanted.wanted == level
        {
            wanted.set_in = Some(session.0);
        }
    }

    /// Records that the resource was subscribed to.
    pub(crate) fn subscribed(&self, session: SessionNumber, uri: &str) {
        let waiting = self.settle(uri, |resource| {
            resource.subscribed_in = Some(session.0);
            std::mem::take(&mut resource.waiting)
        });
        for waiting in waiting.into_iter().flatten() {
            let _ = waiting.told.send(Ok(()));
        }
    }

    /// Records that the resource could not be subscribed to, and fails the listeners that wait for it.
    /// Returns whether others still want it.
    pub(crate) fn not_subscribed(&self, uri: &str, error: impl Fn() -> CallError) -> bool {
        let settled = self.settle(uri, |resource| {
            let waiting = std::mem::take(&mut resource.waiting);
            for WaitingListener { listener, .. } in &waiting {
                resource.listeners.remove(listener);
            }
            (!resource.listeners.is_empty(), waiting)
        });
        let Some((is_wanted, waiting)) = settled else {
            return false;
        };
        for waiting in waiting {
            let _ = waiting.told.send(Err(error()));
        }
        is_wanted
    }

    /// Records that the resource is not subscribed to any more.
    pub(crate) fn unsubscribed(&self, uri: &str) {
        self.settle(uri, |resource| resource.subscribed_in = None);
    }

    /// Forgets a resource that cannot be subscribed to.
    pub(crate) fn forget(&self, uri: &str) {
        self.state.lock().resources.remove(uri);
    }

    fn settle<T>(&self, uri: &str, change: impl FnOnce(&mut DesiredResource) -> T) -> Option<T> {
        let mut state = self.state.lock();
        let resource = state.resources.get_mut(uri)?;
        resource.is_under_way = false;
        Some(change(resource))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri() -> Arc<str> {
        "a:b".into()
    }

    #[test]
    fn a_resource_is_subscribed_to_once_and_unsubscribed_after_the_last() {
        let desired = DesiredSession::default();
        let mut first = desired.want(&uri(), 1);
        let mut second = desired.want(&uri(), 2);
        let (session, requests) = desired.requests();
        assert_eq!(requests, [SessionRequest::Subscribe(uri())]);
        assert!(first.try_recv().is_err());
        desired.subscribed(session, "a:b");
        assert!(first.try_recv().unwrap().is_ok() && second.try_recv().unwrap().is_ok());
        assert!(desired.want(&uri(), 3).try_recv().unwrap().is_ok());
        desired.release(&uri(), 1);
        desired.release(&uri(), 1);
        desired.release(&uri(), 3);
        assert_eq!(desired.requests().1, []);
        desired.release(&uri(), 2);
        assert_eq!(desired.requests().1, [SessionRequest::Unsubscribe(uri())]);
        desired.unsubscribed("a:b");
        assert_eq!(desired.requests().1, []);
        assert!(desired.state.lock().resources.is_empty());
    }

    #[test]
    fn another_session_is_asked_for_all_of_it_again() {
        let desired = DesiredSession::default();
        let _granted = desired.want(&uri(), 1);
        desired.want_level(LoggingLevel::Info);
        let (session, requests) = desired.requests();
        let all = [
            SessionRequest::SetLevel(LoggingLevel::Info),
            SessionRequest::Subscribe(uri()),
        ];
        assert_eq!(requests, all);
        desired.reopened();
        // Requests of the expired session do not count.
        desired.subscribed(session, "a:b");
        desired.level_done(session, LoggingLevel::Info);
        assert_eq!(desired.requests().1, all);
    }

    #[test]
    fn unwanted_resources_go_with_their_session() {
        let desired = DesiredSession::default();
        let _granted = desired.want(&uri(), 1);
        let (session, _) = desired.requests();
        desired.subscribed(session, "a:b");
        desired.reopened();
        desired.release(&uri(), 1);
        assert_eq!(desired.requests().1, []);
    }
}

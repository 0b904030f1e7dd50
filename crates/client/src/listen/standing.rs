//! What a session is to keep: the level of its log, and the resources subscribed to. Both are
//! wishes; a task of the connection ([`keeper`](super::keeper)) makes the session match them, and does
//! so again when another session takes its place.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::sync::{Notify, oneshot};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::LoggingLevel;

use crate::CallError;

/// How many requests for one session are on their way at once.
const MAX_STEPS: usize = 16;

/// The wishes for one session.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    state: Mutex<State>,
    /// Tells the keeper to look again.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    is_kept: bool,
    /// How many sessions there were before this one.
    session: u64,
    /// How many listeners there were.
    listeners: u64,
    level: Option<Level>,
    resources: BTreeMap<Arc<str>, Wish>,
    /// Whether the session may be over, which a question finds out.
    is_in_doubt: bool,
    /// Whether there is no way for the server to say anything by itself.
    is_silent: bool,
}

#[derive(Debug)]
struct Level {
    wanted: LoggingLevel,
    /// The session it was last set in.
    set_in: Option<u64>,
}

#[derive(Debug, Default)]
struct Wish {
    /// Who wants it. With nobody left it is to be unsubscribed.
    listeners: BTreeSet<u64>,
    /// The session it is subscribed in.
    subscribed_in: Option<u64>,
    is_under_way: bool,
    waiting: Vec<Waiting>,
}

/// Somebody who waits to hear whether a wish came true.
#[derive(Debug)]
struct Waiting {
    listener: u64,
    told: oneshot::Sender<Result<(), CallError>>,
}

/// Whether a wish came true.
pub(super) type Granted = oneshot::Receiver<Result<(), CallError>>;

/// Something to be asked of the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    SetLevel(LoggingLevel),
    Subscribe(Arc<str>),
    Unsubscribe(Arc<str>),
    /// Is the session still there?
    Ping,
}

/// What is done for as long as it is in this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Session(u64);

impl Standing {
    /// Whether a keeper is needed and there is none; there is one from now on.
    pub(super) fn begin(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_kept, true)
    }

    /// Waits until there may be something to do.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Wants this level of the log.
    pub(crate) fn want_level(&self, level: LoggingLevel) {
        self.state.lock().level = Some(Level {
            wanted: level,
            set_in: None,
        });
        self.changed.notify_one();
    }

    /// The level was set just now, by the call that wanted it.
    pub(crate) fn has_level(&self, level: LoggingLevel) {
        let mut state = self.state.lock();
        state.level = Some(Level {
            wanted: level,
            set_in: Some(state.session),
        });
    }

    /// Whether messages of this severity come in this session.
    pub(crate) fn hears(&self, level: LoggingLevel) -> bool {
        let state = self.state.lock();
        let set = state.level.as_ref();
        set.is_some_and(|set| set.set_in == Some(state.session) && set.wanted <= level)
    }

    /// A number for one more listener.
    pub(super) fn number(&self) -> u64 {
        let mut state = self.state.lock();
        state.listeners += 1;
        state.listeners
    }

    /// A listener wants to hear of a resource.
    pub(super) fn want(&self, uri: &Arc<str>, listener: u64) -> Granted {
        let (told, granted) = oneshot::channel();
        let mut state = self.state.lock();
        let session = state.session;
        let wish = state.resources.entry(uri.clone()).or_default();
        wish.listeners.insert(listener);
        if wish.subscribed_in == Some(session) && !wish.is_under_way {
            let _ = told.send(Ok(()));
        } else {
            wish.waiting.push(Waiting { listener, told });
        }
        drop(state);
        self.changed.notify_one();
        granted
    }

    /// A listener wants it no more.
    pub(super) fn release(&self, uri: &Arc<str>, listener: u64) {
        let mut state = self.state.lock();
        if let Some(wish) = state.resources.get_mut(uri) {
            wish.listeners.remove(&listener);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Another session has taken the place of the last: all is to be asked for again.
    pub(crate) fn reopened(&self) {
        let mut state = self.state.lock();
        state.session += 1;
        state.is_in_doubt = false;
        state.is_silent = false;
        drop(state);
        self.changed.notify_one();
    }

    /// The session may be over. Nobody would notice who only listens.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "a pipe breaks for good")
    )]
    pub(crate) fn doubt(&self) {
        self.state.lock().is_in_doubt = true;
        self.changed.notify_one();
    }

    /// The server has no way to say anything by itself in this session.
    pub(super) fn fall_silent(&self) {
        self.state.lock().is_silent = true;
    }

    /// Whether that is so.
    pub(super) fn is_silent(&self) -> bool {
        self.state.lock().is_silent
    }

    /// What there is to do now, each for a subject of its own, and in which session.
    pub(super) fn steps(&self) -> (Session, Vec<Step>) {
        let mut state = self.state.lock();
        let session = state.session;
        let mut steps = Vec::new();
        if std::mem::take(&mut state.is_in_doubt) {
            steps.push(Step::Ping);
        }
        if let Some(level) = &state.level
            && level.set_in != Some(session)
        {
            steps.push(Step::SetLevel(level.wanted));
        }
        // Gone with the session, and nobody wants them any more.
        state
            .resources
            .retain(|_, wish| !wish.listeners.is_empty() || wish.subscribed_in == Some(session));
        for (uri, wish) in &mut state.resources {
            let is_subscribed = wish.subscribed_in == Some(session);
            let step = match (!wish.listeners.is_empty(), is_subscribed) {
                (true, false) => Step::Subscribe(uri.clone()),
                (false, true) => Step::Unsubscribe(uri.clone()),
                _ => continue,
            };
            if steps.len() == MAX_STEPS {
                break;
            }
            wish.is_under_way = true;
            steps.push(step);
        }
        (Session(session), steps)
    }

    /// The level was set.
    pub(super) fn level_done(&self, session: Session, level: LoggingLevel) {
        if let Some(wanted) = &mut self.state.lock().level
            && wanted.wanted == level
        {
            wanted.set_in = Some(session.0);
        }
    }

    /// The resource was subscribed to.
    pub(super) fn subscribed(&self, session: Session, uri: &str) {
        let waiting = self.settle(uri, |wish| {
            wish.subscribed_in = Some(session.0);
            std::mem::take(&mut wish.waiting)
        });
        for waiting in waiting.into_iter().flatten() {
            let _ = waiting.told.send(Ok(()));
        }
    }

    /// The resource was not subscribed to: those who wait for it give it up. Says whether others
    /// still want it.
    pub(super) fn not_subscribed(&self, uri: &str, error: impl Fn() -> CallError) -> bool {
        let settled = self.settle(uri, |wish| {
            let waiting = std::mem::take(&mut wish.waiting);
            for Waiting { listener, .. } in &waiting {
                wish.listeners.remove(listener);
            }
            (!wish.listeners.is_empty(), waiting)
        });
        let Some((is_wanted, waiting)) = settled else {
            return false;
        };
        for waiting in waiting {
            let _ = waiting.told.send(Err(error()));
        }
        is_wanted
    }

    /// The resource is not subscribed to any more, or need not be.
    pub(super) fn unsubscribed(&self, uri: &str) {
        self.settle(uri, |wish| wish.subscribed_in = None);
    }

    /// Nobody can have this resource: forget it.
    pub(super) fn forget(&self, uri: &str) {
        self.state.lock().resources.remove(uri);
    }

    fn settle<T>(&self, uri: &str, change: impl FnOnce(&mut Wish) -> T) -> Option<T> {
        let mut state = self.state.lock();
        let wish = state.resources.get_mut(uri)?;
        wish.is_under_way = false;
        Some(change(wish))
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
        let standing = Standing::default();
        let mut first = standing.want(&uri(), 1);
        let mut second = standing.want(&uri(), 2);
        let (session, steps) = standing.steps();
        assert_eq!(steps, [Step::Subscribe(uri())]);
        assert!(first.try_recv().is_err());
        standing.subscribed(session, "a:b");
        assert!(first.try_recv().unwrap().is_ok() && second.try_recv().unwrap().is_ok());
        assert!(standing.want(&uri(), 3).try_recv().unwrap().is_ok());
        standing.release(&uri(), 1);
        standing.release(&uri(), 1);
        standing.release(&uri(), 3);
        assert_eq!(standing.steps().1, []);
        standing.release(&uri(), 2);
        assert_eq!(standing.steps().1, [Step::Unsubscribe(uri())]);
        standing.unsubscribed("a:b");
        assert_eq!(standing.steps().1, []);
        assert!(standing.lock().resources.is_empty());
    }

    #[test]
    fn another_session_is_asked_for_all_of_it_again() {
        let standing = Standing::default();
        let _granted = standing.want(&uri(), 1);
        standing.want_level(LoggingLevel::Info);
        let (session, steps) = standing.steps();
        let all = [Step::SetLevel(LoggingLevel::Info), Step::Subscribe(uri())];
        assert_eq!(steps, all);
        standing.reopened();
        // What was done in the session that is over does not count.
        standing.subscribed(session, "a:b");
        standing.level_done(session, LoggingLevel::Info);
        assert_eq!(standing.steps().1, all);
    }

    #[test]
    fn what_nobody_wants_any_more_goes_with_its_session() {
        let standing = Standing::default();
        let _granted = standing.want(&uri(), 1);
        let (session, _) = standing.steps();
        standing.subscribed(session, "a:b");
        standing.reopened();
        standing.release(&uri(), 1);
        assert_eq!(standing.steps().1, []);
    }
}

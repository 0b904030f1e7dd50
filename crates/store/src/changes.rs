//! Publishes changes to all listeners, on every machine.
//!
//! A server publishes its changes; each replica receives them and notifies its own clients. The
//! messages are small and contain no contents: clients read again what they need.

use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use turnbuckle_base::lock::Mutex;

/// A change that clients may be notified of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// The contents of the resource at this URI.
    Resource(String),
    /// The contents of a resource have changed, and the notification has more members than the URI.
    Updated {
        /// The subscribed URIs whose listeners are notified. Each listener is notified once.
        resources: Vec<String>,
        /// The params of the notification, as JSON.
        params: String,
    },
    /// The visit to a URL with this id is over, because the user has done what the URL was for.
    Visit(String),
    /// Everything may have changed, because published changes may have been lost. Every listener
    /// must be notified of everything that it listens to. A fan-out publishes this after its
    /// connection was broken.
    Everything,
}

/// A callback for changes. The publisher calls it; it must not block and must not panic.
pub type ChangeCallback = Box<dyn Fn(&Change) + Send + Sync>;

/// Carries changes from the replica that publishes them to all replicas that joined.
///
/// [`LocalFanout`] is the default, for one process. An implementation for several machines sends
/// published changes over its carrier and receives those of other machines.
///
/// # Contract
/// - Every member gets each change at least once, or [`Change::Everything`] if some may have been
///   lost. This includes the replica that published it.
/// - Changes of one publisher arrive in the order in which they were published.
/// - `publish` does not wait. A change that cannot be sent immediately is held in a bounded queue or
///   lost; a lost change is replaced by [`Change::Everything`].
pub trait Fanout: Send + Sync + 'static {
    /// Publishes a change to all members.
    fn publish(&self, change: Change);

    /// Calls `callback` with every change, until the returned guard is dropped.
    fn join(&self, callback: ChangeCallback) -> JoinGuard;
}

/// Membership of a [`Fanout`] or a [`Bus`](crate::bus::Bus). Dropping it leaves.
pub struct JoinGuard(#[expect(dead_code, reason = "held for its drop")] Box<dyn Any + Send + Sync>);

impl JoinGuard {
    /// Makes a guard that drops `guard` when it is dropped itself.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for JoinGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinGuard").finish_non_exhaustive()
    }
}

/// The fan-out of one process. Clones refer to the same fan-out, so several servers can share their
/// changes.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use turnbuckle_store::{Change, Fanout as _, LocalFanout};
///
/// let fanout = LocalFanout::default();
/// let heard = Arc::new(Mutex::new(Vec::new()));
/// let changes = Arc::clone(&heard);
/// let guard = fanout.join(Box::new(move |change| changes.lock().unwrap().push(change.clone())));
/// fanout.publish(Change::Tools);
/// drop(guard);
/// fanout.publish(Change::Prompts);
/// assert_eq!(*heard.lock().unwrap(), [Change::Tools]);
/// ```
#[derive(Clone, Default)]
pub struct LocalFanout(Arc<Mutex<Members>>);

#[derive(Default)]
struct Members {
    next: u64,
    callbacks: BTreeMap<u64, Arc<ChangeCallback>>,
}

impl Fanout for LocalFanout {
    fn publish(&self, change: Change) {
        // Called without the lock, because a callback may join or leave.
        let callbacks: Vec<_> = self.0.lock().callbacks.values().cloned().collect();
        for callback in callbacks {
            callback(&change);
        }
    }

    fn join(&self, callback: ChangeCallback) -> JoinGuard {
        let mut members = self.0.lock();
        let number = members.next;
        members.next += 1;
        members.callbacks.insert(number, Arc::new(callback));
        drop(members);
        JoinGuard::new(Membership {
            fanout: self.clone(),
            number,
        })
    }
}

impl fmt::Debug for LocalFanout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.0.lock().callbacks.len();
        f.debug_struct("LocalFanout")
            .field("members", &members)
            .finish()
    }
}

/// A membership. Dropping it leaves the fan-out.
struct Membership {
    fanout: LocalFanout,
    number: u64,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let gone = self.fanout.0.lock().callbacks.remove(&self.number);
        // Dropped without the lock: values that the callback holds may themselves be members.
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callback(heard: &Arc<Mutex<Vec<Change>>>) -> ChangeCallback {
        let heard = Arc::clone(heard);
        Box::new(move |change| heard.lock().push(change.clone()))
    }

    #[test]
    fn everybody_hears_in_order_until_they_leave() {
        let fanout = LocalFanout::default();
        let (one, other) = (Arc::default(), Arc::default());
        let first = fanout.join(callback(&one));
        let _second = fanout.clone().join(callback(&other));
        fanout.publish(Change::Tools);
        fanout.publish(Change::Resource("r://it".into()));
        drop(first);
        fanout.publish(Change::Everything);
        assert_eq!(
            *one.lock(),
            [Change::Tools, Change::Resource("r://it".into())]
        );
        assert_eq!(other.lock().len(), 3);
    }

    #[test]
    fn who_hears_may_leave_at_once() {
        let fanout = LocalFanout::default();
        let place: Arc<Mutex<Option<JoinGuard>>> = Arc::default();
        let own = Arc::clone(&place);
        let joined = fanout.join(Box::new(move |_| drop(own.lock().take())));
        *place.lock() = Some(joined);
        fanout.publish(Change::Tools);
        assert!(fanout.0.lock().callbacks.is_empty());
        fanout.publish(Change::Tools);
    }

    #[test]
    fn a_change_travels_as_json() {
        let changes = [
            (Change::Tools, r#""tools""#),
            (Change::Resource("a:b".into()), r#"{"resource":"a:b"}"#),
            (
                Change::Updated {
                    resources: vec!["a:b".into()],
                    params: r#"{"uri":"a:b/c"}"#.into(),
                },
                r#"{"updated":{"resources":["a:b"],"params":"{\"uri\":\"a:b/c\"}"}}"#,
            ),
            (Change::Everything, r#""everything""#),
        ];
        for (change, text) in changes {
            assert_eq!(serde_json::to_string(&change).unwrap(), text);
            assert_eq!(serde_json::from_str::<Change>(text).unwrap(), change);
        }
    }
}

//! The relayed calls of one connection that are in progress, and which of them a message belongs to.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::Id;

use super::RelayQueue;

/// The relayed calls of one connection, by the ids of their requests.
#[derive(Debug, Default)]
pub(crate) struct RelayCalls {
    open: Mutex<HashMap<Id, OpenRelay>>,
    /// Whether the server has sent a log message on the stream of a call.
    has_log_on_streams: AtomicBool,
    /// How often the client has waited for late log messages in vain since the last one came.
    waits_in_vain: AtomicU32,
}

/// After this many waits in vain, the client stops waiting for late log messages.
const MAX_WAITS_IN_VAIN: u32 = 20;

/// A relayed call in progress.
#[derive(Clone, Debug)]
pub(crate) struct OpenRelay {
    pub(crate) queue: Arc<RelayQueue>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A server may ask during the call.
    Asking,
    /// The call waits for the result of this task, which may ask.
    TaskResult(Option<Box<str>>),
    /// The call stays open for notifications.
    Listen,
    /// Servers answer it from known data, and log nothing about it.
    Quiet,
    Other,
}

impl OpenRelay {
    /// Creates a call of this method. `task` is the task that its params name.
    pub(crate) fn new(queue: Arc<RelayQueue>, method: &str, task: Option<Box<str>>) -> Self {
        let kind = match method {
            "tools/call" | "prompts/get" | "resources/read" => Kind::Asking,
            "tasks/result" => Kind::TaskResult(task),
            "subscriptions/listen" => Kind::Listen,
            "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "logging/setLevel" => Kind::Quiet,
            _ => Kind::Other,
        };
        Self { queue, kind }
    }

    /// Whether the call stays open for notifications.
    pub(crate) fn is_listening(&self) -> bool {
        self.kind == Kind::Listen
    }
}

impl RelayCalls {
    /// Registers a call.
    pub(crate) fn enter(&self, id: Id, call: OpenRelay) {
        self.open.lock().insert(id, call);
    }

    /// Removes a call.
    pub(crate) fn leave(&self, id: &Id) {
        let left = self.open.lock().remove(id);
        // Dropping the call answers its questions, which must not happen under the lock.
        drop(left);
    }

    /// Returns the call of this request.
    pub(crate) fn of(&self, id: &Id) -> Option<OpenRelay> {
        self.open.lock().get(id).cloned()
    }

    /// Returns the call that waits for the result of this task.
    pub(crate) fn of_task(&self, task: &str) -> Option<OpenRelay> {
        self.only_if(|kind| matches!(kind, Kind::TaskResult(Some(other)) if **other == *task))
    }

    /// Returns the only call in progress during which a server may ask, if there is exactly one.
    pub(crate) fn only_asking(&self) -> Option<OpenRelay> {
        self.only_if(|kind| matches!(kind, Kind::Asking | Kind::TaskResult(_)))
    }

    /// Returns the only call in progress that does any work. Calls that only read a list count if there
    /// are no others.
    pub(crate) fn only(&self) -> Option<OpenRelay> {
        let is_at_work = |kind: &Kind| !matches!(kind, Kind::Listen | Kind::Quiet);
        self.only_if(is_at_work)
            .or_else(|| self.only_if(|kind| *kind != Kind::Listen))
    }

    /// Records that the server has sent a log message, on the stream of a call or on another.
    pub(crate) fn note_log(&self, is_on_stream: bool) {
        self.waits_in_vain.store(0, Ordering::Relaxed);
        if is_on_stream {
            self.has_log_on_streams.store(true, Ordering::Relaxed);
        }
    }

    /// Whether log messages may come after the answer of their call, judged by earlier calls. Each
    /// `true` counts as one wait.
    pub(crate) fn expects_late_log(&self) -> bool {
        !self.has_log_on_streams.load(Ordering::Relaxed)
            && self.waits_in_vain.fetch_add(1, Ordering::Relaxed) < MAX_WAITS_IN_VAIN
    }

    fn only_if(&self, fits: impl Fn(&Kind) -> bool) -> Option<OpenRelay> {
        let calls = self.open.lock();
        let mut fitting = calls.values().filter(|call| fits(&call.kind));
        let first = fitting.next()?;
        fitting.next().is_none().then(|| first.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_log_messages_are_not_waited_for_without_end() {
        let calls = RelayCalls::default();
        let waits = |calls: &RelayCalls| (0..100).filter(|_| calls.expects_late_log()).count();
        assert_eq!(waits(&calls), MAX_WAITS_IN_VAIN as usize);
        assert_eq!(waits(&calls), 0);
        calls.note_log(false);
        assert_eq!(waits(&calls), MAX_WAITS_IN_VAIN as usize);
        calls.note_log(true);
        assert_eq!(waits(&calls), 0);
    }

    #[test]
    fn a_message_without_a_stream_belongs_to_the_only_call_that_fits() {
        let calls = RelayCalls::default();
        let enter = |id, method, task: Option<&str>| {
            calls.enter(
                Id::Int(id),
                OpenRelay::new(Arc::default(), method, task.map(Into::into)),
            );
        };
        assert!(calls.only().is_none());
        enter(1, "subscriptions/listen", None);
        assert!(calls.only().is_none());
        enter(2, "tools/list", None);
        assert!(calls.only().is_some());
        assert!(calls.only_asking().is_none());
        enter(3, "tools/call", None);
        assert!(calls.only().is_some());
        assert!(calls.only_asking().is_some());
        enter(5, "completion/complete", None);
        assert!(calls.only().is_none());
        assert!(calls.only_asking().is_some());
        enter(4, "tasks/result", Some("a"));
        assert!(calls.only_asking().is_none());
        assert!(calls.of_task("a").is_some());
        assert!(calls.of_task("b").is_none());
        calls.leave(&Id::Int(3));
        assert!(calls.only_asking().is_some());
    }
}

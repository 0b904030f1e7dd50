//! The table of methods: the revisions that have each, and its direction.

use std::ops::RangeInclusive;

use crate::{
    Revision::{self, V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28},
    TASKS_EXTENSION,
};

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// Whether a method is a request or a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// A request, which is answered.
    Request,
    /// A notification, which is not answered.
    Notification,
}

/// A method and the revisions that have it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether the method is a request or a notification.
    pub kind: MethodKind,
    /// The revisions in which clients send it.
    pub to_server: Option<RangeInclusive<Revision>>,
    /// The revisions in which servers send it.
    pub to_client: Option<RangeInclusive<Revision>>,
}

impl Entry {
    /// Returns whether a revision has the method in a direction.
    pub fn is_available(&self, revision: Revision, direction: Direction) -> bool {
        let revisions = match direction {
            Direction::ToServer => &self.to_server,
            Direction::ToClient => &self.to_client,
        };
        revisions
            .as_ref()
            .is_some_and(|revisions| revisions.contains(&revision))
    }
}

/// Returns whether a revision has a method or notification in a direction.
///
/// Methods of the tasks extension count as available in 2026-07-28; [`extension`] distinguishes them.
///
/// ```
/// use turnbuckle_protocol::{Revision, method::{Direction, available}};
///
/// assert!(available("ping", Revision::V2025_11_25, Direction::ToServer));
/// assert!(!available("ping", Revision::V2026_07_28, Direction::ToServer));
/// ```
pub fn available(name: &str, revision: Revision, direction: Direction) -> bool {
    find(name).is_some_and(|entry| entry.is_available(revision, direction))
}

/// Returns the extension that both sides must declare before a method may be used in a revision.
pub fn extension(name: &str, revision: Revision) -> Option<&'static str> {
    let belongs = revision.is_modern()
        && (name.starts_with("tasks/") || name == "notifications/tasks")
        && find(name).is_some();
    belongs.then_some(TASKS_EXTENSION)
}

/// Returns the entry of a method, if any revision has it.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name)
}

/// Returns every method and notification of any revision.
pub fn entries() -> &'static [Entry] {
    TABLE
}

const LATEST: Revision = Revision::LATEST;
const ALWAYS: Option<RangeInclusive<Revision>> = Some(V2024_11_05..=LATEST);
const LEGACY: Option<RangeInclusive<Revision>> = Some(V2024_11_05..=V2025_11_25);
const MODERN: Option<RangeInclusive<Revision>> = Some(V2026_07_28..=LATEST);
const TASKS: Option<RangeInclusive<Revision>> = Some(V2025_11_25..=V2025_11_25);
const TASKS_OF_BOTH: Option<RangeInclusive<Revision>> = Some(V2025_11_25..=LATEST);
const ELICITATION: Option<RangeInclusive<Revision>> = Some(V2025_06_18..=V2025_11_25);

type Revisions = Option<RangeInclusive<Revision>>;

const fn request(name: &'static str, to_server: Revisions, to_client: Revisions) -> Entry {
    Entry {
        name,
        kind: MethodKind::Request,
        to_server,
        to_client,
    }
}

const fn notification(name: &'static str, to_server: Revisions, to_client: Revisions) -> Entry {
    Entry {
        name,
        kind: MethodKind::Notification,
        to_server,
        to_client,
    }
}

/// The most frequent methods come first, because the search is linear.
static TABLE: &[Entry] = &[
    request("tools/call", ALWAYS, None),
    request("tools/list", ALWAYS, None),
    request("resources/read", ALWAYS, None),
    request("resources/list", ALWAYS, None),
    request("resources/templates/list", ALWAYS, None),
    request("prompts/get", ALWAYS, None),
    request("prompts/list", ALWAYS, None),
    request("completion/complete", ALWAYS, None),
    request("server/discover", MODERN, None),
    request("subscriptions/listen", MODERN, None),
    request("initialize", LEGACY, None),
    request("ping", LEGACY, LEGACY),
    request("resources/subscribe", LEGACY, None),
    request("resources/unsubscribe", LEGACY, None),
    request("logging/setLevel", LEGACY, None),
    // In 2026-07-28 these three are parts of a result and not separate requests.
    request("sampling/createMessage", None, LEGACY),
    request("elicitation/create", None, ELICITATION),
    request("roots/list", None, LEGACY),
    request("tasks/get", TASKS_OF_BOTH, TASKS),
    request("tasks/cancel", TASKS_OF_BOTH, TASKS),
    request("tasks/update", MODERN, None),
    request("tasks/result", TASKS, TASKS),
    request("tasks/list", TASKS, TASKS),
    notification("notifications/progress", LEGACY, ALWAYS),
    notification("notifications/message", None, ALWAYS),
    notification("notifications/cancelled", ALWAYS, ALWAYS),
    notification("notifications/initialized", LEGACY, None),
    notification("notifications/tools/list_changed", None, ALWAYS),
    notification("notifications/prompts/list_changed", None, ALWAYS),
    notification("notifications/resources/list_changed", None, ALWAYS),
    notification("notifications/resources/updated", None, ALWAYS),
    notification("notifications/roots/list_changed", LEGACY, None),
    notification("notifications/elicitation/complete", None, TASKS),
    notification("notifications/tasks/status", TASKS, TASKS),
    notification("notifications/subscriptions/acknowledged", None, MODERN),
    notification("notifications/tasks", None, MODERN),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::method;

    fn names(kind: MethodKind) -> BTreeSet<&'static str> {
        TABLE
            .iter()
            .filter(|entry| entry.kind == kind)
            .map(|entry| entry.name)
            .collect()
    }

    #[test]
    fn every_entry_has_its_types_and_every_type_its_entry() {
        let requests: BTreeSet<_> = method::request::NAMES.iter().copied().collect();
        assert_eq!(names(MethodKind::Request), requests);
        let notifications: BTreeSet<_> = method::notification::NAMES.iter().copied().collect();
        assert_eq!(names(MethodKind::Notification), notifications);
    }

    #[test]
    fn tasks_belong_to_an_extension_only_in_the_newest_revision() {
        assert_eq!(extension("tasks/get", V2026_07_28), Some(TASKS_EXTENSION));
        assert_eq!(extension("tasks/get", V2025_11_25), None);
        assert_eq!(extension("tasks/forget", V2026_07_28), None);
        // tasks: a modern server MUST answer these with "method not found".
        assert!(!available("tasks/result", V2026_07_28, Direction::ToServer));
        assert!(!available("tasks/list", V2026_07_28, Direction::ToServer));
    }
}

//! Names of keys and channels.
//!
//! On a cluster the part in braces determines which node has a key. It is the session, the owner or
//! the stream that the key belongs to. So keys are spread over all nodes, and all keys that one
//! script changes are on one node.

use std::{borrow::Cow, sync::Arc};

/// The default prefix of names.
const PREFIX: &str = "turnbuckle:";

/// The prefix of the names of one server.
#[derive(Clone, Debug)]
pub(super) struct Names(Arc<str>);

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
        Self(prefix.into())
    }

    /// The only name of this kind in a group: `turnbuckle:session:{group}`.
    pub(super) fn one(&self, kind: &str, group: &str) -> String {
        format!("{}{kind}:{{{}}}", self.0, escaped(group))
    }

    /// One of several names of this kind in a group: `turnbuckle:task:{group}:id`. All names of a
    /// group are on one node of a cluster.
    pub(super) fn one_of(&self, kind: &str, group: &str, id: &str) -> String {
        format!("{}{kind}:{{{}}}:{id}", self.0, escaped(group))
    }

    /// A name with arbitrary bytes, which belongs to no group.
    pub(super) fn lone(&self, kind: &str, id: &[u8]) -> Vec<u8> {
        let mut name = format!("{}{kind}:", self.0).into_bytes();
        name.extend_from_slice(id);
        name
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::new(PREFIX)
    }
}

/// Escapes braces in a group, because they would end it early. An empty group is replaced, because
/// Redis would ignore it.
fn escaped(group: &str) -> Cow<'_, str> {
    if group.is_empty() {
        return "%".into();
    }
    if !group.contains(['%', '{', '}']) {
        return group.into();
    }
    let group = group.replace('%', "%25");
    group.replace('{', "%7B").replace('}', "%7D").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::slot::slot_of;

    #[test]
    fn names_of_a_group_are_in_one_slot_whatever_the_group_is_called() {
        let names = Names::default();
        for group in ["ada", "", "}", "{", "a}b", "{x}", "%", "é", "a{b}c"] {
            let list = names.one("tasks-of", group);
            let task = names.one_of("task", group, "{other}");
            assert_eq!(slot_of(list.as_bytes()), slot_of(task.as_bytes()), "{task}");
        }
        assert_eq!(names.one("session", "a"), "turnbuckle:session:{a}");
    }

    #[test]
    fn no_two_groups_share_a_name() {
        let names = Names::default();
        let groups = ["", "%", "%25", "{", "%7B", "}", "%7D", "a"];
        let all: std::collections::HashSet<_> =
            groups.iter().map(|group| names.one("k", group)).collect();
        assert_eq!(all.len(), groups.len());
    }

    #[test]
    fn groups_spread_over_the_slots() {
        let names = Names::default();
        let slots: std::collections::HashSet<_> = (0..1000)
            .map(|number| slot_of(names.one("session", &number.to_string()).as_bytes()))
            .collect();
        assert!(slots.len() > 900, "{}", slots.len());
    }
}

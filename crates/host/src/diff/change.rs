//! `Change`: one difference between two snapshots.

use serde::Serialize;

/// What a change means for callers. The order is by severity: breaking first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Callers that worked before may not work now.
    Breaking,
    /// Callers that worked before still work, and more may be possible.
    Compatible,
    /// Only texts for people and models have changed. Programs are not affected.
    Wording,
}

/// One change between two definitions, from [`between`](super::between). It serialises to JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The effect on callers.
    pub effect: Effect,
    /// `tool`, `prompt`, `resource`, `template` or `server`.
    pub kind: &'static str,
    /// The name of the tool or prompt, or the URI of the resource or template; empty for the server.
    pub name: String,
    /// The place of the change within the entry, as a path of names such as `address.city`; empty
    /// for the whole entry.
    pub path: String,
    /// The change, as a clause such as `it is now required`.
    pub what: String,
}

impl Change {
    /// A change that affects an entry as a whole, such as its removal.
    pub fn whole(effect: Effect, kind: &'static str, name: &str, what: impl Into<String>) -> Self {
        Self {
            effect,
            kind,
            name: name.to_owned(),
            path: String::new(),
            what: what.into(),
        }
    }
}

impl Effect {
    /// The word for the effect: `breaking`, `compatible` or `wording`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Compatible => "compatible",
            Self::Wording => "wording",
        }
    }
}

/// The changes found so far.
#[derive(Default)]
pub(super) struct Changes(Vec<Change>);

impl Changes {
    pub(super) fn push(&mut self, change: Change) {
        self.0.push(change);
    }

    /// Returns breaking changes first, otherwise in the order in which they were found.
    pub(super) fn sorted(mut self) -> Vec<Change> {
        self.0.sort_by_key(|change| change.effect);
        self.0
    }
}

/// Collects the changes of one tool, prompt, resource or template.
pub(super) struct Of<'c> {
    pub(super) changes: &'c mut Changes,
    pub(super) kind: &'static str,
    pub(super) name: &'c str,
}

impl Of<'_> {
    pub(super) fn say(&mut self, effect: Effect, path: &str, what: impl Into<String>) {
        self.changes.push(Change {
            effect,
            kind: self.kind,
            name: self.name.to_owned(),
            path: path.to_owned(),
            what: what.into(),
        });
    }
}

//! The questions of a round that have no answer yet.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use turnbuckle_protocol::{InputRequest, InputRequests};

use super::QuestionDraft;

/// The questions without an answer, in the order in which they were first asked and in the form of the
/// client's revision. Serialised, they are the `inputRequests` of a result.
///
/// There are few of them ([`MAX_OPEN_ASKS`](super::MAX_OPEN_ASKS)), so lookups are linear searches.
#[derive(Clone, Debug, Default)]
pub struct OpenAsks(Vec<(String, QuestionDraft)>);

impl OpenAsks {
    /// Returns whether no question is open.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of open questions.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the question under a key is open.
    pub fn contains_key(&self, key: &str) -> bool {
        self.posed(key).is_some()
    }

    /// Returns the keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    /// Returns the question under a key, in the form in which it is sent.
    pub fn get(&self, key: &str) -> Option<InputRequest> {
        self.posed(key).map(QuestionDraft::to_request)
    }

    /// Returns all questions, in the form in which they are sent.
    pub fn to_requests(&self) -> InputRequests {
        let requests = self.0.iter();
        requests
            .map(|(key, posed)| (key.clone(), posed.to_request()))
            .collect()
    }

    pub(super) fn posed(&self, key: &str) -> Option<&QuestionDraft> {
        let found = self.0.iter().find(|(open, _)| open == key);
        found.map(|(_, posed)| posed)
    }

    /// Adds a question under a new key.
    pub(super) fn push(&mut self, key: &str, posed: QuestionDraft) {
        self.0.push((key.to_owned(), posed));
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<QuestionDraft> {
        let index = self.0.iter().position(|(open, _)| open == key)?;
        Some(self.0.remove(index).1)
    }
}

impl Serialize for OpenAsks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, posed) in &self.0 {
            map.serialize_entry(key, posed)?;
        }
        map.end()
    }
}

//! The tags of calls in flight, with which an application assigns questions to its calls.

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::Id;

/// The tags of the calls that have one.
#[derive(Debug, Default)]
pub(crate) struct CallTags(Mutex<Vec<(Id, u64)>>);

/// A call with a tag. Dropping it removes the tag.
#[derive(Debug)]
pub(crate) struct Tagged<'a> {
    tags: &'a CallTags,
    id: Id,
}

impl CallTags {
    /// Tags the call of this request.
    pub(crate) fn enter(&self, id: Id, tag: u64) -> Tagged<'_> {
        self.0.lock().push((id.clone(), tag));
        Tagged { tags: self, id }
    }

    /// Returns the tag of the call of this request.
    pub(crate) fn of(&self, id: &Id) -> Option<u64> {
        let tags = self.0.lock();
        let tagged = tags.iter().find(|(other, _)| other == id)?;
        Some(tagged.1)
    }
}

impl Drop for Tagged<'_> {
    fn drop(&mut self) {
        let mut tags = self.tags.0.lock();
        if let Some(index) = tags.iter().position(|(other, _)| *other == self.id) {
            tags.swap_remove(index);
        }
    }
}

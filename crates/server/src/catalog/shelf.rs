//! One ordered list of the catalog: found by key, listed by page.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use turnbuckle_protocol::{Lower, Revision};

use super::Entry;
use crate::{Caller, Reject};

/// Entries in the order in which they were added. Each has a number that is never given again, so
/// a cursor stays good when others come and go.
pub(crate) struct Shelf<E> {
    entries: Vec<(u64, Arc<E>)>,
    by_key: HashMap<Box<str>, usize>,
    next: u64,
    is_restricted: bool,
    /// The first page as the whole result, by revision. Written for the first client that asks.
    pub(crate) written: [OnceLock<Bytes>; Revision::ALL.len()],
}

/// One page of a list.
pub(crate) struct Page {
    /// The items as a JSON array.
    pub(crate) items: Vec<u8>,
    /// Where the next page starts.
    pub(crate) next: Option<String>,
}

impl<E> Default for Shelf<E> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            by_key: HashMap::new(),
            next: 1,
            is_restricted: false,
            written: Default::default(),
        }
    }
}

impl<E> Clone for Shelf<E> {
    /// The same entries, with nothing written yet.
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            by_key: self.by_key.clone(),
            next: self.next,
            is_restricted: self.is_restricted,
            written: Default::default(),
        }
    }
}

impl<E: Entry> Shelf<E> {
    /// False if the key is taken.
    pub(crate) fn insert(&mut self, entry: Arc<E>) -> bool {
        if self.by_key.contains_key(entry.key()) {
            return false;
        }
        self.by_key.insert(entry.key().into(), self.entries.len());
        self.is_restricted |= entry.is_restricted();
        self.entries.push((self.next, entry));
        self.next += 1;
        true
    }

    /// False if there is no such key.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let Some(index) = self.by_key.remove(key) else {
            return false;
        };
        self.entries.remove(index);
        for place in self.by_key.values_mut().filter(|place| **place > index) {
            *place -= 1;
        }
        self.is_restricted = self.entries.iter().any(|(_, entry)| entry.is_restricted());
        true
    }

    /// The entry with this key, if this caller may see it.
    pub(crate) fn get(&self, key: &str, caller: &Caller) -> Option<&Arc<E>> {
        let (_, entry) = &self.entries[*self.by_key.get(key)?];
        entry.is_visible(caller).then_some(entry)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<E>> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    /// Whether there is or ever was an entry. What was once offered stays so, as an empty list if
    /// need be: a client that was told of it may ask.
    pub(crate) fn is_offered(&self) -> bool {
        self.next > 1
    }

    /// Whether the list differs by caller, so that it cannot be written once for all.
    pub(crate) fn is_restricted(&self) -> bool {
        self.is_restricted
    }

    /// One page for this caller at this revision, of what belongs to extensions those that
    /// `declares` says yes to.
    pub(crate) fn page(
        &self,
        revision: Revision,
        caller: &Caller,
        declares: impl Fn(&str) -> bool,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<Page, Reject> {
        let after = cursor.map_or(Ok(0), |cursor| self.number(cursor))?;
        let start = self.entries.partition_point(|(number, _)| *number <= after);
        let mut visible = self.entries[start..]
            .iter()
            .filter(|(_, entry)| entry.is_visible(caller))
            .filter(|(_, entry)| entry.listed_with().is_none_or(&declares))
            .peekable();
        let mut items = vec![b'['];
        let mut last = after;
        for (number, entry) in visible.by_ref().take(size) {
            if items.len() > 1 {
                items.push(b',');
            }
            let mut wire = entry.wire().clone();
            wire.lower(revision);
            serde_json::to_writer(&mut items, &wire)
                .map_err(|error| crate::Fault::new(error).into_reject())?;
            last = *number;
        }
        items.push(b']');
        let next = visible.peek().map(|_| format!("{}{last}", E::CURSOR));
        Ok(Page { items, next })
    }

    fn number(&self, cursor: &str) -> Result<u64, Reject> {
        cursor
            .strip_prefix(E::CURSOR)
            .and_then(|digits| digits.parse().ok())
            .filter(|number| *number < self.next)
            .ok_or_else(|| Reject::invalid_params("the cursor is not one that this list gave out"))
    }
}

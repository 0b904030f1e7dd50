//! One ordered list of the catalog: found by key, listed by page.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use turnbuckle_protocol::{Lower, Revision};

use super::{
    Entry, Offer,
    cursor::{Cursor, fingerprint},
};
use crate::{Caller, Fault, Reject};

/// The entries in the order in which they were added. Each entry that every caller sees has a
/// number that is never used again, so a cursor stays valid when other entries are added or
/// removed. An entry that only some callers see has no number of its own, because the gap in the
/// numbers would reveal it; it has the number of the entry before it.
pub(crate) struct EntryList<E> {
    entries: Vec<(u64, Arc<E>)>,
    by_key: HashMap<Box<str>, usize>,
    /// The last number that was given to an entry.
    last: u64,
    is_restricted: bool,
    /// Disabled entries. They cannot be found, but their keys stay taken and their positions are
    /// kept.
    disabled: HashMap<Box<str>, (u64, Arc<E>)>,
    /// The first page as a complete result, for each revision. Made when the first client asks for
    /// it.
    pub(crate) written: [OnceLock<Bytes>; Revision::ALL.len()],
}

/// One page of a list.
pub(crate) struct Page {
    /// The entries, as a JSON array.
    pub(crate) items: Vec<u8>,
    /// The cursor of the next page; `None` for the last page.
    pub(crate) next: Option<String>,
}

impl<E> Default for EntryList<E> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            by_key: HashMap::new(),
            last: 0,
            is_restricted: false,
            disabled: HashMap::new(),
            written: Default::default(),
        }
    }
}

impl<E> Clone for EntryList<E> {
    /// Clones the entries, but not the written pages.
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            by_key: self.by_key.clone(),
            last: self.last,
            is_restricted: self.is_restricted,
            disabled: self.disabled.clone(),
            written: Default::default(),
        }
    }
}

impl<E: Entry> EntryList<E> {
    /// Adds an entry at the end. Returns `false` if the key is taken.
    pub(crate) fn insert(&mut self, entry: Arc<E>) -> bool {
        if self.by_key.contains_key(entry.key()) || self.disabled.contains_key(entry.key()) {
            return false;
        }
        self.by_key.insert(entry.key().into(), self.entries.len());
        if entry.is_restricted() {
            self.is_restricted = true;
        } else {
            self.last += 1;
        }
        self.entries.push((self.last, entry));
        true
    }

    /// Replaces the entry with the same key, or adds the entry at the end. A disabled entry stays
    /// disabled.
    pub(crate) fn replace(&mut self, entry: Arc<E>) {
        if let Some((_, disabled)) = self.disabled.get_mut(entry.key()) {
            *disabled = entry;
            return;
        }
        if let Some(index) = self.by_key.get(entry.key()) {
            let (_, old) = &mut self.entries[*index];
            // Whether the entry has its own number depends on who sees it, so it can change with
            // the rule.
            if old.is_restricted() == entry.is_restricted() {
                *old = entry;
                return;
            }
            self.take(entry.key());
        }
        self.insert(entry);
    }

    /// Removes an entry. Returns `false` if no entry has this key.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        self.disabled.remove(key).is_some() || self.take(key).is_some()
    }

    /// Disables an entry. Returns `false` if no enabled entry has this key.
    pub(crate) fn disable(&mut self, key: &str) -> bool {
        let taken = self.take(key);
        let is_there = taken.is_some();
        if let Some(numbered) = taken {
            self.disabled.insert(key.into(), numbered);
        }
        is_there
    }

    /// Enables an entry again, at its old position. Returns `false` if no disabled entry has this
    /// key.
    pub(crate) fn enable(&mut self, key: &str) -> bool {
        let Some((number, entry)) = self.disabled.remove(key) else {
            return false;
        };
        let is_restricted = entry.is_restricted();
        // An entry without its own number comes after the entry whose number it has.
        let index = self
            .entries
            .partition_point(|(other, _)| *other < number || *other == number && is_restricted);
        for place in self.by_key.values_mut().filter(|place| **place >= index) {
            *place += 1;
        }
        self.by_key.insert(key.into(), index);
        self.is_restricted |= is_restricted;
        self.entries.insert(index, (number, entry));
        true
    }

    fn take(&mut self, key: &str) -> Option<(u64, Arc<E>)> {
        let index = self.by_key.remove(key)?;
        let taken = self.entries.remove(index);
        for place in self.by_key.values_mut().filter(|place| **place > index) {
            *place -= 1;
        }
        self.is_restricted = self.entries.iter().any(|(_, entry)| entry.is_restricted());
        Some(taken)
    }

    /// Returns the entry with this key, if this caller may see it.
    pub(crate) fn get(&self, key: &str, caller: &Caller) -> Option<&Arc<E>> {
        let (_, entry) = &self.entries[*self.by_key.get(key)?];
        entry.is_visible(caller).then_some(entry)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<E>> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    /// Returns the parts of the server that this caller sees because of entries with a visibility
    /// rule. `fillable` is added for handlers that take the catalog.
    pub(crate) fn offer_of_hidden(&self, caller: &Caller, fillable: Offer) -> Offer {
        let seen = self.iter().filter(|entry| entry.visible().is_some());
        let mut offer = Offer::default();
        for entry in seen {
            let mut own = entry.offer();
            if entry.changes_catalog() {
                own |= fillable;
            }
            // If the rule panics, it is unknown whether the caller sees the entry. Then the part is
            // declared: a request that uses the entry fails with the panic, but the handshake does
            // not.
            match Fault::caught(|| entry.is_visible(caller)) {
                Ok(true) => offer |= own,
                Ok(false) => {}
                Err(fault) => {
                    fault.into_reject(); // Logs it.
                    offer |= own;
                }
            }
        }
        offer
    }

    /// Whether the list differs by caller, so that a written page cannot be shared.
    pub(crate) fn is_restricted(&self) -> bool {
        self.is_restricted
    }

    /// Returns one page for this caller in this revision. Entries of an extension are included if
    /// `declares` returns `true` for that extension.
    pub(crate) fn page(
        &self,
        revision: Revision,
        caller: &Caller,
        declares: impl Fn(&str) -> bool,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<Page, Reject> {
        let mut items = vec![b'['];
        let next = self.each_of_page(caller, declares, cursor, size, |entry| {
            if items.len() > 1 {
                items.push(b',');
            }
            let mut wire = entry.wire().clone();
            wire.lower(revision);
            serde_json::to_writer(&mut items, &wire)
                .map_err(|error| Fault::new(error).into_reject())
        })?;
        items.push(b']');
        Ok(Page { items, next })
    }

    /// Returns one page for this caller as values, and the cursor of the next page.
    pub(crate) fn wires(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<(Vec<E::Wire>, Option<String>), Reject> {
        let mut wires = Vec::new();
        let next = self.each_of_page(
            caller,
            |_| true,
            cursor,
            size,
            |entry| {
                wires.push(entry.wire().clone());
                Ok(())
            },
        )?;
        Ok((wires, next))
    }

    /// Calls `visit` for each entry of a page, and returns the cursor of the next page.
    fn each_of_page(
        &self,
        caller: &Caller,
        declares: impl Fn(&str) -> bool,
        cursor: Option<&str>,
        size: usize,
        mut visit: impl FnMut(&E) -> Result<(), Reject>,
    ) -> Result<Option<String>, Reject> {
        let is_seen = |(_, entry): &&(u64, Arc<E>)| {
            entry.is_visible(caller) && entry.listed_with().is_none_or(&declares)
        };
        let start = match cursor {
            Some(cursor) => self.after(&self.read(cursor)?, is_seen),
            None => 0,
        };
        let mut seen = self.entries[start..].iter().filter(is_seen).peekable();
        let mut last = None;
        for (number, entry) in seen.by_ref().take(size) {
            visit(entry)?;
            last = Some((*number, entry));
        }
        Ok(seen.peek().and(last).map(|(number, entry)| {
            let restricted = entry.is_restricted().then(|| fingerprint(entry.key()));
            Cursor { number, restricted }.write(E::CURSOR)
        }))
    }

    /// Returns the index of the first entry after a cursor.
    fn after(&self, cursor: &Cursor, is_seen: impl Fn(&&(u64, Arc<E>)) -> bool) -> usize {
        let number = cursor.number;
        // Entries without their own number come after the entry whose number they have.
        let start = self.entries.partition_point(|(other, entry)| {
            *other < number || *other == number && !entry.is_restricted()
        });
        let Some(restricted) = cursor.restricted else {
            return start;
        };
        // If the entry was removed, or the caller may no longer see it, the page begins after the
        // entry with the cursor's number.
        let group = self.entries[start..].iter();
        let group = group.take_while(|(other, _)| *other == number);
        let found = group
            .enumerate()
            .filter(|(_, entry)| is_seen(entry))
            .find(|(_, (_, entry))| fingerprint(entry.key()) == restricted);
        found.map_or(start, |(index, _)| start + index + 1)
    }

    fn read(&self, cursor: &str) -> Result<Cursor, Reject> {
        Cursor::read(cursor, E::CURSOR)
            .filter(|cursor| cursor.number <= self.last)
            .ok_or_else(|| Reject::invalid_params(
                "invalid cursor: send a `nextCursor` of this list, or start again without a cursor"
            ))
    }
}

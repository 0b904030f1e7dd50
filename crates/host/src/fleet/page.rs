//! One page of a list: its entries, and the text of each as the server wrote it.

use std::{
    borrow::Cow,
    fmt,
    marker::PhantomData,
    ops::Range,
    sync::{Arc, OnceLock},
};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// How many entries of one list are kept. No model can choose among more.
pub(super) const MAX_ENTRIES: usize = 2_000;

/// A page as the server wrote it. The positions of its entries are found when the text of one is
/// first needed: a host that lists tools for a model never needs it.
#[derive(Debug)]
pub(super) struct PageText {
    raw: Arc<RawValue>,
    /// The member that contains the entries.
    member: &'static str,
    spans: OnceLock<Vec<Range<usize>>>,
}

impl PageText {
    pub(super) fn new(raw: Arc<RawValue>, member: &'static str) -> Self {
        Self {
            raw,
            member,
            spans: OnceLock::new(),
        }
    }

    pub(super) fn get(&self) -> &str {
        self.raw.get()
    }

    /// The text of one entry.
    pub(super) fn entry(&self, index: usize) -> &str {
        let spans = self.spans.get_or_init(|| spans(self.get(), self.member));
        let span = spans.get(index).cloned();
        span.and_then(|span| self.get().get(span))
            .unwrap_or_default()
    }
}

/// The positions of the entries in the text of a page.
fn spans(text: &str, member: &'static str) -> Vec<Range<usize>> {
    let page = Page::<Vec<&RawValue>>::read(text, member);
    let entries = page.map(|page| page.entries).unwrap_or_default();
    let spans = entries.into_iter().map(|entry| {
        // The entry is borrowed from the page, so its position is the distance between the two pointers.
        let start = entry.get().as_ptr() as usize - text.as_ptr() as usize;
        start..start + entry.get().len()
    });
    spans.collect()
}

/// A page, with its entries as type `E`. The other members are not parsed yet.
pub(super) struct Page<'a, E> {
    pub(super) entries: E,
    pub(super) next_cursor: Option<&'a RawValue>,
    pub(super) ttl_ms: Option<&'a RawValue>,
    pub(super) cache_scope: Option<&'a RawValue>,
}

impl<'a, E: Deserialize<'a> + Default> Page<'a, E> {
    /// Reads a page whose entries are in this member. Other members may have any name, because
    /// results are open.
    pub(super) fn read(text: &'a str, member: &'static str) -> Result<Self, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let page = (&mut deserializer).deserialize_map(PageVisitor {
            member,
            entries: PhantomData,
        })?;
        deserializer.end()?;
        Ok(page)
    }
}

struct PageVisitor<E> {
    member: &'static str,
    entries: PhantomData<E>,
}

impl<'de, E: Deserialize<'de> + Default> Visitor<'de> for PageVisitor<E> {
    type Value = Page<'de, E>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Page<'de, E>, A::Error> {
        let mut page = Page {
            entries: E::default(),
            next_cursor: None,
            ttl_ms: None,
            cache_scope: None,
        };
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match &*name {
                name if name == self.member => page.entries = map.next_value()?,
                "nextCursor" => page.next_cursor = Some(map.next_value()?),
                "ttlMs" => page.ttl_ms = Some(map.next_value()?),
                "cacheScope" => page.cache_scope = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(page)
    }
}

/// The entries of a page that can all be parsed. At most the entry limit of a list is kept.
pub(super) struct Entries<T> {
    pub(super) read: Vec<Arc<T>>,
    /// How many more entries the page has.
    pub(super) left_out: usize,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            left_out: 0,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Entries<T>, A::Error> {
        let mut entries = Entries::default();
        while let Some(entry) = sequence.next_element()? {
            entries.read.push(Arc::new(entry));
            if entries.read.len() == MAX_ENTRIES {
                while sequence.next_element::<IgnoredAny>()?.is_some() {
                    entries.left_out += 1;
                }
                break;
            }
        }
        Ok(entries)
    }
}

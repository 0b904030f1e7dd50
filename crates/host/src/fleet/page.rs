//! One page of a list: its entries, and the text of each as the server wrote it.

use std::{
    fmt,
    marker::PhantomData,
    ops::Range,
    sync::{Arc, OnceLock},
};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use turnbuckle_protocol::CacheScope;

/// How many entries of one list are kept. No model chooses among more.
pub(super) const MAX_ENTRIES: usize = 2_000;

/// A page as the server wrote it. Where its entries begin and end is found when the text of one is
/// needed first: a host that lists tools for a model never needs it.
#[derive(Debug)]
pub(super) struct PageText {
    raw: Arc<RawValue>,
    spans: OnceLock<Vec<Range<usize>>>,
}

impl PageText {
    pub(super) fn new(raw: Arc<RawValue>) -> Self {
        Self {
            raw,
            spans: OnceLock::new(),
        }
    }

    pub(super) fn get(&self) -> &str {
        self.raw.get()
    }

    /// The text of an entry.
    pub(super) fn entry(&self, index: usize) -> &str {
        let spans = self.spans.get_or_init(|| spans(self.get()));
        let span = spans.get(index).cloned();
        span.and_then(|span| self.get().get(span))
            .unwrap_or_default()
    }
}

/// Where the entries of a page are in its text.
fn spans(text: &str) -> Vec<Range<usize>> {
    let page: Result<OddPage<'_>, _> = serde_json::from_str(text);
    let entries = page.map(|page| page.entries).unwrap_or_default();
    let spans = entries.into_iter().map(|entry| {
        // The entry is borrowed from the page, so its place there is the distance between the two.
        let start = entry.get().as_ptr() as usize - text.as_ptr() as usize;
        start..start + entry.get().len()
    });
    spans.collect()
}

/// A page, with its entries in one form or another.
#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    bound(deserialize = "E: Deserialize<'de> + Default")
)]
pub(super) struct Page<E> {
    #[serde(
        default,
        alias = "tools",
        alias = "prompts",
        alias = "resources",
        alias = "resourceTemplates"
    )]
    pub(super) entries: E,
    pub(super) next_cursor: Option<String>,
    pub(super) ttl_ms: Option<f64>,
    pub(super) cache_scope: Option<CacheScope>,
}

/// A page of which not everything can be read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OddPage<'a> {
    #[serde(
        borrow,
        default,
        alias = "tools",
        alias = "prompts",
        alias = "resources",
        alias = "resourceTemplates"
    )]
    pub(super) entries: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) next_cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) ttl_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) cache_scope: Option<&'a RawValue>,
}

/// The entries of a page, each of which can be read. There are no more of them than a list has.
pub(super) struct Entries<T>(pub(super) Vec<Arc<T>>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
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
        let mut entries = Vec::new();
        while let Some(entry) = sequence.next_element()? {
            entries.push(Arc::new(entry));
            if entries.len() == MAX_ENTRIES {
                while sequence.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
        }
        Ok(Entries(entries))
    }
}

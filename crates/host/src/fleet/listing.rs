//! The lists of one server: read page by page, each entry kept as the server wrote it.
//!
//! An entry that cannot be read is left out and reported; the others are kept. The original text of
//! each entry is kept too, so that a gateway can pass it on.

use std::{
    collections::{HashMap, HashSet},
    hash::{Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use turnbuckle_client::{CallError, Connection};
use turnbuckle_protocol::{CacheScope, lenient};

use super::aside;
use super::kind::Kind;
use super::page::{Entries, MAX_ENTRIES, Page, PageText};

/// How many pages of one list are read, to stop at a server that returns pages without end.
const MAX_PAGES: usize = 200;

/// How many bytes of one list are kept. Two thousand tools with 4 KiB each fit.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// A page of at least this many bytes takes long enough to parse to delay other tasks.
const LONG_BYTES: usize = 64 * 1024;

/// How many problems of one list are reported. The first ones are enough to show what is wrong.
const MAX_PROBLEMS: usize = 50;

/// How long reading one page may take. Listing is cheap; a server that needs longer hangs.
const PAGE_DEADLINE: Duration = Duration::from_secs(20);

/// An entry of a list, and its original text.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The parsed entry.
    pub value: Arc<T>,
    page: Arc<PageText>,
    /// Its position among the entries of the page.
    index: usize,
}

impl<T> Listed<T> {
    /// The entry as the server wrote it.
    pub fn text(&self) -> &str {
        self.page.entry(self.index)
    }
}

/// One list of a server, such as its tools.
#[derive(Clone, Debug)]
pub struct List<T> {
    /// Its entries.
    pub entries: Vec<Listed<T>>,
    /// The problems found in the list, such as entries that were left out, with the reason.
    pub problems: Vec<String>,
    /// How many further problems were not recorded, because there were too many.
    unreported: usize,
    /// How many entries of the read pages were left out, because the list reached its limit.
    pub left_out: usize,
    /// The pages that were read.
    pages: Vec<Arc<PageText>>,
    is_whole: bool,
    /// How long the list stays fresh, if the server says so: the shortest time of its pages.
    pub ttl: Option<Duration>,
    /// Who may share the cached list: the narrowest scope of its pages.
    pub scope: Option<CacheScope>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            problems: Vec::new(),
            unreported: 0,
            left_out: 0,
            pages: Vec::new(),
            is_whole: false,
            ttl: None,
            scope: None,
        }
    }
}

impl<T> List<T> {
    /// Whether another list is equal, byte for byte.
    pub(super) fn is_same(&self, other: &Self) -> bool
    where
        T: Kind,
    {
        if std::ptr::eq(self, other) {
            return true;
        }
        let mut pairs = self.entries.iter().zip(&other.entries);
        self.entries.len() == other.entries.len()
            && self.problems == other.problems
            // Comparing names is cheaper than finding the texts.
            && pairs.clone().all(|(one, other)| one.value.key() == other.value.key())
            && pairs.all(|(one, other)| one.text() == other.text())
    }

    /// Whether the list consists of this page alone.
    fn is_page(&self, page: &RawValue) -> bool {
        let only = self.pages.first().filter(|_| self.pages.len() == 1);
        self.is_whole && only.is_some_and(|only| only.get() == page.get())
    }

    pub(super) fn report(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem());
        } else {
            self.unreported += 1;
        }
    }

    /// Completes the list. `reason` says why reading stopped before the end of the list, if it did.
    fn end(mut self, reason: Option<String>) -> Arc<Self>
    where
        T: Kind,
    {
        if self.left_out > 0 {
            // Insert it first, so that it is among the problems that are logged.
            let problem = format!(
                "{} {}s are left out: the first {MAX_ENTRIES} of a list are kept",
                self.left_out,
                T::NOUN
            );
            self.problems.insert(0, problem);
        }
        if self.unreported > 0 {
            let more = format!("{} more problems like these", self.unreported);
            self.problems.push(more);
        }
        self.is_whole = reason.is_none();
        self.problems.extend(reason);
        Arc::new(self)
    }
}

/// Reads a whole list. If it is unchanged, the previous list is returned without parsing it again.
///
/// # Errors
/// [`CallError`] if a page cannot be read or is malformed.
pub(crate) async fn read<T: Kind>(
    connection: &Connection,
    before: &Arc<List<T>>,
) -> Result<Arc<List<T>>, CallError> {
    let mut list = List::default();
    let mut seen = HashSet::new();
    let mut names = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let params = cursor.as_ref().map(|cursor| {
            let params = serde_json::json!({ "cursor": cursor });
            serde_json::value::to_raw_value(&params).expect("a text is JSON")
        });
        let raw = connection
            .request_raw(T::METHOD, params)
            .deadline(PAGE_DEADLINE)
            .await?;
        if cursor.is_none() && before.is_page(&raw) {
            return Ok(before.clone());
        }
        bytes += raw.get().len();
        if bytes > MAX_BYTES {
            let reason = format!(
                "more than {MAX_BYTES} bytes of {}s; the rest is left out",
                T::NOUN
            );
            return Ok(list.end(Some(reason)));
        }
        let raw: Arc<RawValue> = raw.into();
        let taken = if raw.get().len() < LONG_BYTES {
            take_page(&mut list, &mut names, &raw)
        } else {
            aside(|| take_page(&mut list, &mut names, &raw))
        };
        cursor = taken.map_err(|source| CallError::Malformed {
            server: connection.server().name().into(),
            method: T::METHOD.into(),
            source,
        })?;
        match &cursor {
            None => return Ok(list.end(None)),
            Some(_) if list.entries.len() >= MAX_ENTRIES => {
                let reason = format!("more than {MAX_ENTRIES} {}s; the rest is left out", T::NOUN);
                return Ok(list.end(Some(reason)));
            }
            Some(next) if !seen.insert(next.clone()) => {
                let reason = format!("the pages of the list of {}s repeat", T::NOUN);
                return Ok(list.end(Some(reason)));
            }
            Some(_) => {}
        }
    }
    let reason = format!("the list of {}s has more than {MAX_PAGES} pages", T::NOUN);
    Ok(list.end(Some(reason)))
}

/// Adds a page to a list, and returns the cursor of the next page.
pub(super) fn take_page<T: Kind>(
    list: &mut List<T>,
    names: &mut HashSet<ByKey<T>>,
    raw: &Arc<RawValue>,
) -> Result<Option<String>, serde_json::Error> {
    let text = Arc::new(PageText::new(raw.clone(), T::MEMBER));
    list.pages.push(text.clone());
    // Most pages can be parsed as a whole. Only a page that fails is parsed entry by entry.
    let read = Page::<Entries<T>>::read(raw.get(), T::MEMBER);
    let (next, ttl, scope) = if let Ok(page) = read {
        list.left_out += page.entries.left_out;
        for (index, value) in page.entries.read.into_iter().enumerate() {
            list.add(names, &text, index, value);
        }
        (page.next_cursor, page.ttl_ms, page.cache_scope)
    } else {
        let page = Page::<Vec<&RawValue>>::read(raw.get(), T::MEMBER)?;
        for (index, entry) in page.entries.iter().enumerate() {
            if list.entries.len() >= MAX_ENTRIES {
                list.left_out += page.entries.len() - index;
                break;
            }
            match serde_json::from_str(entry.get()) {
                Ok(value) => list.add(names, &text, index, Arc::new(value)),
                Err(error) => list.mend(names, entry, &error),
            }
        }
        (page.next_cursor, page.ttl_ms, page.cache_scope)
    };
    let next = list.member("nextCursor", next);
    let ttl: Option<f64> = list.member("ttlMs", ttl);
    let scope = list.member("cacheScope", scope);
    if let Some(ttl) = ttl.filter(|ttl| *ttl >= 0.0) {
        let ttl = Duration::try_from_secs_f64(ttl / 1_000.0).unwrap_or(Duration::MAX);
        list.ttl = Some(list.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
    }
    if let Some(scope) = scope {
        let narrowest = list.scope.filter(|known| *known == CacheScope::Private);
        list.scope = narrowest.or(Some(scope));
    }
    Ok(next)
}

impl<T> List<T> {
    /// Adds the readable part of a malformed entry, and reports the rest. The entry's text is
    /// written anew, because the original text would be invalid for others too.
    fn mend(&mut self, names: &mut HashSet<ByKey<T>>, entry: &RawValue, error: &serde_json::Error)
    where
        T: Kind,
    {
        let alone = format!(r#"{{"{}":[{}]}}"#, T::MEMBER, entry.get());
        let mended = lenient::mend::<HashMap<String, Vec<T>>>(T::METHOD, &alone);
        let (value, warnings) = match mended {
            Some((mut page, warnings)) => (page.get_mut(T::MEMBER).and_then(Vec::pop), warnings),
            None => (None, Vec::new()),
        };
        let named = name_of(entry).unwrap_or_else(|| "without a name".to_owned());
        let Some(value) = value else {
            return self.report(|| format!("left out a {} ({named}): {error}", T::NOUN));
        };
        let first = format!("/{}/0", T::MEMBER);
        for warning in warnings {
            self.report(|| {
                let place = warning.pointer.strip_prefix(&first).unwrap_or_default();
                let place = if place.is_empty() {
                    String::new()
                } else {
                    format!("`{place}`: ")
                };
                format!("{} {named}: {place}{}", T::NOUN, warning.problem)
            });
        }
        let written = serde_json::json!({ T::MEMBER: [&value] });
        if let Ok(raw) = serde_json::value::to_raw_value(&written) {
            let page = Arc::new(PageText::new(raw.into(), T::MEMBER));
            self.add(names, &page, 0, Arc::new(value));
        }
    }

    /// Reads a member of a page other than its entries. A malformed member is reported and gives `None`.
    fn member<V: DeserializeOwned>(&mut self, name: &str, raw: Option<&RawValue>) -> Option<V>
    where
        T: Kind,
    {
        match serde_json::from_str::<Option<V>>(raw?.get()) {
            Ok(value) => value,
            Err(error) => {
                self.report(|| format!("`{name}` of the list of {}s: {error}; left out", T::NOUN));
                None
            }
        }
    }

    /// Adds an entry, unless it has no name or the same name as another one.
    fn add(
        &mut self,
        names: &mut HashSet<ByKey<T>>,
        page: &Arc<PageText>,
        index: usize,
        value: Arc<T>,
    ) where
        T: Kind,
    {
        if self.entries.len() >= MAX_ENTRIES {
            self.left_out += 1;
            return;
        }
        if value.key().is_empty() {
            self.report(|| format!("left out a {} without a name", T::NOUN));
        } else if names.insert(ByKey(value.clone())) {
            self.entries.push(Listed {
                value,
                page: page.clone(),
                index,
            });
        } else {
            self.report(|| {
                format!(
                    "left out the second {} `{}`",
                    T::NOUN,
                    shortened(value.key())
                )
            });
        }
    }
}

fn name_of(entry: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let named: Named = serde_json::from_str(entry.get()).ok()?;
    Some(format!("`{}`", shortened(&named.name)))
}

/// A name from a server, shortened for reports.
fn shortened(name: &str) -> String {
    name.chars().take(80).collect()
}

/// An entry that is compared and hashed by its key.
pub(super) struct ByKey<T>(Arc<T>);

impl<T: Kind> PartialEq for ByKey<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl<T: Kind> Eq for ByKey<T> {}

impl<T: Kind> Hash for ByKey<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{Prompt, Tool};

    use super::*;

    fn page(text: &str) -> Arc<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap().into()
    }

    #[test]
    fn entries_keep_their_text_and_a_broken_one_is_left_out() {
        let good = r#"{"name":"a",  "inputSchema":{"type":"object"}, "x-own": [1, 2]}"#;
        let text = format!(
            r#"{{"tools":[{good},{{"name":7}},{{"name":"b"}},{good}],"nextCursor":"n","ttlMs":5}}"#
        );
        let mut list = List::<Tool>::default();
        let next = take_page(&mut list, &mut HashSet::new(), &page(&text)).unwrap();
        assert_eq!(next.as_deref(), Some("n"));
        assert_eq!(list.entries.len(), 2);
        assert_eq!(list.entries[0].text(), good);
        let mended = r#"{"name":"b","inputSchema":{"type":"object"}}"#;
        assert_eq!(list.entries[1].text(), mended);
        assert_eq!(list.ttl, Some(Duration::from_millis(5)));
        assert_eq!(list.problems.len(), 3, "{:?}", list.problems);
        assert!(list.problems[1].contains("`b`"), "{:?}", list.problems);
        assert!(list.problems[2].contains("second"), "{:?}", list.problems);
    }

    #[test]
    fn odd_members_lose_neither_their_entries_nor_the_list() {
        let text = r#"{"tools":[
            {"name":"a","inputSchema":{},"execution":"x"},
            {"name":"b","inputSchema":{},"icons":{},"_meta":[],"description":{}},
            {"name":"c","inputSchema":{},"annotations":[]}
        ],"nextCursor":5,"ttlMs":"long","cacheScope":7}"#;
        let mut list = List::<Tool>::default();
        let next = take_page(&mut list, &mut HashSet::new(), &page(text)).unwrap();
        assert_eq!(next, None);
        let names: Vec<_> = list.entries.iter().map(|tool| &*tool.value.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(list.entries[1].text(), r#"{"name":"b","inputSchema":{}}"#);
        assert_eq!(list.problems.len(), 8, "{:?}", list.problems);
        assert_eq!((list.ttl, list.scope), (None, None));
    }

    #[test]
    fn members_beside_the_entries_may_have_any_name() {
        let tool = r#"{"name":"a","inputSchema":{}}"#;
        for other in [
            r#""prompts":[]"#,
            r#""resources":{}"#,
            r#""entries":7"#,
            r#""tools":[],"nextCursor":"m""#,
        ] {
            let text = format!(r#"{{{other},"tools":[{tool}],"nextCursor":"n"}}"#);
            let mut list = List::<Tool>::default();
            let next = take_page(&mut list, &mut HashSet::new(), &page(&text)).unwrap();
            assert_eq!(next.as_deref(), Some("n"), "{other}");
            assert_eq!(list.problems, Vec::<String>::new(), "{other}");
            assert_eq!(list.entries.len(), 1, "{other}");
            assert_eq!(list.entries[0].text(), tool, "{other}");
        }
    }

    #[test]
    fn a_page_of_nonsense_is_reported_in_few_lines() {
        let text = format!(r#"{{"tools":[{}7]}}"#, "7,".repeat(10_000));
        let mut list = List::<Tool>::default();
        take_page(&mut list, &mut HashSet::new(), &page(&text)).unwrap();
        let list = list.end(None);
        assert_eq!(list.problems.len(), MAX_PROBLEMS + 1);
        assert_eq!(list.problems[MAX_PROBLEMS], "9951 more problems like these");
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let tool = |number: usize| format!(r#"{{"name":"t{number}","inputSchema":{{}}}}"#);
        let tools = |count: usize| (0..count).map(tool).collect::<Vec<_>>().join(",");
        for (more, left_out) in [("", 23), (r#",{"name":"odd","icons":7}"#, 24)] {
            let text = format!(r#"{{"tools":[{}{more}]}}"#, tools(MAX_ENTRIES + 23));
            let mut list = List::<Tool>::default();
            take_page(&mut list, &mut HashSet::new(), &page(&text)).unwrap();
            let list = list.end(None);
            assert_eq!(list.entries.len(), MAX_ENTRIES);
            let told = format!("{left_out} tools are left out");
            assert!(list.problems[0].starts_with(&told), "{:?}", list.problems);
        }
        let mut list = List::<Tool>::default();
        let text = format!(r#"{{"tools":[{}]}}"#, tools(MAX_ENTRIES));
        take_page(&mut list, &mut HashSet::new(), &page(&text)).unwrap();
        assert!(list.end(None).problems.is_empty());
    }

    #[test]
    fn the_shortest_time_and_the_narrowest_scope_count() {
        let mut list = List::<Prompt>::default();
        for text in [
            r#"{"prompts":[],"ttlMs":900,"cacheScope":"private"}"#,
            r#"{"prompts":[],"ttlMs":100,"cacheScope":"public"}"#,
            r#"{"prompts":[],"ttlMs":500,"cacheScope":"public"}"#,
        ] {
            take_page(&mut list, &mut HashSet::new(), &page(text)).unwrap();
        }
        assert_eq!(list.ttl, Some(Duration::from_millis(100)));
        assert_eq!(list.scope, Some(CacheScope::Private));
    }
}

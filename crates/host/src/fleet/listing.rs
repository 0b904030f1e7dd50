//! The lists of one server: read page by page, each entry kept as the server wrote it.
//!
//! An entry that cannot be read is left out and reported; the others stay. Entries are not
//! written anew: a gateway can pass on the original text.

use std::{collections::HashSet, ops::Range, sync::Arc, time::Duration};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use turnbuckle_client::{CallError, Connection};
use turnbuckle_protocol::{CacheScope, Prompt, Resource, ResourceTemplate, Tool};

/// How many entries of one list are kept. No model chooses among more.
const MAX_ENTRIES: usize = 2_000;

/// How many pages of one list are read: a server that makes up pages without end is stopped.
const MAX_PAGES: usize = 200;

/// How long one page may take. A list is no work; a server that needs longer hangs.
const PAGE_DEADLINE: Duration = Duration::from_secs(20);

/// Something that servers list.
pub(crate) trait Kind: DeserializeOwned + Send + Sync + 'static {
    const METHOD: &'static str;
    /// The word for it in reports.
    const NOUN: &'static str;

    /// What tells it from the others of its list.
    fn key(&self) -> &str;
}

impl Kind for Tool {
    const METHOD: &'static str = "tools/list";
    const NOUN: &'static str = "tool";

    fn key(&self) -> &str {
        &self.name
    }
}

impl Kind for Prompt {
    const METHOD: &'static str = "prompts/list";
    const NOUN: &'static str = "prompt";

    fn key(&self) -> &str {
        &self.name
    }
}

impl Kind for Resource {
    const METHOD: &'static str = "resources/list";
    const NOUN: &'static str = "resource";

    fn key(&self) -> &str {
        &self.uri
    }
}

impl Kind for ResourceTemplate {
    const METHOD: &'static str = "resources/templates/list";
    const NOUN: &'static str = "resource template";

    fn key(&self) -> &str {
        &self.uri_template
    }
}

/// An entry of a list, and its text.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// What it says.
    pub value: Arc<T>,
    page: Arc<RawValue>,
    span: Range<usize>,
}

impl<T> Listed<T> {
    /// The entry as the server wrote it.
    pub fn text(&self) -> &str {
        self.page.get().get(self.span.clone()).unwrap_or_default()
    }
}

/// One list of a server.
#[derive(Clone, Debug)]
pub struct List<T> {
    /// Its entries.
    pub entries: Vec<Listed<T>>,
    /// What was left out, and why.
    pub problems: Vec<String>,
    /// For how long it is fresh, if the server says so: the shortest of its pages.
    pub ttl: Option<Duration>,
    /// Who may share it: the narrowest of its pages.
    pub scope: Option<CacheScope>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            problems: Vec::new(),
            ttl: None,
            scope: None,
        }
    }
}

impl<T> List<T> {
    /// Whether another list says the same, to the byte.
    pub fn is_same(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self.problems == other.problems
            && self
                .entries
                .iter()
                .zip(&other.entries)
                .all(|(one, other)| one.text() == other.text())
    }
}

/// One page, with its entries unread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(
        borrow,
        default,
        alias = "tools",
        alias = "prompts",
        alias = "resources",
        alias = "resourceTemplates"
    )]
    entries: Vec<&'a RawValue>,
    next_cursor: Option<String>,
    ttl_ms: Option<f64>,
    cache_scope: Option<CacheScope>,
}

/// Reads a whole list.
///
/// # Errors
/// If a page cannot be had, or is no page.
pub(crate) async fn read<T: Kind>(connection: &Connection) -> Result<List<T>, CallError> {
    let mut list = List::default();
    let mut seen = HashSet::new();
    let mut names = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.as_ref().map(|cursor| {
            let params = serde_json::json!({ "cursor": cursor });
            serde_json::value::to_raw_value(&params).expect("a text is JSON")
        });
        let raw = connection
            .request_raw(T::METHOD, params)
            .deadline(PAGE_DEADLINE)
            .await?;
        let raw: Arc<RawValue> = raw.into();
        cursor = take_page(&mut list, &mut names, &raw).map_err(|source| CallError::Malformed {
            server: connection.server().name().into(),
            method: T::METHOD.into(),
            source,
        })?;
        match &cursor {
            None => return Ok(list),
            Some(_) if list.entries.len() >= MAX_ENTRIES => {
                let problem = format!("more than {MAX_ENTRIES} {}s; the rest is left out", T::NOUN);
                list.problems.push(problem);
                return Ok(list);
            }
            Some(next) if !seen.insert(next.clone()) => {
                let problem = format!("the list of {}s leads in a circle", T::NOUN);
                list.problems.push(problem);
                return Ok(list);
            }
            Some(_) => {}
        }
    }
    let problem = format!("the list of {}s has more than {MAX_PAGES} pages", T::NOUN);
    list.problems.push(problem);
    Ok(list)
}

/// Adds a page to a list, and says where the next one starts.
pub(super) fn take_page<T: Kind>(
    list: &mut List<T>,
    names: &mut HashSet<String>,
    raw: &Arc<RawValue>,
) -> Result<Option<String>, serde_json::Error> {
    let text = raw.get();
    let page: Page<'_> = serde_json::from_str(text)?;
    for entry in page.entries {
        if list.entries.len() >= MAX_ENTRIES {
            break;
        }
        let value: T = match serde_json::from_str(entry.get()) {
            Ok(value) => value,
            Err(error) => {
                let named = name_of(entry).unwrap_or_else(|| "without a name".to_owned());
                list.problems
                    .push(format!("left out a {} ({named}): {error}", T::NOUN));
                continue;
            }
        };
        if value.key().is_empty() {
            list.problems
                .push(format!("left out a {} without a name", T::NOUN));
            continue;
        }
        if !names.insert(value.key().to_owned()) {
            let name = value.key();
            list.problems
                .push(format!("left out the second {} `{name}`", T::NOUN));
            continue;
        }
        // The entry is borrowed from the page, so its place there is the distance between the two.
        let start = entry.get().as_ptr() as usize - text.as_ptr() as usize;
        list.entries.push(Listed {
            value: Arc::new(value),
            page: raw.clone(),
            span: start..start + entry.get().len(),
        });
    }
    if let Some(ttl) = page.ttl_ms.filter(|ttl| *ttl >= 0.0) {
        let ttl = Duration::try_from_secs_f64(ttl / 1_000.0).unwrap_or(Duration::MAX);
        list.ttl = Some(list.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
    }
    if let Some(scope) = page.cache_scope {
        let narrowest = list.scope.filter(|known| *known == CacheScope::Private);
        list.scope = narrowest.or(Some(scope));
    }
    Ok(page.next_cursor)
}

fn name_of(entry: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let named: Named = serde_json::from_str(entry.get()).ok()?;
    Some(format!(
        "`{}`",
        named.name.chars().take(80).collect::<String>()
    ))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(list.entries.len(), 1);
        assert_eq!(list.entries[0].text(), good);
        assert_eq!(list.ttl, Some(Duration::from_millis(5)));
        assert_eq!(list.problems.len(), 3, "{:?}", list.problems);
        assert!(list.problems[1].contains("`b`"), "{:?}", list.problems);
        assert!(list.problems[2].contains("second"), "{:?}", list.problems);
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

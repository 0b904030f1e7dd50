//! The merged lists of all servers, and a table with the server of each entry.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write,
    sync::Arc,
    time::Duration,
};

use indexmap::IndexMap;
use serde_json::Value;
use turnbuckle_base::lock::Mutex;
use turnbuckle_host::ServerId;
use turnbuckle_protocol::{JsonObject, Revision, envelope::RawText, http::ParamHeaders};
use turnbuckle_server::Reject;
use turnbuckle_uri_template::Template;

use super::{Kind, merge::Source};
use crate::{
    lock::LockKind,
    operation::{EntryKind, SeenEntries},
    translate,
};

/// How many entries of a list one page contains.
const PAGE: usize = 1_000;

/// An entry of a list.
pub(crate) struct Entry {
    pub(crate) server: ServerId,
    /// The server's own name for it.
    pub(crate) own: Arc<str>,
    /// The name that the settings give a tool, before a prefix is added.
    pub(super) renamed: Option<Arc<str>>,
    /// Arguments of a tool that the gateway sets.
    pub(crate) fixed: Option<Arc<JsonObject>>,
    /// Whether a modern server may run it as a task.
    pub(super) has_tasks: bool,
    pub(super) text: RawText,
}

impl Entry {
    /// The name before a prefix is added.
    pub(crate) fn unprefixed(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.own)
    }

    /// The annotations as the server wrote them, or null.
    pub(crate) fn annotations(&self) -> Value {
        let said = self.text.raw().member("annotations");
        said.and_then(|raw| raw.parse().ok()).unwrap_or_default()
    }
}

/// One list, merged from all servers.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) entries: IndexMap<Arc<str>, Arc<Entry>>,
    /// How long the list stays fresh: the shortest time of its parts, if all parts state one.
    pub(super) ttl: Option<Duration>,
    pub(super) is_public: bool,
    /// A number that changes with the entries. Cursors contain it.
    pub(super) generation: u64,
}

/// The entries of lists, written for a revision.
type WrittenLists = HashMap<(Kind, Revision), Arc<Vec<String>>>;

/// The merged lists of all servers.
#[derive(Default)]
pub(crate) struct Routes {
    pub(super) lists: [Merged; 4],
    pub(super) templates: Vec<(Arc<Template>, ServerId)>,
    /// The input of the merged entries, by server.
    pub(super) sources: BTreeMap<ServerId, Source>,
    pub(super) headers: HashMap<Arc<str>, Arc<ParamHeaders>>,
    /// The withheld entries, by the names that clients would see.
    pub(super) withheld: HashMap<(LockKind, Arc<str>), (ServerId, Arc<str>)>,
    /// Entries that were left out because another server has them.
    pub(super) left_out: HashSet<(Kind, ServerId, Arc<str>)>,
    /// Entries written for a revision, made when they are first requested.
    written: Mutex<WrittenLists>,
}

impl Routes {
    pub(super) fn list(&self, kind: Kind) -> &Merged {
        &self.lists[kind as usize]
    }

    /// Marks these lists as private: a cache must not share them with other callers.
    pub(crate) fn make_private(&mut self) {
        self.lists
            .iter_mut()
            .for_each(|list| list.is_public = false);
    }

    pub(crate) fn find(&self, kind: Kind, name: &str) -> Option<&Entry> {
        self.list(kind).entries.get(name).map(|entry| &**entry)
    }

    /// The server of a withheld entry, and the server's own name for it.
    pub(crate) fn withheld(&self, kind: Kind, name: &str) -> Option<(LockKind, &ServerId, &str)> {
        let kind = match kind {
            Kind::Tools => LockKind::Tool,
            Kind::Prompts => LockKind::Prompt,
            _ => return None,
        };
        if self.withheld.is_empty() {
            return None;
        }
        let (server, own) = self.withheld.get(&(kind, name.into()))?;
        Some((kind, server, own))
    }

    pub(crate) fn has_any(&self, kind: Kind) -> bool {
        !self.list(kind).entries.is_empty()
    }

    /// The arguments of a tool that clients repeat in headers.
    pub(crate) fn headers(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.headers.get(tool).cloned()
    }

    /// The server of a URI: the server that lists it, otherwise one with a matching template,
    /// otherwise the only server with resources of the same scheme.
    pub(crate) fn owner(&self, uri: &str) -> Option<ServerId> {
        if let Some(entry) = self.find(Kind::Resources, uri) {
            return Some(entry.server.clone());
        }
        let mut best: Option<&(Arc<Template>, ServerId)> = None;
        for candidate in &self.templates {
            let is_better = best.is_none_or(|best| candidate.0.precedence(&best.0).is_lt());
            if is_better && candidate.0.matches(uri).is_some() {
                best = Some(candidate);
            }
        }
        if let Some((_, server)) = best {
            return Some(server.clone());
        }
        let scheme = uri.split_once(':')?.0;
        let all = self.list(Kind::Resources).entries.iter();
        let mut owners =
            all.filter(|(uri, _)| uri.split_once(':').is_some_and(|it| it.0 == scheme));
        let (_, first) = owners.next()?;
        owners
            .all(|(_, other)| other.server == first.server)
            .then(|| first.server.clone())
    }

    /// The kinds of lists that differ from the earlier ones.
    fn differing(&self, before: &Self) -> Vec<Kind> {
        let is_other = |kind: &Kind| {
            let (now, before) = (&self.list(*kind).entries, &before.list(*kind).entries);
            now.len() != before.len()
                || now
                    .iter()
                    .zip(before)
                    .any(|((name, entry), (other_name, other))| {
                        // Most entries are reused from the earlier list.
                        !Arc::ptr_eq(entry, other)
                            && (name != other_name
                                || entry.text.raw().get() != other.text.raw().get())
                    })
        };
        Kind::ALL.into_iter().filter(is_other).collect()
    }

    /// Keeps the cursors of unchanged lists valid. Returns the kinds of lists that differ.
    pub(crate) fn keep_cursors(&mut self, before: &Self) -> Vec<Kind> {
        let differing = self.differing(before);
        for kind in Kind::ALL {
            if !differing.contains(&kind) {
                self.lists[kind as usize].generation = before.list(kind).generation;
            }
        }
        differing
    }

    /// A page of a list for a revision, with all entries or with those that a caller sees.
    pub(crate) fn page(
        &self,
        kind: Kind,
        revision: Revision,
        cursor: Option<&str>,
        seen: Option<&SeenEntries>,
    ) -> Result<Vec<u8>, Reject> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.place(kind, cursor).ok_or_else(|| {
                Reject::invalid_params(
                    "`cursor` does not belong to this list; start from the beginning",
                )
            })?,
        };
        let written = self.written(kind, revision);
        let seen_entries = seen.map(|seen| self.seen(kind, &written, seen));
        let count = seen_entries.as_ref().map_or(written.len(), Vec::len);
        let end = count.min(start.saturating_add(PAGE));
        let page = match &seen_entries {
            None => written.get(start..end).unwrap_or_default().join(","),
            Some(entries) => entries.get(start..end).unwrap_or_default().join(","),
        };
        let mut text = format!(r#"{{"{}":[{page}]"#, kind.member());
        if end < count {
            let generation = self.list(kind).generation;
            let _ = write!(text, r#","nextCursor":"{generation:x}-{end}""#);
        }
        if revision.is_modern() {
            let list = self.list(kind);
            let ttl = list.ttl.unwrap_or_default().as_millis();
            let scope = if list.is_public && list.ttl.is_some() && seen.is_none() {
                "public"
            } else {
                "private"
            };
            let _ = write!(
                text,
                r#","resultType":"complete","ttlMs":{ttl},"cacheScope":"{scope}""#
            );
        }
        text.push('}');
        Ok(text.into_bytes())
    }

    /// The entries of a list that a caller sees, from the entries written for a revision.
    fn seen<'a>(&self, kind: Kind, written: &'a [String], seen: &SeenEntries) -> Vec<&'a str> {
        let named = self.list(kind).entries.keys().zip(written);
        let kept = named.filter(|(name, _)| seen.has(EntryKind::of(kind), name));
        kept.map(|(_, text)| text.as_str()).collect()
    }

    /// The position of a cursor, if it belongs to this list.
    fn place(&self, kind: Kind, cursor: &str) -> Option<usize> {
        let (generation, place) = cursor.split_once('-')?;
        let is_ours = u64::from_str_radix(generation, 16).ok()? == self.list(kind).generation;
        is_ours.then(|| place.parse().ok()).flatten()
    }

    fn written(&self, kind: Kind, revision: Revision) -> Arc<Vec<String>> {
        if let Some(written) = self.written.lock().get(&(kind, revision)) {
            return Arc::clone(written);
        }
        let entries = self.list(kind).entries.values();
        let lowered = |entry: &Arc<Entry>| {
            let raw = entry.text.raw();
            let lowered = translate::lower_entry(kind.method(), raw, revision);
            let lowered = lowered.unwrap_or_else(|| raw.get().to_owned());
            if entry.has_tasks && revision.rules().task_fields {
                return translate::with_task_support(&lowered).unwrap_or(lowered);
            }
            lowered
        };
        let written = Arc::new(entries.map(lowered).collect());
        let mut all = self.written.lock();
        Arc::clone(all.entry((kind, revision)).or_insert(written))
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::envelope::Raw;

    use super::*;

    fn routes(generation: u64, text: &str) -> Routes {
        let mut routes = Routes::default();
        let raw = serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
        let entry = Entry {
            server: "s".into(),
            own: "a".into(),
            renamed: None,
            fixed: None,
            has_tasks: false,
            text: Raw::from(&*raw).into(),
        };
        let tools = &mut routes.lists[Kind::Tools as usize];
        tools.entries.insert("a".into(), Arc::new(entry));
        for list in &mut routes.lists {
            list.generation = generation;
        }
        routes
    }

    #[test]
    fn cursors_of_a_list_that_did_not_change_go_on() {
        let before = routes(1, r#"{"name":"a"}"#);
        let mut same = routes(2, r#"{"name":"a"}"#);
        assert!(same.keep_cursors(&before).is_empty());
        assert_eq!(same.place(Kind::Tools, "1-1000"), Some(1000));
        let mut other = routes(3, r#"{"name":"a","title":"A"}"#);
        assert!(other.keep_cursors(&same) == [Kind::Tools]);
        assert_eq!(other.place(Kind::Tools, "1-1000"), None);
        assert_eq!(other.place(Kind::Prompts, "1-1000"), Some(1000));
    }
}

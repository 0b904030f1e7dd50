//! What all servers offer together: one list of each kind, and the way from an entry to its server.
//!
//! Entries stay as their servers wrote them, only names are edited. Names are looked up in a map and
//! never taken apart.

use std::{collections::HashMap, fmt::Write, sync::Arc, time::Duration};

use indexmap::IndexMap;
use serde_json::Value;
use turnbuckle_base::lock::Mutex;
use turnbuckle_host::{
    ServerId,
    shared::{List, Namer, Prefix},
};
use turnbuckle_protocol::{
    CacheScope, JsonObject, Revision,
    envelope::{Edit, Raw, RawText},
    http::ParamHeaders,
};
use turnbuckle_server::Reject;
use turnbuckle_uri_template::Template;

use crate::{
    lock::{Lock, LockKind},
    settings::Naming,
    translate,
    upstream::Member,
};

/// How long a name may be: model providers allow 64 characters, and clients add prefixes of their own.
const NAME_LIMIT: usize = 46;

/// How many entries of a list go into one answer.
const PAGE: usize = 1_000;

/// One of the four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] =
        [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method reads.
    pub(crate) fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }
}

/// An entry of a list.
pub(crate) struct Entry {
    pub(crate) server: ServerId,
    /// What its server calls it.
    pub(crate) own: Arc<str>,
    text: RawText,
}

impl Entry {
    /// The annotations, as the server wrote them; null if there are none.
    pub(crate) fn annotations(&self) -> Value {
        let said = self.text.raw().member("annotations");
        said.and_then(|raw| raw.parse().ok()).unwrap_or_default()
    }
}

/// One list of all servers.
#[derive(Default)]
struct Merged {
    entries: IndexMap<Arc<str>, Entry>,
    /// The shortest time for which a part of it is fresh, if all parts say so.
    ttl: Option<Duration>,
    is_public: bool,
}

/// The entries of a list in the words of a revision.
type WrittenLists = HashMap<(Kind, Revision), Arc<Vec<String>>>;

/// What all servers offer together.
#[derive(Default)]
pub(crate) struct Routes {
    generation: u64,
    lists: [Merged; 4],
    templates: Vec<(Template, ServerId)>,
    headers: HashMap<Arc<str>, Arc<ParamHeaders>>,
    /// What is withheld, by the names that clients would see.
    withheld: HashMap<(LockKind, Arc<str>), (ServerId, Arc<str>)>,
    /// Entries in the words of a revision, made when they are first asked for.
    written: Mutex<WrittenLists>,
}

impl Routes {
    pub(crate) fn new(
        members: &[Arc<Member>],
        naming: Naming,
        generation: u64,
        lock: Option<&Lock>,
    ) -> Self {
        let mut routes = Self {
            generation,
            ..Self::default()
        };
        let is_prefixed = match naming {
            Naming::Auto => members.len() > 1,
            Naming::Bare => false,
            Naming::Prefixed => true,
        };
        let prefix = |member: &Member| {
            if is_prefixed && !member.plan.settings.is_bare {
                Prefix::Server
            } else {
                Prefix::None
            }
        };
        let mut names = Names::new();
        for merged in &mut routes.lists {
            merged.is_public = true;
        }
        for member in members {
            let lists = member.upstream.lists();
            let spec = &member.plan.spec;
            names.begin(prefix(member));
            let mut withheld = Vec::new();
            // A name is given to what is withheld too, so that no other entry has it in the meantime.
            let mut unless_withheld = |kind, own: &str, name: Arc<str>| {
                let server = member.id.as_str();
                if lock.is_some_and(|lock| lock.withholds(server, kind, own)) {
                    withheld.push(((kind, name), (member.id.clone(), Arc::from(own))));
                    return None;
                }
                Some(name)
            };
            routes.add(Kind::Tools, member, &lists.tools, |tool| {
                if !spec.uses_tool(&tool.name) {
                    return None;
                }
                let name = names.name(Kind::Tools, &member.id, &tool.name);
                unless_withheld(LockKind::Tool, &tool.name, name)
            });
            routes.add(Kind::Prompts, member, &lists.prompts, |prompt| {
                let name = names.name(Kind::Prompts, &member.id, &prompt.name);
                unless_withheld(LockKind::Prompt, &prompt.name, name)
            });
            routes.withheld.extend(withheld);
            routes.add(Kind::Resources, member, &lists.resources, |resource| {
                Some(resource.uri.as_str().into())
            });
            routes.add(Kind::Templates, member, &lists.templates, |template| {
                Some(template.uri_template.as_str().into())
            });
            for template in &lists.templates.entries {
                if let Ok(parsed) = Template::parse(&template.value.uri_template) {
                    routes.templates.push((parsed, member.id.clone()));
                }
            }
            for (name, entry) in &routes.lists[Kind::Tools as usize].entries {
                let tool = lists
                    .tools
                    .entries
                    .iter()
                    .find(|tool| entry.server == member.id && tool.value.name == *entry.own);
                let headers = tool.and_then(|tool| param_headers(tool.text()));
                if let Some(headers) = headers {
                    routes.headers.insert(Arc::clone(name), Arc::new(headers));
                }
            }
        }
        routes
    }

    fn add<T>(
        &mut self,
        kind: Kind,
        member: &Member,
        list: &List<T>,
        mut name: impl FnMut(&T) -> Option<Arc<str>>,
    ) where
        T: Named,
    {
        let merged = &mut self.lists[kind as usize];
        if !list.entries.is_empty() {
            let ttl = list.ttl.unwrap_or_default();
            merged.ttl = Some(merged.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
            merged.is_public &= list.scope == Some(CacheScope::Public);
        }
        for entry in &list.entries {
            let Some(name) = name(&entry.value) else {
                continue;
            };
            if merged.entries.contains_key(&name) {
                let server = &member.id;
                tracing::warn!(%server, %name, "left out an entry that another server has too");
                continue;
            }
            let own = entry.value.own();
            let Ok(raw) = serde_json::from_str::<&serde_json::value::RawValue>(entry.text()) else {
                continue;
            };
            let raw = Raw::from(raw);
            let is_renamed = matches!(kind, Kind::Tools | Kind::Prompts) && *own != *name;
            let text = if is_renamed {
                match Edit::new(raw).set_text(&["name"], &name).finish() {
                    Ok(text) => text,
                    Err(_) => continue,
                }
            } else {
                RawText::from(raw)
            };
            let entry = Entry {
                server: member.id.clone(),
                own: own.into(),
                text,
            };
            merged.entries.insert(name, entry);
        }
    }

    fn list(&self, kind: Kind) -> &Merged {
        &self.lists[kind as usize]
    }

    pub(crate) fn find(&self, kind: Kind, name: &str) -> Option<&Entry> {
        self.list(kind).entries.get(name)
    }

    /// The server of something that is withheld, and what the server calls it.
    pub(crate) fn withheld(&self, kind: Kind, name: &str) -> Option<(LockKind, &ServerId, &str)> {
        let kind = match kind {
            Kind::Tools => LockKind::Tool,
            Kind::Prompts => LockKind::Prompt,
            Kind::Resources | Kind::Templates => return None,
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

    /// The arguments of a tool that clients mirror in headers.
    pub(crate) fn headers(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.headers.get(tool).cloned()
    }

    /// The server that a URI belongs to: by the list, by the templates, or because it is the only one
    /// with resources of the same scheme.
    pub(crate) fn owner(&self, uri: &str) -> Option<ServerId> {
        if let Some(entry) = self.find(Kind::Resources, uri) {
            return Some(entry.server.clone());
        }
        let mut best: Option<&(Template, ServerId)> = None;
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

    /// Which lists differ from those before.
    pub(crate) fn differing(&self, before: &Self) -> Vec<Kind> {
        let is_other = |kind: &Kind| {
            let (now, before) = (&self.list(*kind).entries, &before.list(*kind).entries);
            now.len() != before.len()
                || now
                    .iter()
                    .zip(before)
                    .any(|((name, entry), (other_name, other))| {
                        name != other_name || entry.text.raw().get() != other.text.raw().get()
                    })
        };
        Kind::ALL.into_iter().filter(is_other).collect()
    }

    /// A page of a list in the words of a revision.
    pub(crate) fn page(
        &self,
        kind: Kind,
        revision: Revision,
        cursor: Option<&str>,
    ) -> Result<Vec<u8>, Reject> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.place(cursor).ok_or_else(|| {
                Reject::invalid_params("`cursor` is not one of this list; start from the beginning")
            })?,
        };
        let entries = self.written(kind, revision);
        let end = entries.len().min(start.saturating_add(PAGE));
        let page = entries.get(start..end).unwrap_or_default();
        let mut text = format!(r#"{{"{}":[{}]"#, kind.member(), page.join(","));
        if end < entries.len() {
            let _ = write!(text, r#","nextCursor":"{:x}-{end}""#, self.generation);
        }
        if revision.is_modern() {
            let list = self.list(kind);
            let ttl = list.ttl.unwrap_or_default().as_millis();
            let scope = if list.is_public && list.ttl.is_some() {
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

    /// Where a cursor points to, if it is of this list.
    fn place(&self, cursor: &str) -> Option<usize> {
        let (generation, place) = cursor.split_once('-')?;
        let is_ours = u64::from_str_radix(generation, 16).ok()? == self.generation;
        is_ours.then(|| place.parse().ok()).flatten()
    }

    fn written(&self, kind: Kind, revision: Revision) -> Arc<Vec<String>> {
        if let Some(written) = self.written.lock().get(&(kind, revision)) {
            return Arc::clone(written);
        }
        let entries = self.list(kind).entries.values();
        let lowered = |entry: &Entry| {
            let raw = entry.text.raw();
            let lowered = translate::lower_entry(kind.method(), raw, revision);
            lowered.unwrap_or_else(|| raw.get().to_owned())
        };
        let written = Arc::new(entries.map(lowered).collect());
        let mut all = self.written.lock();
        Arc::clone(all.entry((kind, revision)).or_insert(written))
    }
}

/// What its server calls an entry.
pub(crate) trait Named {
    fn own(&self) -> &str;
}

impl Named for turnbuckle_protocol::Tool {
    fn own(&self) -> &str {
        &self.name
    }
}

impl Named for turnbuckle_protocol::Prompt {
    fn own(&self) -> &str {
        &self.name
    }
}

impl Named for turnbuckle_protocol::Resource {
    fn own(&self) -> &str {
        &self.uri
    }
}

impl Named for turnbuckle_protocol::ResourceTemplate {
    fn own(&self) -> &str {
        &self.uri_template
    }
}

/// Gives names to tools and prompts.
struct Names {
    prefix: Prefix,
    prefixed: HashMap<Kind, Namer>,
}

impl Names {
    fn new() -> Self {
        Self {
            prefix: Prefix::None,
            prefixed: HashMap::new(),
        }
    }

    fn begin(&mut self, prefix: Prefix) {
        self.prefix = prefix;
    }

    fn name(&mut self, kind: Kind, server: &ServerId, own: &str) -> Arc<str> {
        if self.prefix == Prefix::None {
            return own.into();
        }
        let namer = self
            .prefixed
            .entry(kind)
            .or_insert_with(|| Namer::new(Prefix::Server, NAME_LIMIT));
        let (name, collision) = namer.name(server, own);
        if let Some(collision) = collision {
            let (wanted, given) = (collision.wanted, collision.given);
            tracing::warn!(%server, wanted, given, "two entries would have had the same name");
        }
        name
    }
}

fn param_headers(tool: &str) -> Option<ParamHeaders> {
    let raw: &serde_json::value::RawValue = serde_json::from_str(tool).ok()?;
    let schema = Raw::from(raw).member("inputSchema")?;
    if !schema.get().contains("x-mcp-header") {
        return None;
    }
    let schema: JsonObject = schema.parse().ok()?;
    ParamHeaders::of(&schema).ok()
}

//! Merges the lists of all servers. Unchanged entries are reused.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use turnbuckle_host::{
    ServerId,
    shared::{List, Lists, Prefix},
};
use turnbuckle_protocol::{CacheScope, JsonObject, envelope::Raw};
use turnbuckle_uri_template::Template;

use super::{
    Kind, Routes,
    names::{Named, Names},
    offered_tool::{edited, param_headers},
    table::Entry,
};
use crate::{
    gateways::{self, GatewayId},
    lock::{Lock, LockKind},
    settings::Naming,
    upstream::{Member, Plan},
};

/// How many names of entries that were left out are logged in one line.
const LOGGED_NAMES: usize = 5;

/// The input from which the entries of one server were made.
pub(super) struct Source {
    plan: Arc<Plan>,
    has_tasks: bool,
    /// The id of the gateway, if the server is a gateway.
    gateway: Option<GatewayId>,
    is_empty: bool,
    /// The server's lists, indexed by kind.
    lists: [Arc<dyn Any + Send + Sync>; 4],
}

impl Source {
    fn new(member: &Member, lists: &Lists) -> Self {
        Self {
            plan: Arc::clone(&member.plan),
            has_tasks: member.has_modern_tasks(),
            gateway: member.plan.peer.id(),
            is_empty: lists.tools.entries.is_empty()
                && lists.prompts.entries.is_empty()
                && lists.resources.entries.is_empty()
                && lists.templates.entries.is_empty(),
            // Same order as the kinds.
            lists: [
                Arc::clone(&lists.tools) as Arc<dyn Any + Send + Sync>,
                Arc::clone(&lists.prompts) as _,
                Arc::clone(&lists.resources) as _,
                Arc::clone(&lists.templates) as _,
            ],
        }
    }

    /// Whether both give the same entries of a kind.
    fn is_same(&self, other: &Self, kind: Kind) -> bool {
        let (own, others) = (&self.lists[kind as usize], &other.lists[kind as usize]);
        Arc::ptr_eq(&self.plan, &other.plan)
            && self.has_tasks == other.has_tasks
            && self.gateway == other.gateway
            && std::ptr::addr_eq(Arc::as_ptr(own), Arc::as_ptr(others))
    }
}

/// The input and state of merging one server.
struct Merging<'a> {
    member: &'a Member,
    lists: &'a Lists,
    source: Source,
    before: &'a Routes,
}

impl Merging<'_> {
    /// The earlier result, if the list of this kind is unchanged.
    fn before(&self, kind: Kind) -> Option<&Routes> {
        let source = self.before.sources.get(&self.member.id)?;
        self.source.is_same(source, kind).then_some(self.before)
    }
}

/// The name and settings under which an entry is offered.
struct OfferedAs {
    name: Arc<str>,
    /// The name that the settings give a tool, before a prefix is added.
    renamed: Option<Arc<str>>,
    fixed: Option<Arc<JsonObject>>,
}

impl OfferedAs {
    fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            renamed: None,
            fixed: None,
        }
    }
}

impl Routes {
    /// Whether any list of this server is known and was merged.
    pub(crate) fn knows(&self, server: &ServerId) -> bool {
        let source = self.sources.get(server);
        source.is_some_and(|source| !source.is_empty)
    }

    pub(crate) fn new(
        members: &[Arc<Member>],
        naming: Naming,
        generation: u64,
        lock: Option<&Lock>,
        before: &Self,
    ) -> Self {
        let mut routes = Self::default();
        let is_prefixed = match naming {
            Naming::Auto => members.len() > 1,
            Naming::Bare => false,
            Naming::Prefixed => true,
        };
        let mut names = Names::new();
        for merged in &mut routes.lists {
            merged.is_public = true;
            merged.generation = generation;
        }
        for member in members {
            names.begin(if is_prefixed && !member.plan.settings.is_bare {
                Prefix::Server
            } else {
                Prefix::None
            });
            // Lists of an earlier run are not compared with the lock, so do not use them while it
            // awaits the server.
            let lists = match lock {
                Some(lock) if lock.awaits(member.id.as_str()) => Lists::default(),
                _ => member.upstream.lists(),
            };
            let merging = Merging {
                member,
                source: Source::new(member, &lists),
                lists: &lists,
                before,
            };
            routes.add_all(&merging, &mut names, lock);
            routes.sources.insert(member.id.clone(), merging.source);
        }
        routes.log_left_out(before);
        routes
    }

    /// Logs a line for each server with entries that another server also offers, if `before` had not
    /// left them out.
    fn log_left_out(&self, before: &Self) {
        let mut by_server: BTreeMap<&ServerId, Vec<&str>> = BTreeMap::new();
        for (_, server, name) in self.left_out.difference(&before.left_out) {
            by_server.entry(server).or_default().push(name);
        }
        for (server, mut names) in by_server {
            names.sort_unstable();
            let count = names.len();
            names.truncate(LOGGED_NAMES);
            let more = if count > names.len() { ", …" } else { "" };
            let names = names.join(", ");
            tracing::warn!(%server, "left out {count} entries that another server also offers: {names}{more}");
        }
    }

    fn add_all(&mut self, merging: &Merging<'_>, names: &mut Names, lock: Option<&Lock>) {
        let Merging { member, lists, .. } = merging;
        let (spec, settings) = (&member.plan.spec, &member.plan.settings);
        let mut withheld = Vec::new();
        // Withheld entries get a name too, so that no other entry takes it meanwhile.
        let mut unless_withheld = |kind, own: &str, offered: OfferedAs| {
            if lock.is_some_and(|lock| member.is_withheld(lock, kind, own)) {
                let own: Arc<str> = own.into();
                withheld.push(((kind, offered.name), (member.id.clone(), own)));
                return None;
            }
            Some(offered)
        };
        self.add(Kind::Tools, merging, &lists.tools, |tool| {
            let wanted = settings.tools.get(&tool.name);
            if !spec.uses_tool(&tool.name) || wanted.is_some_and(|wanted| wanted.is_hidden) {
                return None;
            }
            let renamed = wanted.and_then(|wanted| wanted.name.as_deref());
            let name = renamed.unwrap_or(&tool.name);
            let offered = OfferedAs {
                name: names.name(Kind::Tools, &member.id, name),
                renamed: renamed.map(Into::into),
                fixed: wanted
                    .filter(|wanted| !wanted.fixed.is_empty())
                    .map(|wanted| Arc::clone(&wanted.fixed)),
            };
            unless_withheld(LockKind::Tool, &tool.name, offered)
        });
        self.add(Kind::Prompts, merging, &lists.prompts, |prompt| {
            let name = names.name(Kind::Prompts, &member.id, &prompt.name);
            unless_withheld(LockKind::Prompt, &prompt.name, OfferedAs::named(name))
        });
        self.withheld.extend(withheld);
        self.add(Kind::Resources, merging, &lists.resources, |resource| {
            Some(OfferedAs::named(resource.uri.as_str()))
        });
        self.add(Kind::Templates, merging, &lists.templates, |template| {
            Some(OfferedAs::named(template.uri_template.as_str()))
        });
        if let Some(before) = merging.before(Kind::Templates) {
            let same = before.templates.iter().filter(|(_, id)| *id == member.id);
            self.templates.extend(same.cloned());
            return;
        }
        for template in &lists.templates.entries {
            // Some templates of another gateway are left out.
            let listed = self.find(Kind::Templates, &template.value.uri_template);
            if merging.source.gateway.is_some()
                && listed.is_none_or(|listed| listed.server != member.id)
            {
                continue;
            }
            if let Ok(parsed) = Template::parse(&template.value.uri_template) {
                self.templates.push((Arc::new(parsed), member.id.clone()));
            }
        }
    }

    fn add<T: Named>(
        &mut self,
        kind: Kind,
        merging: &Merging<'_>,
        list: &List<T>,
        mut offered: impl FnMut(&T) -> Option<OfferedAs>,
    ) {
        let member = merging.member;
        let has_tasks = kind == Kind::Tools && merging.source.has_tasks;
        let before = merging.before(kind);
        let merged = &mut self.lists[kind as usize];
        if !list.entries.is_empty() {
            let ttl = list.ttl.unwrap_or_default();
            merged.ttl = Some(merged.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
            merged.is_public &= list.scope == Some(CacheScope::Public);
        }
        for entry in &list.entries {
            let Some(offered) = offered(&entry.value) else {
                continue;
            };
            let OfferedAs {
                name,
                renamed,
                fixed,
            } = offered;
            if merged.entries.contains_key(&name) {
                self.left_out.insert((kind, member.id.clone(), name));
                continue;
            }
            let own = entry.value.own();
            let known = before.and_then(|before| {
                let known = before.list(kind).entries.get(&name)?;
                let is_same = known.server == member.id && *known.own == *own;
                is_same.then(|| (Arc::clone(known), before.headers.get(&name)))
            });
            if let Some((known, headers)) = known {
                if kind == Kind::Tools
                    && let Some(headers) = headers
                {
                    self.headers.insert(Arc::clone(&name), Arc::clone(headers));
                }
                merged.entries.insert(name, known);
                continue;
            }
            let Ok(raw) = serde_json::from_str::<&serde_json::value::RawValue>(entry.text()) else {
                continue;
            };
            let is_renamed = matches!(kind, Kind::Tools | Kind::Prompts) && *own != *name;
            let no_arguments = JsonObject::new();
            let text = edited(
                Raw::from(raw),
                is_renamed.then_some(&*name),
                fixed.as_deref().unwrap_or(&no_arguments),
            );
            let text = match &merging.source.gateway {
                Some(gateway) => text.and_then(|text| {
                    gateways::through(&text, gateway, &member.plan.common.gateway)
                }),
                None => text,
            };
            let Some(text) = text else { continue };
            if kind == Kind::Tools
                && let Some(headers) = param_headers(text.raw())
            {
                self.headers.insert(Arc::clone(&name), Arc::new(headers));
            }
            let entry = Entry {
                server: member.id.clone(),
                own: own.into(),
                renamed,
                fixed,
                has_tasks,
                text,
            };
            merged.entries.insert(name, Arc::new(entry));
        }
    }
}

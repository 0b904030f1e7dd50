//! Merging the lists of all servers.

use std::sync::Arc;

use turnbuckle_host::shared::{List, Prefix};
use turnbuckle_protocol::{CacheScope, JsonObject, envelope::Raw};
use turnbuckle_uri_template::Template;

use super::{
    Kind, Routes,
    names::{Named, Names},
    offered_tool::{edited, param_headers},
    table::Entry,
};
use crate::{
    lock::{Lock, LockKind},
    settings::Naming,
    upstream::Member,
};

/// How an entry is offered.
struct OfferedAs {
    name: Arc<str>,
    fixed: Option<Arc<JsonObject>>,
}

impl OfferedAs {
    fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            fixed: None,
        }
    }
}

impl Routes {
    pub(crate) fn new(
        members: &[Arc<Member>],
        naming: Naming,
        generation: u64,
        lock: Option<&Lock>,
    ) -> Self {
        let mut routes = Self::default();
        routes.generation = generation;
        let is_prefixed = match naming {
            Naming::Auto => members.len() > 1,
            Naming::Bare => false,
            Naming::Prefixed => true,
        };
        let mut names = Names::new();
        for merged in &mut routes.lists {
            merged.is_public = true;
        }
        for member in members {
            names.begin(if is_prefixed && !member.plan.settings.is_bare {
                Prefix::Server
            } else {
                Prefix::None
            });
            routes.add_all(member, &mut names, lock);
        }
        routes
    }

    fn add_all(&mut self, member: &Member, names: &mut Names, lock: Option<&Lock>) {
        let lists = member.upstream.lists();
        let (spec, settings) = (&member.plan.spec, &member.plan.settings);
        let mut withheld = Vec::new();
        // A name is given to what is withheld too, so that no other entry has it in the meantime.
        let mut unless_withheld = |kind, own: &str, offered: OfferedAs| {
            if lock.is_some_and(|lock| member.is_withheld(lock, kind, own)) {
                let own: Arc<str> = own.into();
                withheld.push(((kind, offered.name), (member.id.clone(), own)));
                return None;
            }
            Some(offered)
        };
        self.add(Kind::Tools, member, &lists.tools, |tool| {
            let wanted = settings.tools.get(&tool.name);
            if !spec.uses_tool(&tool.name) || wanted.is_some_and(|wanted| wanted.is_hidden) {
                return None;
            }
            let name = wanted.and_then(|wanted| wanted.name.as_deref());
            let name = name.unwrap_or(&tool.name);
            let offered = OfferedAs {
                name: names.name(Kind::Tools, &member.id, name),
                fixed: wanted
                    .filter(|wanted| !wanted.fixed.is_empty())
                    .map(|wanted| Arc::clone(&wanted.fixed)),
            };
            unless_withheld(LockKind::Tool, &tool.name, offered)
        });
        self.add(Kind::Prompts, member, &lists.prompts, |prompt| {
            let name = names.name(Kind::Prompts, &member.id, &prompt.name);
            unless_withheld(LockKind::Prompt, &prompt.name, OfferedAs::named(name))
        });
        self.withheld.extend(withheld);
        self.add(Kind::Resources, member, &lists.resources, |resource| {
            Some(OfferedAs::named(resource.uri.as_str()))
        });
        self.add(Kind::Templates, member, &lists.templates, |template| {
            Some(OfferedAs::named(template.uri_template.as_str()))
        });
        for template in &lists.templates.entries {
            if let Ok(parsed) = Template::parse(&template.value.uri_template) {
                self.templates.push((parsed, member.id.clone()));
            }
        }
    }

    fn add<T: Named>(
        &mut self,
        kind: Kind,
        member: &Member,
        list: &List<T>,
        mut offered: impl FnMut(&T) -> Option<OfferedAs>,
    ) {
        let has_tasks = kind == Kind::Tools && member.has_modern_tasks();
        let merged = &mut self.lists[kind as usize];
        if !list.entries.is_empty() {
            let ttl = list.ttl.unwrap_or_default();
            merged.ttl = Some(merged.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
            merged.is_public &= list.scope == Some(CacheScope::Public);
        }
        for entry in &list.entries {
            let Some(OfferedAs { name, fixed }) = offered(&entry.value) else {
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
            let is_renamed = matches!(kind, Kind::Tools | Kind::Prompts) && *own != *name;
            let no_arguments = JsonObject::new();
            let text = edited(
                Raw::from(raw),
                is_renamed.then_some(&*name),
                fixed.as_deref().unwrap_or(&no_arguments),
            );
            let Some(text) = text else { continue };
            if kind == Kind::Tools
                && let Some(headers) = param_headers(text.raw())
            {
                self.headers.insert(Arc::clone(&name), Arc::new(headers));
            }
            let entry = Entry {
                server: member.id.clone(),
                own: own.into(),
                fixed,
                has_tasks,
                text,
            };
            merged.entries.insert(name, entry);
        }
    }
}

//! The facts about an entry that policies need: its server and its annotations.

use turnbuckle_server::Reject;

use super::Core;
use crate::{
    exchange::Route,
    operation::{EntryFacts, EntryKind, Judged},
    routes::{Kind, name_beside},
};

impl Core {
    /// Refuses a request if its entry or its server has changed since a rule decided about it.
    pub(super) fn check(
        &self,
        judged: Option<&Judged>,
        route: Option<&Route>,
    ) -> Result<(), Reject> {
        let Some(judged) = judged else {
            return Ok(());
        };
        let facts = self.facts(judged.kind, &judged.name);
        let goes_there =
            |facts: &EntryFacts| route.is_none_or(|route| route.member.id.as_str() == facts.server);
        if judged.is(facts.as_ref()) && facts.as_ref().is_none_or(goes_there) {
            return Ok(());
        }
        Err(Judged::outdated())
    }

    /// Whether a request for this name is passed on although no server lists it: a single server
    /// gets requests for every name. Resources are not included, because URIs of templates are
    /// never listed.
    pub(crate) fn is_unlisted(&self, kind: EntryKind, name: &str) -> bool {
        let kind = match kind {
            EntryKind::Tool => Kind::Tools,
            EntryKind::Prompt => Kind::Prompts,
            EntryKind::Resource => return false,
        };
        let routes = self.routes();
        let is_known = || self.only().is_some_and(|only| routes.knows(&only.id));
        // An entry that the lock withholds is refused with a text that says so.
        let is_withheld = || routes.withheld(kind, name).is_some();
        routes.find(kind, name).is_none() && !is_withheld() && is_known()
    }

    /// The facts about an entry that a policy can use.
    pub(crate) fn facts(&self, kind: EntryKind, name: &str) -> Option<EntryFacts> {
        let routes = self.routes();
        let found = match kind {
            EntryKind::Tool => routes.find(Kind::Tools, name),
            EntryKind::Prompt => routes.find(Kind::Prompts, name),
            EntryKind::Resource => {
                // The server that gets requests for the URI, whether it lists the URI or not.
                return Some(EntryFacts {
                    server: self.owner_of(name)?.id.to_string(),
                    own: name.to_owned(),
                    ..EntryFacts::default()
                });
            }
        };
        if let Some(entry) = found {
            let unprefixed = entry.unprefixed();
            let mut prefixed = vec![name_beside(&entry.server, unprefixed).to_string()];
            if *unprefixed != *entry.own {
                prefixed.push(name_beside(&entry.server, &entry.own).to_string());
            }
            return Some(EntryFacts {
                server: entry.server.to_string(),
                own: entry.own.to_string(),
                unprefixed: unprefixed.to_owned(),
                prefixed,
                annotations: entry.annotations(),
                fixed: entry.fixed.clone(),
            });
        }
        // The server's list may contain hints for the entry.
        let only = self.only().filter(|_| self.settling().is_none())?;
        Some(EntryFacts {
            server: only.id.to_string(),
            own: name.to_owned(),
            unprefixed: name.to_owned(),
            prefixed: vec![name_beside(&only.id, name).to_string()],
            ..EntryFacts::default()
        })
    }
}

//! The facts that policies need: the server and the annotations of an entry.

use turnbuckle_server::Reject;

use super::Core;
use crate::{
    exchange::Route,
    operation::{EntryFacts, EntryKind, Judged},
    routes::Kind,
};

impl Core {
    /// Refuses a request if its entry, or where it goes, is not what a rule has judged.
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

    /// Whether this is passed on although its server does not list it: the only server is asked for every name.
    /// URIs of templates are never listed.
    pub(crate) fn is_unlisted(&self, kind: EntryKind, name: &str) -> bool {
        let kind = match kind {
            EntryKind::Tool => Kind::Tools,
            EntryKind::Prompt => Kind::Prompts,
            EntryKind::Resource => return false,
        };
        let routes = self.routes();
        let is_known = || self.only().is_some_and(|only| routes.knows(&only.id));
        routes.find(kind, name).is_none() && is_known()
    }

    /// What a policy may know about an entry.
    pub(crate) fn facts(&self, kind: EntryKind, name: &str) -> Option<EntryFacts> {
        let routes = self.routes();
        let found = match kind {
            EntryKind::Tool => routes.find(Kind::Tools, name),
            EntryKind::Prompt => routes.find(Kind::Prompts, name),
            EntryKind::Resource => {
                return Some(EntryFacts {
                    server: routes.owner(name)?.to_string(),
                    own: name.to_owned(),
                    ..EntryFacts::default()
                });
            }
        };
        if let Some(entry) = found {
            return Some(EntryFacts {
                server: entry.server.to_string(),
                own: entry.own.to_string(),
                annotations: entry.annotations(),
            });
        }
        // Its list may have hints of the entry.
        let only = self.only().filter(|_| self.settling().is_none())?;
        Some(EntryFacts {
            server: only.id.to_string(),
            own: name.to_owned(),
            ..EntryFacts::default()
        })
    }
}

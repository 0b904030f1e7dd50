//! What a policy asks of the gateway.

use super::Core;
use crate::{
    operation::{EntryFacts, EntryKind},
    routes::Kind,
};

impl Core {
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

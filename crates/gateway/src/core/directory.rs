//! What a policy asks of the gateway.

use std::sync::Weak;

use turnbuckle_server::Caller;

use super::Core;
use crate::{
    operation::{Directory, EntryFacts, EntryKind},
    routes::Kind,
};

/// The core as a policy asks it.
pub(crate) struct CoreDirectory(pub(crate) Weak<Core>);

impl Directory for CoreDirectory {
    fn facts(&self, _: &Caller, kind: EntryKind, name: &str) -> Option<EntryFacts> {
        let core = self.0.upgrade()?;
        let routes = core.routes();
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
        let only = core.only()?;
        Some(EntryFacts {
            server: only.id.to_string(),
            own: name.to_owned(),
            ..EntryFacts::default()
        })
    }
}

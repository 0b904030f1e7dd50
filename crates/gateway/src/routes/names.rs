//! The names under which tools and prompts are offered.

use std::{collections::HashMap, sync::Arc};

use turnbuckle_host::{
    ServerId,
    shared::{Namer, Prefix},
};

use super::Kind;

/// How long a name may be: model providers allow 64 characters, and clients add prefixes of their own.
const NAME_LIMIT: usize = 46;

/// What its server calls an entry.
pub(super) trait Named {
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

/// The name of a tool of the gateway itself that belongs to a server.
pub(crate) fn name_beside(server: &ServerId, own: &str) -> Arc<str> {
    Namer::new(Prefix::Server, NAME_LIMIT).name(server, own).0
}

/// Gives names to tools and prompts.
pub(super) struct Names {
    prefix: Prefix,
    prefixed: HashMap<Kind, Namer>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            prefix: Prefix::None,
            prefixed: HashMap::new(),
        }
    }

    pub(super) fn begin(&mut self, prefix: Prefix) {
        self.prefix = prefix;
    }

    pub(super) fn name(&mut self, kind: Kind, server: &ServerId, own: &str) -> Arc<str> {
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

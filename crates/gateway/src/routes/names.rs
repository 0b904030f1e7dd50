//! The names under which tools and prompts are offered.

use std::{collections::HashMap, sync::Arc};

use turnbuckle_host::{
    ServerId,
    shared::{Namer, Prefix},
};

use super::Kind;

/// The longest name. Model providers allow 64 characters, and clients add their own prefixes.
const NAME_LIMIT: usize = 46;

/// A type with the server's own name of an entry.
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

/// The name for one of the gateway's own tools that belongs to a server.
pub(crate) fn name_beside(server: &ServerId, own: &str) -> Arc<str> {
    Namer::new(Prefix::Server, NAME_LIMIT).name(server, own).0
}

/// Chooses names for tools and prompts.
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
            tracing::warn!(%server, wanted, given, "renamed an entry, because another one has the same name");
        }
        name
    }
}

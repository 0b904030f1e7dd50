//! The subject of a policy decision.

use std::sync::{Arc, Weak};

use futures_core::future::BoxFuture;
use serde_json::{Value, json};
use turnbuckle_protocol::{JsonObject, envelope::Raw};
use turnbuckle_server::{Caller, Reject, RelayedRequest};

use super::{EntryKind, caller_use::Running, judgeable::judgeable, pattern::Pattern};

/// The facts about a tool, a prompt or a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EntryFacts {
    pub(crate) server: String,
    /// The server's own name for it.
    pub(crate) own: String,
    /// The name of a tool or prompt before a prefix is added: its own, or the one that the settings
    /// give it.
    pub(crate) unprefixed: String,
    /// The names that a tool or prompt has where names have a prefix: for the unprefixed name and
    /// for its own.
    pub(crate) prefixed: Vec<String>,
    /// The annotations of a tool, as the server wrote them.
    pub(crate) annotations: Value,
    /// The arguments that the settings fix, whatever a client sends.
    pub(crate) fixed: Option<Arc<JsonObject>>,
}

/// The entry of a request as rules have judged it, attached to the request. When the request is
/// sent, after a question to the user or a change of the config, the entry may belong to another
/// server.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) kind: EntryKind,
    pub(crate) name: String,
    pub(super) facts: Option<EntryFacts>,
}

impl Judged {
    pub(super) fn new(kind: EntryKind, name: &str, facts: Option<EntryFacts>) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            facts,
        }
    }

    /// Whether the entry still has the facts that were judged.
    pub(crate) fn is(&self, facts: Option<&EntryFacts>) -> bool {
        self.facts.as_ref() == facts
    }

    /// The error for a request whose entry has changed since it was judged.
    pub(crate) fn outdated() -> Reject {
        Reject::internal("the servers changed while the rules were checked; try again")
    }
}

/// The decision about a request that is served, attached to the request. Only an operation attaches it, after the
/// check of [`check_readable`](super::check_readable), which is not repeated for a request that has it.
pub(crate) struct Admitted {
    judged: Option<Judged>,
    running: Weak<Running>,
    seen: Option<SeenEntries>,
}

impl Admitted {
    pub(super) fn new(judged: Option<Judged>, running: Option<&Arc<Running>>) -> Self {
        Self {
            judged,
            running: running.map(Arc::downgrade).unwrap_or_default(),
            seen: None,
        }
    }

    /// Adds the entries that the caller of a list may see.
    pub(super) fn with_seen(mut self, seen: Option<SeenEntries>) -> Self {
        self.seen = seen;
        self
    }

    /// Whether an operation has decided about the request.
    pub(crate) fn has(request: &RelayedRequest<'_>) -> bool {
        request.note::<Self>().is_some()
    }

    /// The entry as rules have judged it.
    pub(crate) fn judged<'a>(request: &'a RelayedRequest<'_>) -> Option<&'a Judged> {
        request.note::<Self>()?.judged.as_ref()
    }

    /// The entries of a list that the caller may see, if rules can hide any.
    pub(crate) fn seen<'a>(request: &'a RelayedRequest<'_>) -> Option<&'a SeenEntries> {
        request.note::<Self>()?.seen.as_ref()
    }

    /// The mark of the running call, which ends with the request unless it is kept.
    pub(crate) fn running(request: &RelayedRequest<'_>) -> Weak<Running> {
        let admitted = request.note::<Self>();
        admitted.map_or_else(Weak::new, |admitted| Weak::clone(&admitted.running))
    }
}

/// The entries that a caller sees, for a request for a list. Hidden entries are removed before the list is split into
/// pages, so that pages and cursors reveal nothing about them.
#[derive(Clone)]
pub(crate) struct SeenEntries(Arc<SeesEntry>);

type SeesEntry = dyn Fn(EntryKind, &str) -> bool + Send + Sync;

impl SeenEntries {
    pub(super) fn new(sees: impl Fn(EntryKind, &str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(sees))
    }

    /// Whether the entry with this name is listed.
    pub(crate) fn has(&self, kind: EntryKind, name: &str) -> bool {
        (self.0)(kind, name)
    }
}

/// Provides the facts about the entries of a gateway.
pub(crate) trait Directory: Send + Sync {
    /// The facts about an entry, by the name that clients see.
    fn facts(&self, caller: &Caller, kind: EntryKind, name: &str) -> Option<EntryFacts>;

    /// Whether the only server, which gets requests for every name, is known not to list this entry.
    fn is_unlisted(&self, _caller: &Caller, _kind: EntryKind, _name: &str) -> bool {
        false
    }

    /// Sets whether rules can hide entries from lists. If they can, lists are never passed on from
    /// a server with its own pages.
    fn set_hides_entries(&self, _hides: bool) {}

    /// Notifies clients that all lists may have changed.
    fn lists_changed(&self) {}

    /// Whether a request with this state only continues a call that is running.
    fn continues(&self, _request: &RelayedRequest<'_>, _state: &str) -> bool {
        false
    }

    /// Waits until it is known what this caller is offered. Returns `None` if it is known already.
    /// Until then a call of an entry without facts must not be judged, because the entry may appear
    /// before the call is made. The error says why it cannot become known.
    fn settling(&self, _caller: &Caller) -> Option<BoxFuture<'static, Result<(), Reject>>> {
        None
    }
}

/// The moment at which a policy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// For an entry of a list.
    List,
    /// For a call, which has arguments.
    Call,
}

/// The subject of a policy decision.
#[derive(Clone, Debug, Default)]
pub(super) struct Subject<'a> {
    pub(super) caller: Option<&'a str>,
    #[cfg_attr(
        not(feature = "cel"),
        expect(dead_code, reason = "conditions in CEL read it")
    )]
    pub(super) scopes: &'a [String],
    pub(super) kind: EntryKind,
    pub(super) name: &'a str,
    pub(super) method: &'a str,
    pub(super) facts: EntryFacts,
    pub(super) arguments: Option<Value>,
    pub(super) arguments_length: usize,
}

impl<'a> Subject<'a> {
    /// An entry by its name. Its facts are looked up in the directory, if there is one.
    pub(super) fn entry(
        caller: &'a Caller,
        kind: EntryKind,
        name: &'a str,
        directory: Option<&Arc<dyn Directory>>,
    ) -> Self {
        let facts = directory.and_then(|directory| directory.facts(caller, kind, name));
        Self::of(caller, kind, name, facts)
    }

    /// An entry with these facts.
    pub(super) fn of(
        caller: &'a Caller,
        kind: EntryKind,
        name: &'a str,
        facts: Option<EntryFacts>,
    ) -> Self {
        Self {
            caller: caller.id(),
            scopes: caller.scopes(),
            kind,
            name,
            method: "",
            facts: facts.unwrap_or_default(),
            arguments: None,
            arguments_length: 0,
        }
    }

    /// Whether a pattern that allows entries fits. Where names have no prefix, the name with its
    /// prefix fits too, so that a rule means the same when the number of servers changes.
    pub(super) fn is_allowed_by(&self, pattern: &Pattern) -> bool {
        let is_bare = self.name == self.facts.unprefixed;
        let mut prefixed = self.facts.prefixed.iter().filter(|_| is_bare);
        pattern.fits(self.kind, self.name) || prefixed.any(|name| pattern.fits(self.kind, name))
    }

    /// Whether a pattern that restricts entries fits any name of the entry: the one that clients
    /// see, the one with the server's prefix, or the one without it. Otherwise an entry would be
    /// free when the number of servers changes, because clients then see it under another name.
    pub(super) fn is_restricted_by(&self, pattern: &Pattern) -> bool {
        let facts = &self.facts;
        let bare = [&facts.unprefixed, &facts.own];
        let bare = bare.into_iter().filter(|name| !name.is_empty());
        let mut others = facts.prefixed.iter().chain(bare);
        let fits = |name: &str| pattern.may_fit(self.kind, name);
        fits(self.name) || others.any(|name| fits(name))
    }

    /// The same entry in a request of a method, without arguments.
    pub(super) fn called(mut self, method: &'a str) -> Self {
        self.method = method;
        self
    }

    /// The same entry in a call of a method. Its arguments are those that the server gets: these, and the fixed ones.
    /// The error says why rules cannot judge the arguments.
    pub(super) fn called_with(
        self,
        method: &'a str,
        arguments: Option<Raw<'_>>,
    ) -> Result<Self, String> {
        let mut called = self.called(method);
        called.arguments_length = arguments.map_or(0, |raw| raw.get().len());
        called.arguments = arguments.map(judgeable).transpose()?;
        if let Some(fixed) = &called.facts.fixed {
            let arguments = called.arguments.get_or_insert_with(|| json!({}));
            if let Some(arguments) = arguments.as_object_mut() {
                arguments.extend(
                    fixed
                        .iter()
                        .map(|(name, value)| (name.clone(), value.clone())),
                );
            }
        }
        Ok(called)
    }
}

//! The subject of a policy decision.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;
use turnbuckle_protocol::envelope::Raw;
use turnbuckle_server::{Caller, Reject};

use super::EntryKind;

/// What is known about a tool, a prompt or a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EntryFacts {
    pub(crate) server: String,
    /// What the server calls it.
    pub(crate) own: String,
    /// Hints of a tool, as the server wrote them.
    pub(crate) annotations: Value,
}

/// The entry of a request, as rules have judged it: a note with the request. Its server may be another
/// when the request is sent, after a question to the user or a change of the config.
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

    /// Whether this is what was judged.
    pub(crate) fn is(&self, facts: Option<&EntryFacts>) -> bool {
        self.facts.as_ref() == facts
    }

    /// The error for a request whose entry is another one now.
    pub(crate) fn outdated() -> Reject {
        Reject::internal("the servers changed while rules were checked for this; try again")
    }
}

/// Which entries a caller sees: a note with a request for a list. Entries are left out before the list is cut
/// into pages, so that pages and cursors tell nothing of them.
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

/// Knows the entries of a gateway.
pub(crate) trait Directory: Send + Sync {
    /// What is known about an entry, by the name that clients see.
    fn facts(&self, caller: &Caller, kind: EntryKind, name: &str) -> Option<EntryFacts>;

    /// Whether it is known that the only server, which is asked for every name, does not list this.
    fn is_unlisted(&self, _caller: &Caller, _kind: EntryKind, _name: &str) -> bool {
        false
    }

    /// Says whether rules can keep entries out of lists, which are then never those of a server as it pages them.
    fn set_hides_entries(&self, _hides: bool) {}

    /// Waits until it is known what this caller is offered; `None` if it is. Until then a call of an entry
    /// without facts must not be judged: the entry may appear before the call is made. An error says why it
    /// cannot become known.
    fn settling(&self, _caller: &Caller) -> Option<BoxFuture<'static, Result<(), Reject>>> {
        None
    }
}

/// When a policy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// For an entry of a list.
    List,
    /// For a call, which has arguments.
    Call,
}

/// What a policy decides about.
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
    /// An entry by its name. Facts are looked up if a directory knows them.
    pub(super) fn entry(
        caller: &'a Caller,
        kind: EntryKind,
        name: &'a str,
        directory: Option<&Arc<dyn Directory>>,
    ) -> Self {
        let facts = directory.and_then(|directory| directory.facts(caller, kind, name));
        Self::of(caller, kind, name, facts)
    }

    /// An entry of which this is known.
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

    /// The same in a call of a method, with these arguments.
    pub(super) fn called(mut self, method: &'a str, arguments: Option<Raw<'_>>) -> Self {
        self.method = method;
        self.arguments_length = arguments.map_or(0, |raw| raw.get().len());
        self.arguments = arguments.and_then(|raw| raw.parse().ok());
        self
    }
}

//! The journal of earlier rounds in a request, and the questions of the current round.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use turnbuckle_protocol::envelope::Members;
use turnbuckle_session::round::{Journal, RequestDigest};

use super::Asking;

/// The state of earlier rounds in a request.
pub(crate) enum Rounds<'a> {
    /// Not yet read from the params.
    Params(&'static str, &'a Members<'a>),
    /// Read from the params: the method, the digest of the request, the answers and the state.
    Taken(&'static str, RequestDigest, Option<String>, Option<String>),
}

impl Rounds<'_> {
    /// The method of the request.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Params(method, ..) | Self::Taken(method, ..) => method,
        }
    }

    pub(crate) fn into_owned(self) -> Rounds<'static> {
        let (method, digest, responses, state) = self.take();
        Rounds::Taken(
            method,
            digest,
            responses.map(Cow::into_owned),
            state.map(Cow::into_owned),
        )
    }

    pub(crate) fn take(
        &self,
    ) -> (
        &'static str,
        RequestDigest,
        Option<Cow<'_, str>>,
        Option<Cow<'_, str>>,
    ) {
        match self {
            Self::Params(method, params) => (
                method,
                RequestDigest::of(method, params),
                params
                    .get("inputResponses")
                    .map(|raw| Cow::Borrowed(raw.get())),
                state(params),
            ),
            Self::Taken(method, digest, responses, state) => (
                method,
                *digest,
                responses.as_deref().map(Cow::Borrowed),
                state.as_deref().map(Cow::Borrowed),
            ),
        }
    }
}

/// The state as the client sent it. A value that is not a string cannot come from this server. It
/// is returned as well, so that it is refused and not ignored.
fn state<'a>(params: &'a Members<'_>) -> Option<Cow<'a, str>> {
    params.text("requestState").or_else(|| {
        let raw = params.get("requestState")?.get();
        (raw != "null").then_some(Cow::Borrowed(raw))
    })
}

/// The questions of a call: those of earlier rounds in the request, and those of this round.
pub(crate) struct CallAsks<'a> {
    pub(crate) rounds: Rounds<'a>,
    pub(crate) begun: OnceLock<Arc<Asking>>,
    /// Where the driver finds the questions of a call that it has passed to layers.
    pub(crate) slot: Option<Arc<OnceLock<Arc<Asking>>>>,
    /// The journal of a call that continues a task of another replica.
    pub(crate) journal: Option<Journal>,
}

impl<'a> CallAsks<'a> {
    pub(crate) fn new(method: &'static str, params: &'a Members<'a>) -> Self {
        Self {
            rounds: Rounds::Params(method, params),
            begun: OnceLock::new(),
            slot: None,
            journal: None,
        }
    }

    pub(crate) fn into_owned(self) -> CallAsks<'static> {
        CallAsks {
            rounds: self.rounds.into_owned(),
            begun: self.begun,
            slot: self.slot,
            journal: self.journal,
        }
    }

    /// Stores the questions of this round, also for the driver.
    pub(crate) fn begin(&self, asking: Asking) -> Arc<Asking> {
        let asking = self.begun.get_or_init(|| Arc::new(asking));
        if let Some(slot) = &self.slot {
            let _ = slot.set(Arc::clone(asking));
        }
        Arc::clone(asking)
    }
}

/// Where the driver finds the questions of a call, if it asks any.
pub(crate) enum AskSlot {
    Now(Option<Arc<Asking>>),
    Later(Arc<OnceLock<Arc<Asking>>>),
}

impl AskSlot {
    pub(crate) fn get(&self) -> Option<&Arc<Asking>> {
        match self {
            Self::Now(asking) => asking.as_ref(),
            Self::Later(slot) => slot.get(),
        }
    }
}

//! The journal of earlier rounds in a request, and the questions of this round.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use turnbuckle_protocol::envelope::Members;
use turnbuckle_session::round::{Journal, RequestDigest};

use super::Asking;

/// The state of earlier rounds in a request.
pub(crate) enum Rounds<'a> {
    /// Still in the message.
    Params(&'static str, &'a Members<'a>),
    /// Taken out of it.
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

/// The state as it came. A value that is not a string was not given by us: it is refused and not
/// ignored.
fn state<'a>(params: &'a Members<'_>) -> Option<Cow<'a, str>> {
    params.text("requestState").or_else(|| {
        let raw = params.get("requestState")?.get();
        (raw != "null").then_some(Cow::Borrowed(raw))
    })
}

/// The asks of a call: what the request brought of earlier ones, and what has begun since.
pub(crate) struct CallAsks<'a> {
    pub(crate) rounds: Rounds<'a>,
    pub(crate) begun: OnceLock<Arc<Asking>>,
    /// Where the driver looks for the asks of a call that it has handed to layers.
    pub(crate) slot: Option<Arc<OnceLock<Arc<Asking>>>>,
    /// What is known of a call that goes on with a task of another replica.
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

    /// Keeps the asks that have begun, also for the driver.
    pub(crate) fn begin(&self, asking: Asking) -> Arc<Asking> {
        let asking = self.begun.get_or_init(|| Arc::new(asking));
        if let Some(slot) = &self.slot {
            let _ = slot.set(Arc::clone(asking));
        }
        Arc::clone(asking)
    }
}

/// Where the driver of a call finds its asks, if there come to be any.
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

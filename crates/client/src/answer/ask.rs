//! A question of a server, and the ways to refuse it.

use std::{error::Error, fmt, ops::Deref, sync::Arc};

use turnbuckle_protocol::{ElicitRequestUrlParams, ErrorObject, error::code};
use turnbuckle_session::round::NotOffered;
use turnbuckle_transport::Rate;

use super::AskProgress;
use crate::peer::Peer;

/// A request of a server to this client, with the server that sent it. Show both to the user. Handlers
/// of [`Answers`](crate::Answers) get it; the fields of the request can be read directly, as in
/// `ask.message`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerAsk<P> {
    /// The server that sent the request. Its [`name`](Peer::name) can be shown to the user.
    pub server: Arc<Peer>,
    /// The request, as the server sent it.
    pub request: P,
    /// Reports the progress of the answer to the server, if the server asked for it.
    pub progress: AskProgress,
    /// The [tag](crate::ClientCall::tag) of the call that the request belongs to, if that call is
    /// known: over Streamable HTTP from the stream that the request came on, and in 2026-07-28 because
    /// the request is part of the call's result.
    pub tag: Option<u64>,
}

impl<P> ServerAsk<P> {
    pub(crate) fn new(
        server: Arc<Peer>,
        progress: AskProgress,
        request: P,
        tag: Option<u64>,
    ) -> Self {
        Self {
            server,
            request,
            progress,
            tag,
        }
    }
}

impl<P> Deref for ServerAsk<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.request
    }
}

impl ServerAsk<ElicitRequestUrlParams> {
    /// Waits until the server reports that the visit is done.
    ///
    /// Only servers of 2025-11-25 report it, and they need not: give the user another way to
    /// continue. It can be awaited after the handler has answered, while the connection is open.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub fn done(&self) -> impl Future<Output = ()> + Send + 'static {
        self.server.visits().expect(&self.request)
    }

    /// Whether a call waits for this visit: a server of 2025-11-25 refused the call until the visit is
    /// over (-32042).
    ///
    /// If it does, let the user say when they are done, and call [`finish`](Self::finish).
    pub fn is_needed_first(&self) -> bool {
        let id = self.request.elicitation_id.as_deref();
        id.is_some_and(|id| self.server.visits().is_needed_first(id))
    }

    /// Reports that the user is done at the URL. The server can report the same.
    ///
    /// A server of 2025-11-25 may refuse a call until the user has visited a URL (-32042). After the
    /// handler has accepted, the client waits for the end of the visit and then makes the call
    /// again. Many servers never report the end: call this when the user says that they are done,
    /// before or after the handler has answered. Otherwise the call fails with the server's error
    /// when its deadline is over, or after ten minutes if it has none.
    pub fn finish(&self) {
        if let Some(id) = &self.request.elicitation_id {
            self.server.visits().end(id);
        }
    }
}

/// Why a handler gave no answer. Any error converts to [`Failed`](Self::Failed) with `?`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The user declined. The server gets the answer that its revision defines for this. The call
    /// does not fail.
    Declined,
    /// The handler failed. The server is told that something failed, but not why; the reason is logged.
    Failed(Box<dyn Error + Send + Sync>),
    /// The request cannot be answered, and the server gets this error with its code and message. Use it
    /// when the server can do something about the problem.
    Error(ErrorObject),
}

impl Refusal {
    /// Creates a [`Refusal::Failed`] with this reason. The reason is logged; the server is told only
    /// that the handler failed.
    pub fn failed(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(reason.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined => f.write_str("it was declined"),
            Self::Failed(reason) => write!(f, "answering failed: {reason}"),
            Self::Error(error) => write!(f, "{error}"),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Refusal {
    fn from(reason: E) -> Self {
        Self::Failed(Box::new(reason))
    }
}

/// Why a question of a server was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The client did not declare that it can answer this, or not in this mode.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// The server asks too often.
    #[error("the server asks too often ({rate}): wait a second, or raise `AskRates::{setting}`")]
    TooOften {
        /// The limit.
        rate: Rate,
        /// The setting of the limit.
        setting: &'static str,
    },
    /// The question is invalid and cannot be answered.
    #[error("{0}")]
    Wrong(&'static str),
    /// The handler gave no answer.
    #[error("{0}")]
    Refused(Refusal),
    /// The application answers by hand, but the call was not made with `Connection::by_hand`.
    #[error(
        "no handler is set for this request; call with `Connection::by_hand` and answer it yourself"
    )]
    ByHand,
}

impl Unanswered {
    /// The error that a legacy server gets.
    pub(crate) fn to_error(&self) -> ErrorObject {
        match self {
            Self::NotOffered(part) => part.to_error(),
            Self::TooOften { rate, .. } => {
                let message = format!("rate limit of this client ({rate}) reached");
                ErrorObject::new(code::TOO_MANY_REQUESTS, message)
            }
            Self::Wrong(_) => ErrorObject::invalid_params(self.to_string()),
            // sampling: a client SHOULD answer with this code when the user says no.
            Self::Refused(Refusal::Declined) | Self::ByHand => {
                ErrorObject::new(code::USER_REJECTED, "the user declined")
            }
            // The reason is only logged, because it may contain details that the server must not see.
            Self::Refused(Refusal::Failed(_)) => {
                ErrorObject::internal("the client failed to answer")
            }
            Self::Refused(Refusal::Error(error)) => error.clone(),
        }
    }
}

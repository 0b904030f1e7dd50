//! `Visit`: the options of a question to visit a URL.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use turnbuckle_protocol::ElicitRequestUrlParams;

use super::{
    Asking,
    asking::{AskState, Way},
};
use crate::{Failure, Reject};

/// A URL for the user to visit, for data that must not pass through the client: a login, a payment.
/// Give it to [`Asker::visit`](crate::Asker::visit).
///
/// ```
/// use turnbuckle_server::{Ask, ToolError, Visit};
///
/// async fn files(Ask(ask): Ask) -> Result<String, ToolError> {
///     # let (is_linked, state) = (true, "5f3a…");
///     if !is_linked {
///         let url = format!("https://files.example/link?state={state}");
///         let visit = Visit::new("Link your files", url).id(state).first();
///         ask.visit("link", visit).await?.accepted()?;
///     }
///     Ok("linked".into())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Visit {
    message: String,
    url: String,
    id: Option<String>,
    pub(super) course: Course,
}

/// What the call does in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// The call waits until the user agrees.
    Waits,
    /// The call ends with an error that asks for the visit, if the revision has such an error.
    Ends,
}

impl Visit {
    /// Creates a visit to this URL, with a message that the user reads before it. The URL must not
    /// contain secrets, because the client sees it and may log it. Bind the link to its user with
    /// [`LinkTokens`](crate::LinkTokens).
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            id: None,
            course: Course::Waits,
        }
    }

    /// Sets the id of the visit, so that its end can be reported with
    /// [`Changes::elicitation_completed`](crate::Changes::elicitation_completed). The client sees
    /// the id. It must be unique and must not be guessable. Defaults to a random id.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Ends the call until the user has visited the URL, in sessions of 2025-11-25: the client gets
    /// an error with the URL and calls again after the visit. The handler then runs from its start
    /// and must check by itself whether the visit was made. In other revisions the call waits for
    /// the user's consent, as it does by default.
    pub fn first(mut self) -> Self {
        self.course = Course::Ends;
        self
    }

    /// Makes the params of the question, which all revisions share.
    pub(super) fn into_params(self, key: &str) -> ElicitRequestUrlParams {
        // 2025-11-25 requires an id for each visit; the other revisions have no such id.
        let id = self.id.or_else(random_id).unwrap_or_else(|| key.to_owned());
        ElicitRequestUrlParams::new(self.message, self.url).with_elicitation_id(id)
    }
}

impl Asking {
    /// Ends the call with an error that asks for this visit, if there is such an error. Returns
    /// whether it did.
    pub(super) fn end_for_visit(&self, key: &str) -> bool {
        let mut state = self.state();
        let key = [key.to_owned()];
        let is_session = matches!(self.way, Way::Requests(_)) && self.task.get().is_none();
        if !is_session || state.round.visit_first(&key).is_none() {
            return false;
        }
        state.visits.extend(key);
        state.wake_driver();
        true
    }

    /// Returns the error that asks for visits before the call. The client will be notified when
    /// they are complete.
    pub(super) fn visits_first(&self, state: &AskState) -> Option<Failure> {
        let Way::Requests(peer) = &self.way else {
            return None;
        };
        let error = state.round.visit_first(&state.visits)?;
        let visits = error.url_elicitation_data();
        for visit in visits.iter().flat_map(|data| &data.elicitations) {
            peer.expect_visit(visit);
        }
        Some(Failure::Reject(Reject::of(error)))
    }
}

/// Returns a random id; `None` if the operating system returns no random bytes.
fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

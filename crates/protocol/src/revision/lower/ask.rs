//! Requests of a server to a client, and their answers.

use super::{
    super::Inexpressible, Lower, Revision, lower_meta, retired, steps, v2025_06_18, v2025_11_25,
};
use crate::{
    CreateMessageRequestParams, CreateMessageResult, DetailedTask, ElicitRequestParams,
    ElicitResult, InputRequest, InputRequests, InputRequiredResult, InputResponse, TaskState,
    UpdateTaskRequestParams,
};

impl Lower for CreateMessageRequestParams {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        self.tools.lower(to);
        steps!(self, to, create_message_params: retired v2025_11_25);
        self.messages.lower(to);
    }
}

impl Lower for CreateMessageResult {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        steps!(self, to, create_message_result: v2025_11_25);
        self.content.lower(to);
    }
}

impl Lower for ElicitResult {
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        steps!(self, to, elicit_result: retired v2025_11_25);
    }
}

impl Lower for InputResponse {
    fn lower(&mut self, to: Revision) {
        match self {
            Self::CreateMessage(result) => result.lower(to),
            Self::ListRoots(result) => result.lower(to),
            Self::Elicit(result) => result.lower(to),
            Self::Unrecognised(_) => {}
        }
    }
}

impl ElicitRequestParams {
    /// Returns the same question in the form of a revision.
    ///
    /// # Errors
    /// Fails if the revision cannot express the question; the peer then lacks the capability to answer.
    pub fn lower_to(mut self, to: Revision) -> Result<Self, Inexpressible> {
        if to.is_modern() {
            retired::elicit_params(&mut self);
            return Ok(self);
        }
        match &mut self {
            Self::Form(form) => lower_meta(&mut form.meta, to),
            Self::Url(url) => lower_meta(&mut url.meta, to),
        }
        if v2025_06_18::applies(to) {
            v2025_06_18::elicit_params(&mut self, to)?;
        }
        if v2025_11_25::applies(to) {
            v2025_11_25::elicit_params(&mut self, to)?;
        }
        match &self {
            Self::Url(url) if url.elicitation_id.is_none() => {
                Err(Inexpressible::MissingElicitationId(to))
            }
            _ => Ok(self),
        }
    }
}

impl InputRequest {
    /// Returns the same question in the form of a revision: embedded in a result for a modern peer, and
    /// as params of a request for any other.
    ///
    /// # Errors
    /// Fails if the revision cannot express the question; the peer then lacks the capability to answer.
    pub fn lower_to(self, to: Revision) -> Result<Self, Inexpressible> {
        match self {
            Self::Elicit(params) => params
                .lower_to(to)
                .map(|params| Self::Elicit(params.into())),
            Self::CreateMessage(mut params) => {
                params.lower(to);
                Ok(Self::CreateMessage(params))
            }
            Self::ListRoots(mut params) => {
                params.lower(to);
                Ok(Self::ListRoots(params))
            }
        }
    }
}

/// Removes members of older revisions from the questions in a modern result.
fn retire(requests: &mut InputRequests, to: Revision) {
    // A modern result has no older form, so the older peer's revision does not matter.
    let to = to.max(Revision::MODERN[0]);
    for request in requests.values_mut() {
        match request {
            InputRequest::Elicit(params) => retired::elicit_params(params),
            InputRequest::CreateMessage(params) => params.lower(to),
            InputRequest::ListRoots(params) => params.lower(to),
        }
    }
}

impl Lower for InputRequiredResult {
    /// The result itself has no older form: in a session each question is a separate request, see
    /// [`InputRequest::lower_to`].
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if let Some(requests) = &mut self.input_requests {
            retire(requests, to);
        }
    }
}

impl Lower for DetailedTask {
    /// There is no older form with details; for 2025-11-25 convert the summary to a
    /// [`LegacyTask`](crate::LegacyTask).
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if let TaskState::InputRequired(requests) = &mut self.state {
            retire(requests, to);
        }
    }
}

impl Lower for UpdateTaskRequestParams {
    /// There is no older form.
    fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        for response in self.input_responses.values_mut() {
            response.lower(to);
        }
    }
}

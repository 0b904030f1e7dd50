//! Questions that a client cannot answer.

use std::fmt;

use turnbuckle_protocol::{
    ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, ErrorObject,
    IncludeContext, InputRequest, Revision, SamplingContent, revision::Inexpressible,
};

/// The capability that a question requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Showing a form to a user.
    Form,
    /// Sending a user to a URL.
    Url,
    /// Sampling.
    Sampling,
    /// Sampling with tools.
    SamplingTools,
    /// Listing the roots.
    Roots,
}

impl Need {
    /// Returns the capability that a question requires.
    pub fn of(request: &InputRequest) -> Self {
        match request {
            InputRequest::ListRoots(_) => Self::Roots,
            InputRequest::CreateMessage(params) if has_tools(params) => Self::SamplingTools,
            InputRequest::CreateMessage(_) => Self::Sampling,
            InputRequest::Elicit(params) => match **params {
                ElicitRequestParams::Url(_) => Self::Url,
                _ => Self::Form,
            },
            // A question of another kind is never sent: see `question::fault`.
            _ => Self::Form,
        }
    }

    /// Returns the capability that the client would have to declare.
    pub fn required(self) -> ClientCapabilities {
        let none = ClientCapabilities::new();
        match self {
            Self::Form => none.with_form_elicitation(),
            Self::Url => none.with_url_elicitation(),
            Self::Sampling => none.with_sampling(),
            Self::SamplingTools => none.with_sampling_tools(),
            Self::Roots => none.with_roots(),
        }
    }

    /// Returns whether a client of this revision has declared the capability.
    pub fn is_met(self, capabilities: &ClientCapabilities, revision: Revision) -> bool {
        match self {
            Self::Form => capabilities.has_form_elicitation(),
            Self::Url => capabilities.has_url_elicitation(),
            Self::Sampling => capabilities.sampling.is_some(),
            // Earlier revisions cannot express tools, so they would be left out silently.
            Self::SamplingTools => {
                revision.rules().sampling_tools && capabilities.has_sampling_tools()
            }
            Self::Roots => capabilities.roots.is_some(),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "elicitation.form",
            Self::Url => "elicitation.url",
            Self::Sampling => "sampling",
            Self::SamplingTools => "sampling.tools",
            Self::Roots => "roots",
        })
    }
}

/// Why a client cannot be asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Impossible {
    /// The client did not declare that it can answer.
    #[error("the client did not declare `{0}`, which is needed here")]
    Undeclared(Need),
    /// The client's revision cannot express the question.
    #[error("this question cannot be sent to the client: {source}")]
    Inexpressible {
        /// The capability that the question requires.
        need: Need,
        /// The parts that cannot be expressed.
        source: Inexpressible,
    },
}

impl Impossible {
    /// Returns the missing capability.
    pub fn need(&self) -> Need {
        match self {
            Self::Undeclared(need) | Self::Inexpressible { need, .. } => *need,
        }
    }

    /// Returns the error for the client, in the form of 2026-07-28: -32021 with the required
    /// capabilities. It is lowered for older clients like every other error.
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::missing_capability(self.to_string(), self.need().required())
    }
}

/// Returns the question in the form of the client's revision, if the client can answer it.
///
/// mrtr: servers MUST NOT send an input request whose capability the client has not declared.
pub(super) fn fit(
    mut request: InputRequest,
    capabilities: &ClientCapabilities,
    revision: Revision,
) -> Result<InputRequest, Impossible> {
    let need = Need::of(&request);
    if let InputRequest::CreateMessage(params) = &mut request {
        omit_context(params, capabilities, revision);
    }
    let request = request
        .lower_to(revision)
        .map_err(|source| Impossible::Inexpressible { need, source })?;
    if need.is_met(capabilities, revision) {
        Ok(request)
    } else {
        Err(Impossible::Undeclared(need))
    }
}

/// sampling: servers SHOULD NOT ask for the context of servers unless `sampling.context` is declared.
/// Clients may ignore the request for context, so the question is asked without it.
fn omit_context(
    params: &mut CreateMessageRequestParams,
    capabilities: &ClientCapabilities,
    revision: Revision,
) {
    let sampling = capabilities.sampling.as_ref();
    let is_declared = sampling.is_some_and(|sampling| sampling.context.is_some());
    if revision.rules().sampling_context && !is_declared {
        params
            .include_context
            .take_if(|context| *context != IncludeContext::None);
    }
}

fn has_tools(params: &CreateMessageRequestParams) -> bool {
    let is_tool = |content: &SamplingContent| {
        matches!(
            content,
            SamplingContent::ToolUse(_) | SamplingContent::ToolResult(_)
        )
    };
    params.tools.is_some()
        || params.tool_choice.is_some()
        || params
            .messages
            .iter()
            .any(|message| message.content.iter().any(is_tool))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turnbuckle_protocol::{
        ElicitRequestFormParams, ElicitRequestUrlParams, ElicitSchema, RequestParams,
    };

    use super::*;

    fn form() -> InputRequest {
        ElicitRequestFormParams::new("Sure?", ElicitSchema::new()).into()
    }

    fn url() -> InputRequest {
        let url = ElicitRequestUrlParams::new("Go", "https://a.example/");
        url.with_elicitation_id("1").into()
    }

    fn sampling(tools: bool) -> InputRequest {
        let mut params = CreateMessageRequestParams::new(vec![], 10);
        params.tools = tools.then(Vec::new);
        params.into()
    }

    fn everything() -> ClientCapabilities {
        let both = ClientCapabilities::new()
            .with_form_elicitation()
            .with_url_elicitation();
        both.with_roots().with_sampling_tools()
    }

    #[test]
    fn each_question_needs_its_own_capability_and_the_error_names_it() {
        let roots = InputRequest::ListRoots(RequestParams::default());
        for (request, required) in [
            (form(), json!({"elicitation": {"form": {}}})),
            (url(), json!({"elicitation": {"url": {}}})),
            (sampling(false), json!({"sampling": {}})),
            (sampling(true), json!({"sampling": {"tools": {}}})),
            (roots, json!({"roots": {}})),
        ] {
            assert!(fit(request.clone(), &everything(), Revision::LATEST).is_ok());
            let required_alone = serde_json::from_value(required.clone()).unwrap();
            assert!(fit(request.clone(), &required_alone, Revision::LATEST).is_ok());

            let none = ClientCapabilities::new();
            let error = fit(request, &none, Revision::LATEST)
                .unwrap_err()
                .to_error();
            assert_eq!(error.code, -32021);
            assert_eq!(error.data, Some(json!({"requiredCapabilities": required})));
        }
    }

    // rule: E2, Q2
    #[test]
    fn one_mode_or_model_does_not_imply_the_other() {
        let read = |json| serde_json::from_value::<ClientCapabilities>(json).unwrap();
        let can = |request, json| fit(request, &read(json), Revision::LATEST).is_ok();
        assert!(can(form(), json!({"elicitation": {}})));
        assert!(!can(url(), json!({"elicitation": {}})));
        assert!(!can(form(), json!({"elicitation": {"url": {}}})));
        assert!(!can(sampling(true), json!({"sampling": {}})));
    }

    #[test]
    fn what_a_revision_has_no_words_for_is_impossible_whatever_was_declared() {
        use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
        for (request, since) in [
            (form(), V2025_06_18),
            (url(), V2025_11_25),
            (sampling(true), V2025_11_25),
            (sampling(false), V2024_11_05),
        ] {
            for revision in [
                V2024_11_05,
                V2025_03_26,
                V2025_06_18,
                V2025_11_25,
                V2026_07_28,
            ] {
                let fits = fit(request.clone(), &everything(), revision);
                assert_eq!(
                    fits.is_ok(),
                    revision >= since,
                    "{} {revision}",
                    request.method()
                );
            }
        }
        let early = fit(form(), &everything(), V2024_11_05).unwrap_err();
        assert!(
            early.to_string().contains("came with 2025-06-18"),
            "{early}"
        );
    }

    // rule: Q2
    #[test]
    fn context_is_asked_for_only_where_it_is_declared() {
        let mut params = CreateMessageRequestParams::new(vec![], 10);
        params.include_context = Some(IncludeContext::ThisServer);
        let context =
            |capabilities, revision| match fit(params.clone().into(), &capabilities, revision)
                .unwrap()
            {
                InputRequest::CreateMessage(params) => params.include_context,
                other => panic!("{other:?}"),
            };
        let without = ClientCapabilities::new().with_sampling();
        let with = serde_json::from_value(json!({"sampling": {"context": {}}})).unwrap();
        assert_eq!(context(without.clone(), Revision::LATEST), None);
        assert!(context(with, Revision::LATEST).is_some());
        assert!(context(without, Revision::V2025_06_18).is_some());
    }
}

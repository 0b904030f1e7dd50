//! Checks whether a client has declared the capability for a server's question, and the error if it has
//! not. Clients use it, and gateways for their clients.

use turnbuckle_protocol::{
    ClientCapabilities, ElicitRequestParams, ElicitationCapability, ErrorObject, InputRequest,
};

/// A question that a client has not declared to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOffered {
    /// The client has not declared the method at all.
    #[error("this client does not offer `{0}`")]
    Method(&'static str),
    /// The client has declared the method, but not this mode or part of it.
    #[error("this client does not offer {0}")]
    Part(&'static str),
}

impl NotOffered {
    /// Returns the error for the server.
    ///
    /// A method that was not declared is answered like an unknown method; a mode or a part that was not
    /// declared, like invalid params (elicitation, "Error handling"; sampling, "Tools in sampling").
    pub fn to_error(self) -> ErrorObject {
        match self {
            Self::Method(method) => ErrorObject::method_not_found(method),
            Self::Part(_) => ErrorObject::invalid_params(self.to_string()),
        }
    }
}

/// Checks whether a client with these capabilities may be sent requests of a method at all. It needs no
/// params.
///
/// # Errors
/// Fails if the method requires a capability that is not declared. Other methods always pass.
pub fn check_method(declared: &ClientCapabilities, method: &str) -> Result<(), NotOffered> {
    let (method, is_declared) = match method {
        "elicitation/create" => ("elicitation/create", declared.elicitation.is_some()),
        "sampling/createMessage" => ("sampling/createMessage", declared.sampling.is_some()),
        "roots/list" => ("roots/list", declared.roots.is_some()),
        _ => return Ok(()),
    };
    if is_declared {
        return Ok(());
    }
    Err(NotOffered::Method(method))
}

/// Checks whether a client with these capabilities may be asked a question.
///
/// # Errors
/// [`NotOffered`] if the capability is not declared.
pub fn check_offered(
    declared: &ClientCapabilities,
    request: &InputRequest,
) -> Result<(), NotOffered> {
    check_method(declared, request.method())?;
    let is_offered = |is_offered: bool, part| {
        let missing = Err(NotOffered::Part(part));
        if is_offered { Ok(()) } else { missing }
    };
    match request {
        InputRequest::Elicit(asked) => {
            let modes = declared.elicitation.as_ref();
            match &**asked {
                ElicitRequestParams::Form(_) => {
                    is_offered(modes.is_some_and(ElicitationCapability::has_form), "forms")
                }
                ElicitRequestParams::Url(_) => {
                    let has_url = modes.is_some_and(|modes| modes.url.is_some());
                    is_offered(has_url, "visits to URLs")
                }
                _ => Err(NotOffered::Part("questions of this kind")),
            }
        }
        InputRequest::CreateMessage(asked) => {
            let has_tools = asked.tools.is_some() || asked.tool_choice.is_some();
            let sampling = declared.sampling.as_ref();
            let takes_tools = sampling.is_some_and(|sampling| sampling.tools.is_some());
            is_offered(!has_tools || takes_tools, "tools for the model")
        }
        InputRequest::ListRoots(_) => Ok(()),
        _ => Err(NotOffered::Part("questions of this kind")),
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::error::code;

    use super::*;

    fn asked(json: &str) -> InputRequest {
        serde_json::from_str(json).expect("a question")
    }

    // rule: E2
    // rule: V5
    #[test]
    fn only_what_was_declared_may_be_asked() {
        let form = asked(
            r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
        );
        let url = asked(
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"1"}}"#,
        );
        let sample =
            asked(r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#);
        let tools = asked(
            r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#,
        );
        let roots = asked(r#"{"method":"roots/list"}"#);
        let none = ClientCapabilities::new();
        let code_of = |declared: &ClientCapabilities, request: &InputRequest| {
            check_offered(declared, request)
                .err()
                .map(|it| it.to_error().code)
        };
        for request in [&form, &url, &sample, &tools, &roots] {
            assert_eq!(
                code_of(&none, request),
                Some(code::METHOD_NOT_FOUND),
                "{request:?}"
            );
        }
        let forms = ClientCapabilities::new().with_form_elicitation();
        assert_eq!(code_of(&forms, &form), None);
        assert_eq!(code_of(&forms, &url), Some(code::INVALID_PARAMS));
        let urls = ClientCapabilities::new().with_url_elicitation();
        assert_eq!(code_of(&urls, &form), Some(code::INVALID_PARAMS));
        assert_eq!(code_of(&urls, &url), None);
        let plain = ClientCapabilities::new().with_sampling();
        assert_eq!(code_of(&plain, &sample), None);
        assert_eq!(code_of(&plain, &tools), Some(code::INVALID_PARAMS));
        assert_eq!(code_of(&plain.with_sampling_tools(), &tools), None);
        assert_eq!(code_of(&none.with_roots(), &roots), None);
    }
}

//! Whether the client has offered what a server asks for: checked here alone, for questions that
//! handlers answer and for those that are answered by hand.

use turnbuckle_protocol::{ClientCapabilities, ElicitRequestParams, InputRequest};

use super::Unanswered;

/// Whether a question may be answered by a client that declared these capabilities.
///
/// What was not declared at all is answered like an unknown method; a mode or a part that was not
/// declared, like wrong params (elicitation, "Error handling"; sampling, "Tools in sampling").
pub(crate) fn check(
    declared: &ClientCapabilities,
    request: &InputRequest,
) -> Result<(), Unanswered> {
    match request {
        InputRequest::Elicit(asked) => {
            let Some(elicitation) = &declared.elicitation else {
                return Err(Unanswered::NotOffered("elicitation/create"));
            };
            match &**asked {
                ElicitRequestParams::Form(_) if elicitation.has_form() => Ok(()),
                ElicitRequestParams::Form(_) => Err(Unanswered::NotThisWay("forms")),
                ElicitRequestParams::Url(_) if elicitation.url.is_some() => Ok(()),
                ElicitRequestParams::Url(_) => Err(Unanswered::NotThisWay("visits to URLs")),
                _ => Err(Unanswered::NotThisWay("questions of this kind")),
            }
        }
        InputRequest::CreateMessage(asked) => {
            let Some(sampling) = &declared.sampling else {
                return Err(Unanswered::NotOffered("sampling/createMessage"));
            };
            let has_tools = asked.tools.is_some() || asked.tool_choice.is_some();
            if has_tools && sampling.tools.is_none() {
                return Err(Unanswered::NotThisWay("tools for the model"));
            }
            Ok(())
        }
        InputRequest::ListRoots(_) if declared.roots.is_some() => Ok(()),
        InputRequest::ListRoots(_) => Err(Unanswered::NotOffered("roots/list")),
        _ => Err(Unanswered::NotThisWay("questions of this kind")),
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
            check(declared, request).err().map(|it| it.to_error().code)
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

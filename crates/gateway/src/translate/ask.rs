//! Converts questions of servers to the client's revision.

use serde_json::{json, value::RawValue};
use turnbuckle_client::RelayAsk;
use turnbuckle_protocol::{
    ClientCapabilities, ElicitRequestParams, ErrorObject, InputRequest, InputResponse, Lower,
    Revision,
    envelope::{Edit, Raw, RawText},
    error::code,
    method::{Direction, available},
};
use turnbuckle_session::round::{Need, NotOffered, check_method, check_offered};

use crate::observe::waiting_text;

/// The methods of questions that servers may ask clients.
const QUESTIONS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// A question of a server: its method, and its params unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) method: String,
    params: Option<RawText>,
}

impl Question {
    pub(crate) fn new(method: &str, params: Option<Raw<'_>>) -> Self {
        Self {
            method: method.to_owned(),
            params: params.map(RawText::from),
        }
    }

    /// The question in a request of a session.
    pub(crate) fn of_ask(ask: &RelayAsk) -> Self {
        Self::new(ask.method(), ask.params().map(Raw::from))
    }

    /// The question in an entry of a modern server's `inputRequests`.
    pub(crate) fn of_entry(entry: Raw<'_>) -> Option<Self> {
        let method = entry.member("method").and_then(super::text_of)?;
        Some(Self::new(&method, entry.member("params")))
    }

    /// The entry for the `inputRequests` of a modern client: the params unchanged, without members
    /// that only sessions have.
    pub(crate) fn to_entry(&self) -> String {
        let method = json!(self.method);
        let Some(params) = &self.params else {
            return format!(r#"{{"method":{method}}}"#);
        };
        let edit = Edit::new(params.raw())
            .drop(&["elicitationId"])
            .drop(&["task"])
            .drop(&["_meta"])
            .finish();
        let params = edit.unwrap_or_else(|_| params.clone());
        if self.method == "roots/list" && params.raw().get() == "{}" {
            return format!(r#"{{"method":{method}}}"#);
        }
        format!(r#"{{"method":{method},"params":{}}}"#, params.raw().get())
    }

    /// The parsed question, if the protocol defines it.
    pub(crate) fn read(&self) -> Option<InputRequest> {
        let method = json!(self.method);
        let text = match &self.params {
            Some(params) => format!(r#"{{"method":{method},"params":{}}}"#, params.raw().get()),
            None => format!(r#"{{"method":{method}}}"#),
        };
        serde_json::from_str(&text).ok()
    }

    /// A description for a person, and the kind of the question.
    pub(crate) fn described(&self) -> (String, &'static str) {
        waiting_text(&self.method, self.params.as_ref().map(RawText::raw))
    }

    /// Whether a client has declared support for this question.
    pub(crate) fn is_declared(&self, client: &ClientCapabilities, revision: Revision) -> bool {
        self.read()
            .is_some_and(|request| Need::of(&request).is_met(client, revision))
    }

    /// The capability that a client needs for this question.
    pub(crate) fn needed(&self) -> Option<ClientCapabilities> {
        Some(Need::of(&self.read()?).required())
    }

    /// The params of a request to a legacy client. Returns `None` if its revision cannot express
    /// the question. The second value is the id of a visit that the gateway generated, if any.
    pub(crate) fn for_session(
        &self,
        from: Revision,
        to: Revision,
    ) -> Option<(Option<RawText>, Option<String>)> {
        if from == to {
            return Some((self.params.clone(), None));
        }
        let mut request = self.read()?;
        let mut visit = None;
        if let InputRequest::Elicit(params) = &mut request
            && let ElicitRequestParams::Url(url) = &mut **params
            && url.elicitation_id.is_none()
        {
            let id = visit_id();
            url.elicitation_id = Some(id.clone());
            visit = Some(id);
        }
        let before = serde_json::to_value(&request).ok()?;
        let lowered = request.lower_to(to).ok()?;
        let after = serde_json::to_value(&lowered).ok()?;
        if before == after && visit.is_none() {
            return Some((self.params.clone(), None));
        }
        let params = after.get("params").map(ToString::to_string);
        let params = params.and_then(|text| RawValue::from_string(text).ok());
        let params = params.map(|raw| RawText::from(Raw::from(&raw)));
        Some((params, visit))
    }
}

/// Generates the id of a visit, which sessions require and modern servers do not send.
fn visit_id() -> String {
    let number = u128::from_be_bytes(crate::seal::random());
    format!("{number:032x}")
}

/// Converts a client's answer for a server of this revision.
pub(crate) fn answer(raw: &RawValue, to: Revision) -> Box<RawValue> {
    if to.is_modern() || to.rules().sampling_tools {
        return raw.to_owned();
    }
    let lowered = serde_json::from_str::<InputResponse>(raw.get())
        .ok()
        .and_then(|mut response| {
            let before = serde_json::to_value(&response).ok()?;
            response.lower(to);
            let after = serde_json::to_value(&response).ok()?;
            (before != after).then(|| after.to_string())
        });
    lowered
        .and_then(|text| RawValue::from_string(text).ok())
        .unwrap_or_else(|| raw.to_owned())
}

/// The error for a question that the client did not declare support for (G8), with the codes and
/// texts of this library's client.
pub(crate) fn not_offered(
    question: &Question,
    client: &ClientCapabilities,
    revision: Revision,
) -> ErrorObject {
    let method = &*question.method;
    let is_known = QUESTIONS.contains(&method);
    // A client of a session may have declared a capability that its revision does not define.
    if !is_known || (!revision.is_modern() && !available(method, revision, Direction::ToClient)) {
        return ErrorObject::method_not_found(method);
    }
    let offered = check_method(client, method);
    let Some(request) = question.read() else {
        return match offered {
            Err(part) => part.to_error(),
            Ok(()) => {
                ErrorObject::invalid_params(format!("the parameters of `{method}` are invalid"))
            }
        };
    };
    match offered.and_then(|()| check_offered(client, &request)) {
        Err(part) => part.to_error(),
        Ok(()) => NotOffered::Part("questions of this kind").to_error(),
    }
}

/// The error for a question that no client can be asked now, because it belongs to no call or too
/// many are open.
pub(crate) fn refusal(question: &Question) -> ErrorObject {
    match question.method.as_str() {
        "elicitation/create" => ErrorObject::new(
            code::INVALID_PARAMS,
            "the client of this call does not support this kind of elicitation",
        ),
        method => ErrorObject::new(
            code::METHOD_NOT_FOUND,
            format!("the client of this call does not support `{method}`"),
        ),
    }
}

/// The answer to a question that the client did not answer in time (G5).
pub(crate) fn expired(question: &Question) -> Result<Box<RawValue>, ErrorObject> {
    match question.method.as_str() {
        "elicitation/create" => Ok(RawValue::from_string(r#"{"action":"cancel"}"#.to_owned())
            .expect("an object without values is JSON")),
        "sampling/createMessage" => Err(ErrorObject::new(
            code::USER_REJECTED,
            "the client did not answer in time",
        )),
        _ => Err(ErrorObject::internal("the client did not answer in time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_no_client_has_is_not_found() {
        let all = ClientCapabilities::new()
            .with_form_elicitation()
            .with_sampling();
        for (method, revision, code) in [
            ("nope/x", Revision::LATEST, -32601),
            ("nope/x", Revision::LATEST_LEGACY, -32601),
            ("tasks/list", Revision::V2025_11_25, -32601),
            // Declared, although the revision does not define it.
            ("elicitation/create", Revision::V2025_03_26, -32601),
            ("elicitation/create", Revision::V2025_11_25, -32602),
        ] {
            let params = Raw::from(RawValue::NULL);
            let question = Question::new(method, Some(params));
            let refused = not_offered(&question, &all, revision);
            assert_eq!(refused.code, code, "{method} {revision}: {refused:?}");
        }
    }
}

//! Checks a client's answer against its question.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use turnbuckle_protocol::{
    CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult, ElicitSchema,
    ErrorObject, InputRequest, InputResponse, JsonObject, ListRootsResult, Meta,
    error::problem_in_message,
    lenient::{self, ReadWarning},
};

use super::{Kind, form};

/// An answer that does not fit its question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer to `{key:.64}` cannot be used: {reason}")]
pub struct BadAnswer {
    /// The key of the answer.
    pub key: String,
    /// The problem.
    pub reason: String,
}

impl BadAnswer {
    pub(super) fn new(key: &str, reason: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            reason: reason.into(),
        }
    }

    /// Returns the error for the client: -32602.
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::invalid_params(self.to_string())
    }
}

/// Checks whether an answer fits this question. Call it before the handler gets the answer.
///
/// # Errors
/// Says what is wrong with the answer.
pub fn check_answer(
    key: &str,
    question: &InputRequest,
    answer: &RawValue,
) -> Result<(), BadAnswer> {
    check(question, answer)
        .map(drop)
        .map_err(|reason| BadAnswer::new(key, reason))
}

/// The answer to an `elicitation/create`. Its content is not checked yet.
#[derive(Deserialize)]
struct Elicited {
    action: ElicitAction,
    content: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

/// The same, with raw content.
#[derive(Deserialize)]
struct RawAnswer<'a> {
    action: ElicitAction,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl RawAnswer<'_> {
    fn check(&self) -> Result<(), String> {
        match (self.action, self.content) {
            (ElicitAction::Accept, Some(content)) if !content.get().starts_with('{') => {
                Err("`content` must be an object".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Checks whether an answer is of the kind that was asked for. Used while the question itself is not
/// known; [`check`] follows when the handler asks again.
pub(super) fn check_kind(kind: Kind, answer: &RawValue) -> Result<(), String> {
    match kind {
        Kind::Form => raw_answer(answer)?.check(),
        Kind::Url => elicited(answer).map(drop),
        Kind::Message => read_message(answer).map(drop),
        Kind::Roots => read_roots(answer).map(drop),
    }
}

/// Why an answer to a form or a URL is invalid.
const NO_ACTION: &str = "`action` must be `accept`, `decline` or `cancel`";

/// The error for an unknown kind of question. Such a question is never sent.
const UNKNOWN: &str = "the question is of an unknown kind";

/// Parses the answer to this question. Only the kind of the question decides how it is parsed.
pub(super) fn check(request: &InputRequest, answer: &RawValue) -> Result<InputResponse, String> {
    match request {
        InputRequest::CreateMessage(_) => read_message(answer).map(InputResponse::from),
        InputRequest::ListRoots(_) => read_roots(answer).map(InputResponse::from),
        InputRequest::Elicit(params) => match &**params {
            ElicitRequestParams::Form(form) => check_form(&form.requested_schema, answer),
            ElicitRequestParams::Url(_) => {
                elicited(answer)?.into_response(|_| Ok(ElicitResult::accept_visit()))
            }
            _ => Err(UNKNOWN.to_owned()),
        },
        _ => Err(UNKNOWN.to_owned()),
    }
}

/// Parses the answer to a form with these fields.
pub(super) fn check_form(
    fields: &ElicitSchema,
    answer: &RawValue,
) -> Result<InputResponse, String> {
    elicited(answer)?.into_response(|filled| form::accept(fields, &content(filled)?))
}

impl Elicited {
    /// Converts the answer. `accepted` converts its content if the action is `accept`.
    fn into_response(
        self,
        accepted: impl FnOnce(Option<Value>) -> Result<ElicitResult, String>,
    ) -> Result<InputResponse, String> {
        let mut result = match self.action {
            ElicitAction::Accept => accepted(self.content)?,
            ElicitAction::Decline => ElicitResult::decline(),
            // An unknown action counts as `cancel`.
            _ => ElicitResult::cancel(),
        };
        result.meta = self.meta;
        Ok(result.into())
    }
}

/// Returns the content of a form. A form that was accepted without content is empty.
fn content(content: Option<Value>) -> Result<JsonObject, String> {
    match content {
        Some(Value::Object(content)) => Ok(content),
        Some(_) => Err("`content` must be an object".to_owned()),
        None => Ok(JsonObject::new()),
    }
}

fn elicited(answer: &RawValue) -> Result<Elicited, String> {
    let text = object_text(answer)?;
    let read = lenient::read("elicitation/create", text);
    let (elicited, warnings) = read.map_err(|_| NO_ACTION.to_owned())?;
    // An accepted form must not lose content; other invalid parts may be left out.
    let of_content = warnings
        .iter()
        .find(|it| it.pointer.starts_with("/content"));
    if let Some(warning) = of_content {
        return Err(format!("`content` cannot be read: {}", warning.problem));
    }
    warn(&warnings);
    Ok(elicited)
}

fn read_message(answer: &RawValue) -> Result<CreateMessageResult, String> {
    read_what_can_be("sampling/createMessage", answer)
}

fn read_roots(answer: &RawValue) -> Result<ListRootsResult, String> {
    read_what_can_be("roots/list", answer)
}

fn raw_answer(answer: &RawValue) -> Result<RawAnswer<'_>, String> {
    serde_json::from_str(object_text(answer)?).map_err(|_| NO_ACTION.to_owned())
}

/// Reads an answer without its invalid parts: one invalid root does not invalidate the others.
fn read_what_can_be<T: DeserializeOwned>(method: &str, answer: &RawValue) -> Result<T, String> {
    let (read, warnings) = lenient::read(method, object_text(answer)?)
        .map_err(|error: serde_json::Error| problem_in_message(&error))?;
    warn(&warnings);
    Ok(read)
}

fn warn(warnings: &[ReadWarning]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}

/// Returns the text of an answer that is an object. serde would also read a struct from an array.
fn object_text(answer: &RawValue) -> Result<&str, String> {
    let text = answer.get();
    if !text.starts_with('{') {
        return Err("expected an object".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turnbuckle_protocol::{
        CreateMessageRequestParams, ElicitRequestFormParams, ElicitRequestUrlParams, ElicitSchema,
        RequestParams, StringSchema,
    };

    use super::*;

    fn questions() -> [InputRequest; 4] {
        let schema = ElicitSchema::new().with_required("name", StringSchema::default());
        [
            ElicitRequestFormParams::new("Name?", schema).into(),
            ElicitRequestUrlParams::new("Go", "https://a.example/").into(),
            CreateMessageRequestParams::new(vec![], 10).into(),
            InputRequest::ListRoots(RequestParams::default()),
        ]
    }

    /// Whether each of the questions accepts this answer.
    fn takers(answer: &Value) -> [bool; 4] {
        let raw = serde_json::value::to_raw_value(answer).unwrap();
        questions().map(|question| {
            let checked = check(&question, &raw);
            if checked.is_ok() {
                assert_eq!(check_kind(Kind::of(&question), &raw), Ok(()), "{answer}");
            }
            checked.is_ok()
        })
    }

    #[test]
    fn an_answer_is_read_as_what_was_asked_for() {
        let said =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}});
        for (answer, expected) in [
            (
                json!({"action": "accept", "content": {"name": "A"}}),
                [true, true, false, false],
            ),
            (
                json!({"action": "accept", "content": {"name": 7}}),
                [false, true, false, false],
            ),
            (
                json!({"action": "accept", "content": []}),
                [false, true, false, false],
            ),
            (json!({"action": "accept"}), [false, true, false, false]),
            (
                json!({"action": "decline", "content": 7}),
                [true, true, false, false],
            ),
            (
                json!({"action": "cancel", "content": null}),
                [true, true, false, false],
            ),
            (json!({"action": "shrug"}), [false; 4]),
            (said, [false, false, true, false]),
            (
                json!({"role": "assistant", "model": "m", "content": "hi"}),
                [false; 4],
            ),
            (
                json!({"roots": [{"uri": "file:///a"}]}),
                [false, false, false, true],
            ),
            (
                json!({"roots": [{"name": "a"}, 7, {"uri": "file:///a", "name": 7}]}),
                [false, false, false, true],
            ),
            (json!({"roots": 7}), [false; 4]),
            (
                json!({"roots": [], "action": "accept"}),
                [false, true, false, true],
            ),
            (json!(12345), [false; 4]),
            (json!(null), [false; 4]),
            (json!(["accept", {}, null]), [false; 4]),
            (json!({}), [false; 4]),
        ] {
            assert_eq!(takers(&answer), expected, "{answer}");
        }
    }

    // rule: J15
    #[test]
    fn an_odd_root_does_not_lose_the_others() {
        let answer = json!({"roots": [{"name": "a"}, {"uri": "file:///b"}, "file:///c"]});
        let raw = serde_json::value::to_raw_value(&answer).unwrap();
        let read = check(&questions()[3], &raw).unwrap();
        let roots = &read.as_roots().unwrap().roots;
        assert_eq!(roots.len(), 1);
        assert_eq!(roots[0].uri, "file:///b");
    }

    // rule: J15
    #[test]
    fn an_odd_part_beside_the_answer_is_left_out() {
        let read = |question: &InputRequest, answer: &Value| {
            check(question, &serde_json::value::to_raw_value(answer).unwrap())
        };
        let [form, url, message, _] = questions();
        let declined = json!({"action": "decline", "_meta": []});
        for question in [&form, &url] {
            let response = read(question, &declined);
            assert_eq!(response, Ok(ElicitResult::decline().into()));
        }
        // The user's input must not be lost.
        let accepted = r#"{"action":"accept","content":{"env":"prod","limit":1e999}}"#;
        let accepted = RawValue::from_string(accepted.to_owned()).unwrap();
        let reason = check(&form, &accepted).unwrap_err();
        assert!(reason.contains("`content` cannot be read"), "{reason}");
        // A single block is read as a list of one block.
        for content in [json!({"type": 7}), json!([{"type": 7}])] {
            let said = json!({"role": "assistant", "model": "m", "content": content});
            let said = read(&message, &said).unwrap();
            assert_eq!(said.as_message().unwrap().content, []);
        }
    }

    // rule: J17
    #[test]
    fn problems_with_answers_are_told_without_lines_and_columns() {
        let [form, url, message, roots] = questions();
        for (question, answer, expected) in [
            (&form, json!({"action": "maybe"}), NO_ACTION),
            (&form, json!({}), NO_ACTION),
            (&url, json!({"action": 7}), NO_ACTION),
            (
                &message,
                json!({"role": "assistant", "content": []}),
                "missing field `model`",
            ),
            (&roots, json!({}), "missing field `roots`"),
        ] {
            let raw = serde_json::value::to_raw_value(&answer).unwrap();
            assert_eq!(check(question, &raw), Err(expected.to_owned()), "{answer}");
            assert_eq!(
                check_kind(Kind::of(question), &raw),
                Err(expected.to_owned()),
                "{answer}"
            );
        }
    }

    #[test]
    fn what_was_not_accepted_has_no_content() {
        let raw = serde_json::value::to_raw_value(
            &json!({"action": "decline", "content": {"name": "A"}}),
        );
        let response = check(&questions()[0], &raw.unwrap()).unwrap();
        assert_eq!(response, ElicitResult::decline().into());
    }

    #[test]
    fn the_error_names_the_key() {
        let error = BadAnswer::new("seat", "field `row` must be a number").to_error();
        assert_eq!(error.code, -32602);
        assert!(error.message.contains("`seat`") && error.message.contains("`row`"));
    }
}

//! What a message on the wire is about, read off its text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A message, looked at from outside. Text that is no message has no members.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Looked<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
}

/// What params may say a request is about.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Subject<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow)]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(borrow)]
    result_type: Option<Cow<'a, str>>,
    is_error: Option<bool>,
}

impl<'a> Looked<'a> {
    pub(super) fn at(message: &'a [u8]) -> Self {
        serde_json::from_slice(message).unwrap_or_default()
    }

    pub(super) fn is_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }

    /// What a response says, in a word.
    pub(super) fn outcome(&self) -> Option<String> {
        if let Some(error) = &self.error {
            return Some(format!("error {}", error.code));
        }
        let outcome: Outcome<'_> = serde_json::from_str(self.result?.get()).unwrap_or_default();
        if outcome.is_error == Some(true) {
            return Some("tool error".to_owned());
        }
        Some(
            outcome
                .result_type
                .unwrap_or(Cow::Borrowed("ok"))
                .into_owned(),
        )
    }

    /// The tool, prompt, resource or task that it is about.
    pub(super) fn object(&self) -> Option<String> {
        let subject = self.subject();
        let object = subject.name.or(subject.uri).or(subject.task_id)?;
        Some(object.into_owned())
    }

    /// The request that a notification is about.
    pub(super) fn about(&self) -> Option<&'a str> {
        let subject = self.subject();
        let about = subject.progress_token.or(subject.request_id)?;
        Some(about.get())
    }

    fn subject(&self) -> Subject<'a> {
        let params = self.params.map_or("{}", RawValue::get);
        serde_json::from_str(params).unwrap_or_default()
    }
}

/// The tool, prompt, resource or task that params name.
pub(super) fn object_of(params: &str) -> Option<String> {
    let subject: Subject<'_> = serde_json::from_str(params).ok()?;
    let object = subject.name.or(subject.uri).or(subject.task_id)?;
    Some(object.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_say_what_they_are_about() {
        let text = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"b"}}"#;
        let looked = Looked::at(text);
        assert_eq!(looked.object().as_deref(), Some("a\"b"));
        assert_eq!(looked.id.map(RawValue::get), Some("7"));
        assert!(!looked.is_response());
    }

    #[test]
    fn responses_are_told_apart() {
        for (text, wanted) in [
            (r#"{"id":1,"result":{}}"#, "ok"),
            (
                r#"{"id":1,"result":{"resultType":"input_required"}}"#,
                "input_required",
            ),
            (r#"{"id":1,"result":{"isError":true}}"#, "tool error"),
            (
                r#"{"id":1,"error":{"code":-32602,"message":"no"}}"#,
                "error -32602",
            ),
        ] {
            let looked = Looked::at(text.as_bytes());
            assert!(looked.is_response(), "{text}");
            assert_eq!(looked.outcome().as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_about_nothing() {
        for text in ["", "nonsense", "[1]", "7"] {
            let looked = Looked::at(text.as_bytes());
            assert!(looked.method.is_none() && !looked.is_response(), "{text}");
        }
    }
}

//! Reads the method and the subject of a message from its text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use turnbuckle::protocol::envelope::{Outline, Raw};

/// The members of params that may name the subject of a request.
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

/// The code of an error.
pub(super) fn error_code(response: &Outline<'_>) -> Option<i64> {
    #[derive(Deserialize)]
    struct Refused {
        code: i64,
    }
    let Refused { code } = response.error?.parse().ok()?;
    Some(code)
}

/// Whether the message is a log message.
pub(super) fn is_log(message: &Outline<'_>) -> bool {
    message.method().as_deref() == Some("notifications/message")
}

/// The kind of a response, in one word.
pub(super) fn outcome(response: &Outline<'_>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Done<'a> {
        #[serde(borrow)]
        result_type: Option<Cow<'a, str>>,
        is_error: Option<bool>,
    }
    if response.error.is_some() {
        let code = error_code(response).map(|code| format!(" {code}"));
        return Some(format!("error{}", code.unwrap_or_default()));
    }
    let done: Done<'_> = response.result?.parse().unwrap_or_default();
    if done.is_error == Some(true) {
        return Some("tool error".to_owned());
    }
    Some(done.result_type.map_or("ok".to_owned(), Cow::into_owned))
}

/// The request that a notification is about, by its params.
pub(super) fn about(params: Option<Raw<'_>>) -> Option<&str> {
    let subject: Subject<'_> = params?.parse().ok()?;
    let about = subject.progress_token.or(subject.request_id)?;
    Some(about.get())
}

/// The tool, prompt, resource or task that the params name.
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
        let params = r#"{"name":"a\"b"}"#;
        assert_eq!(object_of(params).as_deref(), Some("a\"b"));
        let message = br#"{"method":"notifications/progress","params":{"progressToken":7}}"#;
        assert_eq!(about(Outline::of(message).params), Some("7"));
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
            let response = Outline::of(text.as_bytes());
            assert!(response.is_response(), "{text}");
            assert_eq!(outcome(&response).as_deref(), Some(wanted), "{text}");
        }
    }
}

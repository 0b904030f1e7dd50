//! Converts errors of servers to the client's revision.

use serde_json::{json, value::RawValue};
use turnbuckle_client::CallError;
use turnbuckle_protocol::{
    ErrorObject, Lower, Revision,
    envelope::{Edit, Raw, RawText},
    error::code,
};
use turnbuckle_server::{Reject, RelayReply};

/// How a call to a server ended.
pub(crate) enum Answer {
    Result(Box<RawValue>),
    Error(Box<RawValue>),
    Lost(CallError),
}

/// The range of codes that the modern era reserves.
const MODERN_CODES: std::ops::RangeInclusive<i64> = -32_099..=-32_020;

/// Converts an error for the client. `uri` is the requested resource, if there was one.
pub(crate) fn error(raw: &RawValue, from: Revision, to: Revision, uri: Option<&str>) -> RelayReply {
    let Ok(read) = serde_json::from_str::<ErrorObject>(raw.get()) else {
        let unreadable = "the server answered with an error that cannot be read";
        let read = ErrorObject::read(raw.get());
        return read
            .unwrap_or_else(|_| ErrorObject::internal(unreadable))
            .into();
    };
    if from == to {
        return RelayReply::Error(read.code, RawText::from(Raw::from(raw)));
    }
    if to.is_modern() && MODERN_CODES.contains(&read.code) {
        // The code is an application's own; a modern client would misunderstand it.
        let data = json!({ "code": read.code, "data": read.data });
        return Reject::internal(read.message).with_data(data).into();
    }
    let mut lowered = read.clone();
    // For a legacy server, only codes that its revision defines have the protocol's meaning. The
    // others are an application's own.
    let is_of_protocol =
        from.is_modern() || !MODERN_CODES.contains(&read.code) || is_visit_first(&read, from);
    // Only errors about the requested resource mean that it was not found; other errors are about
    // wrong params.
    if is_of_protocol && (read.code != code::INVALID_PARAMS || names(&read, uri)) {
        lowered.lower(to);
    }
    if lowered == read {
        return RelayReply::Error(read.code, RawText::from(Raw::from(raw)));
    }
    let mut edit = Edit::new(Raw::from(raw)).set(&["code"], lowered.code.to_string());
    if lowered.data != read.data {
        edit = match &lowered.data {
            Some(data) => edit.set(&["data"], data.to_string()),
            None => edit.drop(&["data"]),
        };
    }
    match edit.finish() {
        Ok(text) => RelayReply::Error(lowered.code, text),
        Err(_) => Reject::new(lowered.code, lowered.message).into(),
    }
}

/// Whether a server of this revision requires visits before the call.
fn is_visit_first(error: &ErrorObject, from: Revision) -> bool {
    from.rules().visits_first && error.code == code::URL_ELICITATION_REQUIRED
}

/// Whether the data of an error names this URI.
fn names(error: &ErrorObject, uri: Option<&str>) -> bool {
    let named = error.data.as_ref().and_then(|data| data.get("uri"));
    named
        .and_then(|named| named.as_str())
        .zip(uri)
        .is_some_and(|(named, uri)| named == uri)
}

/// The error for a call that got no answer, or one that cannot be used.
pub(crate) fn lost(server: &str, error: &CallError) -> RelayReply {
    match error {
        CallError::Malformed { source, .. } => unusable(server, &format!("{error}: {source}")),
        CallError::Oversized { .. }
        | CallError::TooManyNodes { .. }
        | CallError::Deadline { .. } => unusable(server, &error.to_string()),
        _ => unavailable(server, &error.to_string()),
    }
}

/// The error for a server that is there, but did not give an answer that can be used.
fn unusable(server: &str, reason: &str) -> RelayReply {
    let said =
        format!("server `{server}` gave no usable answer, and the call may have run: {reason}");
    Reject::internal(said)
        .with_data(json!({ "upstream": server, "reason": reason }))
        .into()
}

/// The error for a server that is not available.
pub(crate) fn unavailable(server: &str, reason: &str) -> RelayReply {
    Reject::internal(format!("server `{server}` is not available: {reason}"))
        .with_data(json!({ "upstream": server, "reason": reason }))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(text: &str, from: Revision, to: Revision, uri: Option<&str>) -> (i64, String) {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        match error(&raw, from, to, uri) {
            RelayReply::Error(code, text) => (code, text.raw().get().to_owned()),
            RelayReply::Reject(reject) => (reject.code(), json!(reject.as_error()).to_string()),
            other => panic!("{other:?}"),
        }
    }

    const LEGACY: Revision = Revision::LATEST_LEGACY;
    const MODERN: Revision = Revision::LATEST;

    #[test]
    fn what_an_odd_error_says_is_kept() {
        for (code, message) in [
            (r#""code":"E_X","#, "boom: E_X"),
            (r#""code":0.5,"#, "boom"),
            (r#""code":null,"#, "boom"),
            ("", "boom"),
        ] {
            let text = format!(r#"{{{code}"message":"boom"}}"#);
            let (code, said) = translated(&text, LEGACY, LEGACY, None);
            assert_eq!(code, -32603);
            assert_eq!(
                said,
                json!({ "code": -32603, "message": message }).to_string()
            );
        }
        let (_, said) = translated("{}", LEGACY, LEGACY, None);
        assert!(said.contains("cannot be read"), "{said}");
    }

    /// A client that is told that a server is not available could send the call again.
    #[test]
    fn a_call_with_an_unusable_answer_may_have_run() {
        let said = |error: &CallError| match lost("one", error) {
            RelayReply::Reject(reject) => json!(reject.as_error())["message"].to_string(),
            other => panic!("{other:?}"),
        };
        let problem = "the response answers a different request";
        let foreign = said(&CallError::Malformed {
            server: "one".into(),
            method: "tools/call".into(),
            source: serde::de::Error::custom(problem),
        });
        let long = said(&CallError::Oversized {
            server: "one".into(),
            method: "tools/call".into(),
            limit: 1,
        });
        assert!(foreign.contains(problem), "{foreign}");
        for said in [foreign, long] {
            assert!(said.contains("the call may have run"), "{said}");
            assert!(!said.contains("not available"), "{said}");
        }
        let unsent = said(&CallError::Unsent {
            server: "one".into(),
            method: "tools/call".into(),
            source: "connection refused".into(),
        });
        assert!(unsent.contains("`one` is not available"), "{unsent}");
        assert!(!unsent.contains("may have run"), "{unsent}");
    }

    #[test]
    fn a_missing_resource_has_the_code_of_each_era() {
        let legacy = r#"{"code":-32002, "message":"no", "data":{"uri":"a:b"}, "own":1.0}"#;
        let modern = r#"{"code":-32602, "message":"no", "data":{"uri":"a:b"}, "own":1.0}"#;
        assert_eq!(
            translated(legacy, LEGACY, MODERN, Some("a:b")),
            (-32602, modern.to_owned())
        );
        assert_eq!(
            translated(modern, MODERN, LEGACY, Some("a:b")),
            (-32002, legacy.to_owned())
        );
        // The error names another resource than the requested one, so the params are wrong.
        assert_eq!(translated(modern, MODERN, LEGACY, Some("a:c")).0, -32602);
        assert_eq!(translated(modern, MODERN, LEGACY, None).0, -32602);
    }

    #[test]
    fn legacy_clients_get_the_codes_of_legacy_applications() {
        let older = Revision::V2025_06_18;
        for code in [-32_020, -32_021, -32_022, -32_050] {
            let text = format!(r#"{{"code":{code},"message":"mine","data":[1]}}"#);
            assert_eq!(translated(&text, LEGACY, older, None), (code, text.clone()));
            assert_eq!(translated(&text, older, LEGACY, None), (code, text));
        }
    }

    #[test]
    fn codes_of_applications_are_not_taken_for_modern_ones() {
        let text = r#"{"code":-32050,"message":"mine","data":[1]}"#;
        let (code, text) = translated(text, LEGACY, MODERN, None);
        assert_eq!(code, -32603);
        assert!(text.contains(r#""code":-32050"#), "{text}");
        let plain = r#"{"code":7,"message":"mine",  "x":1}"#;
        assert_eq!(
            translated(plain, LEGACY, MODERN, None),
            (7, plain.to_owned())
        );
    }
}

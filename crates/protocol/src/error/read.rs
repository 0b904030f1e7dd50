//! Reads errors of a peer that break the specification.

use serde_json::Value;

use super::{ErrorObject, code, name_in_message};
use crate::{json, lenient};

impl ErrorObject {
    /// Parses the `error` of a response. An error with a message is accepted whatever its other members
    /// are: if its code is not an integer, the code is that of an internal error, and the received code
    /// is appended to the message.
    ///
    /// ```
    /// use turnbuckle_protocol::ErrorObject;
    ///
    /// let error = ErrorObject::read(r#"{"code":"E_BUSY","message":"no room"}"#)?;
    /// assert_eq!(error.message, "no room: E_BUSY");
    /// assert_eq!(error.code, -32603);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if there is no message.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).or_else(|error| mend(text).ok_or(error))
    }
}

#[cold]
fn mend(text: &str) -> Option<ErrorObject> {
    let mut members = lenient::readable_members(text)?;
    let Some(Value::String(mut message)) = members.shift_remove("message") else {
        return None;
    };
    let code = match members.shift_remove("code") {
        Some(Value::String(code)) => code.parse().unwrap_or_else(|_| {
            message = format!("{message}: {}", name_in_message(&code));
            code::INTERNAL_ERROR
        }),
        Some(code) => json::whole(code).unwrap_or(code::INTERNAL_ERROR),
        None => code::INTERNAL_ERROR,
    };
    let mut error = ErrorObject::new(code, message);
    error.data = members.shift_remove("data");
    Some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_with_a_message_is_read_whatever_else_it_has() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (text, code, message) in [
            (r#"{"code":-32602,"message":"m"}"#.to_owned(), -32602, "m"),
            (r#"{"code":"-32602","message":"m"}"#.to_owned(), -32602, "m"),
            (r#"{"code":"E","message":"m"}"#.to_owned(), -32603, "m: E"),
            (r#"{"code":1e30,"message":"m"}"#.to_owned(), -32603, "m"),
            (r#"{"code":null,"message":"m"}"#.to_owned(), -32603, "m"),
            (r#"{"message":"m"}"#.to_owned(), -32603, "m"),
            (
                r#"{"code":-32000,"message":"m \ud83d"}"#.to_owned(),
                -32000,
                "m \u{fffd}",
            ),
            (
                format!(r#"{{"code":7,"message":"m","data":{deep}}}"#),
                7,
                "m",
            ),
        ] {
            let error = ErrorObject::read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((error.code, &*error.message), (code, message), "{text}");
        }
        for text in ["{}", "7", r#"{"code":7}"#, r#"{"code":7,"message":8}"#] {
            ErrorObject::read(text).unwrap_err();
        }
    }
}

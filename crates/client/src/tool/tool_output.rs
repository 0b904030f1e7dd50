//! The output of a tool.

use std::ops::Deref;

use serde::de::{DeserializeOwned, IntoDeserializer, value::Error as ValueError};
use turnbuckle_protocol::{CallToolResult, ContentBlock};

use crate::error::CallError;

/// The output of a tool: content for a model, and often structured content for a program. Returned by
/// [`Connection::call`](crate::Connection::call).
///
/// Use [`ok`](Self::ok) to turn the output of a failed tool into an error, [`parse`](Self::parse) to
/// read its value, and [`text`](Self::text) to show it. It dereferences to the [`CallToolResult`] for
/// everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    tool: Box<str>,
    result: CallToolResult,
    mismatch: Option<Box<str>>,
}

impl ToolOutput {
    pub(crate) fn new(tool: &str, result: CallToolResult) -> Self {
        Self {
            tool: tool.into(),
            result,
            mismatch: None,
        }
    }

    /// Records how the output breaks the tool's output schema.
    pub(crate) fn with_mismatch(mut self, mismatch: &CallError) -> Self {
        self.mismatch = Some(mismatch.to_string().into());
        self
    }

    /// Returns how the output breaks the tool's output schema, if that is a
    /// [warning](crate::OutputCheck::Warn) and not an error.
    pub fn output_mismatch(&self) -> Option<&str> {
        self.mismatch.as_deref()
    }

    /// Returns the output, or an error if the tool failed.
    ///
    /// # Errors
    /// [`CallError::ToolFailed`] with the text if the tool failed.
    pub fn ok(self) -> Result<Self, CallError> {
        if self.result.is_error() {
            return Err(self.failure());
        }
        Ok(self)
    }

    fn failure(&self) -> CallError {
        CallError::ToolFailed {
            tool: self.tool.clone(),
            text: self.text(),
        }
    }

    /// Parses the value that the tool returned: its structured content. Tools of older revisions have
    /// no structured content and usually write the same value as JSON into their text, so the text is
    /// parsed instead. Text that is not JSON can be read as a `String`.
    ///
    /// ```no_run
    /// #[derive(serde::Deserialize)]
    /// struct Weather {
    ///     celsius: f64,
    /// }
    ///
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let weather: Weather = server.call("weather", [("place", "Oslo")]).await?.parse()?;
    /// println!("{} °C", weather.celsius);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`CallError::ToolFailed`] with the text if the tool failed, and [`CallError::OtherType`] if the
    /// returned value is not a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        if self.result.is_error() {
            return Err(self.failure());
        }
        let parsed = match &self.result.structured_content {
            Some(value) => serde_json::from_str(value.get()),
            None => parse_text(&self.text()),
        };
        parsed.map_err(|source| CallError::OtherType {
            tool: self.tool.clone(),
            source,
        })
    }

    /// Returns the text of the content, with a line break between two pieces. If the tool failed, the
    /// text is the reason: call [`ok`](Self::ok) first.
    pub fn text(&self) -> String {
        let pieces = self.result.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        pieces.collect::<Vec<_>>().join("\n")
    }

    /// Returns the result as a type of the protocol, to be passed on or serialised.
    pub fn into_result(self) -> CallToolResult {
        self.result
    }
}

impl Deref for ToolOutput {
    type Target = CallToolResult;

    fn deref(&self) -> &CallToolResult {
        &self.result
    }
}

fn parse_text<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        let plain: Result<T, ValueError> = T::deserialize(text.into_deserializer());
        plain.map_err(|_| error)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(result: CallToolResult) -> ToolOutput {
        ToolOutput::new("t", result)
    }

    #[test]
    fn structured_content_comes_before_text() {
        let mut result = CallToolResult::structured(&json!({"n": 1})).unwrap();
        result.content = vec![ContentBlock::text("one")];
        let value: serde_json::Value = output(result).parse().unwrap();
        assert_eq!(value, json!({"n": 1}));
    }

    #[test]
    fn text_serves_where_there_is_nothing_else() {
        let value: Vec<u8> = output(CallToolResult::text("[1,2]")).parse().unwrap();
        assert_eq!(value, [1, 2]);
        let text: String = output(CallToolResult::text("it is 5 o'clock"))
            .parse()
            .unwrap();
        assert_eq!(text, "it is 5 o'clock");
        let digits: String = output(CallToolResult::text("42")).parse().unwrap();
        assert_eq!(digits, "42");
    }

    #[test]
    fn a_failed_tool_is_an_error_with_its_text() {
        let failed = output(CallToolResult::error("no such seat"));
        let Err(CallError::ToolFailed { text, .. }) = failed.parse::<String>() else {
            panic!("it failed")
        };
        assert_eq!(text, "no such seat");
        let failed = output(CallToolResult::error("no such seat"));
        let error = failed.ok().unwrap_err().to_string();
        assert_eq!(error, "tool `t` failed: no such seat");
        assert_eq!(
            output(CallToolResult::text("12A")).ok().unwrap().text(),
            "12A"
        );
    }

    #[test]
    fn what_does_not_fit_says_what_was_expected() {
        let error = output(CallToolResult::text("hello"))
            .parse::<u32>()
            .unwrap_err();
        assert!(matches!(error, CallError::OtherType { .. }), "{error}");
    }
}

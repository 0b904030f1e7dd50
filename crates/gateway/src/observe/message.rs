//! One message of a hop.

use serde::Serialize;

/// 16 KiB: of a longer message the beginning tells what it is.
const MAX_TEXT: usize = 16 * 1024;

/// A side of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum GatewaySide {
    /// Between the client and the gateway.
    Client,
    /// Between the gateway and the server.
    Server,
}

/// The role of a message in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum MessageRole {
    /// The request of the client, or the one to the server.
    Request,
    /// What the server asks in the middle of it.
    Question,
    /// The answer of the client to that.
    Answer,
    /// Progress or a log message.
    Notification,
    /// The result.
    Result,
    /// An error in place of the result.
    Error,
}

/// One message.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageView {
    /// The side it passed on.
    pub hop: GatewaySide,
    /// Its role in the call.
    pub part: MessageRole,
    /// The method, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Milliseconds since the request came.
    pub at: f64,
    /// The params, the result or the error as JSON; its beginning, if it is long.
    pub text: String,
    /// The length of the whole text in bytes.
    pub bytes: usize,
}

impl MessageView {
    pub(super) fn new(
        hop: GatewaySide,
        part: MessageRole,
        method: Option<&str>,
        at: f64,
        text: &str,
    ) -> Self {
        let mut end = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            hop,
            part,
            method: method.map(str::to_owned),
            at,
            text: text[..end].to_owned(),
            bytes: text.len(),
        }
    }
}

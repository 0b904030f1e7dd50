//! A recorded message of one hop.

use serde::Serialize;

/// 16 KiB: the beginning of a longer message shows enough of it.
const MAX_TEXT: usize = 16 * 1024;

/// One of the two sides of the gateway.
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
    /// The request of the client, or the request that the gateway sent to the server.
    Request,
    /// A question of the server during the request.
    Question,
    /// The client's answer to a question.
    Answer,
    /// Progress or a log message.
    Notification,
    /// The result.
    Result,
    /// An error instead of the result.
    Error,
}

/// A recorded message.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageView {
    /// The side of the gateway on which it was sent.
    pub hop: GatewaySide,
    /// Its role in the call.
    pub part: MessageRole,
    /// The method, if the message has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Milliseconds since the request arrived.
    pub at: f64,
    /// The params, the result or the error as JSON. A long text is cut off.
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

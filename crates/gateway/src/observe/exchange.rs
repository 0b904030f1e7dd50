//! One request with the messages of both hops.

use serde::Serialize;
use turnbuckle_protocol::Revision;

use super::message::MessageView;

/// One request, without its messages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExchangeSummary {
    /// Counts from 1.
    pub number: u64,
    /// When it arrived, in milliseconds since 1970.
    pub time: u64,
    /// The method.
    pub method: String,
    /// The tool or prompt by its name in the gateway, or the URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who called, if the guard knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The name and version that the client gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The revision of the client.
    pub from: Revision,
    /// The server; `None` if the gateway answered by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revision of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Revision>,
    /// `running`, `ok`, `tool_error`, `error`, `asked` or `cancelled`.
    pub outcome: &'static str,
    /// How long it took, or has taken so far.
    pub milliseconds: f64,
    /// How many questions the server asked.
    pub asked: u32,
    /// The request that this one continues with answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<u64>,
}

/// One request with its messages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExchangeView {
    /// The request.
    #[serde(flatten)]
    pub summary: ExchangeSummary,
    /// The messages of both hops in the order of time.
    pub messages: Vec<MessageView>,
    /// Messages that were not kept, because there were too many.
    pub dropped: usize,
}

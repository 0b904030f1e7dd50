//! A recorded request with the messages of both hops.

use serde::Serialize;
use turnbuckle_protocol::Revision;

use super::message::MessageView;

/// A recorded request, without its messages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExchangeSummary {
    /// The number of the request, counted from 1.
    pub number: u64,
    /// When it arrived, in milliseconds since 1970.
    pub time: u64,
    /// The method.
    pub method: String,
    /// The name of the tool or prompt in the gateway, or the URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The id of the caller, if the guard identified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The name and version that the client gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The revision of the client.
    pub from: Revision,
    /// The server; `None` if the gateway itself answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revision of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Revision>,
    /// `running`, `ok`, `tool_error`, `error`, `asked` or `cancelled`.
    pub outcome: &'static str,
    /// How long the request took, or has taken so far.
    pub milliseconds: f64,
    /// How many questions the server asked.
    pub asked: u32,
    /// The number of the earlier request that this one continues with answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<u64>,
}

/// A recorded request with its messages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExchangeView {
    /// The request.
    #[serde(flatten)]
    pub summary: ExchangeSummary,
    /// The messages of both hops in chronological order.
    pub messages: Vec<MessageView>,
    /// How many messages were not kept, because there were too many.
    pub dropped: usize,
}

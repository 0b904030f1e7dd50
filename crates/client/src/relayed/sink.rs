//! Receives the messages for a relay that belong to none of its calls.

use serde_json::value::RawValue;
use turnbuckle_protocol::Id;

use super::RelayAsk;

/// Receives the messages of a server that belong to no relayed call. It is called where the message
/// was read, and must not block.
pub trait RelaySink: Send + Sync + 'static {
    /// A request of the server that no call could be found for. Dropping it refuses it.
    fn ask(&self, ask: RelayAsk);

    /// A notification that belongs to no call: changed lists, updated resources, the state of tasks,
    /// and log messages where nothing says which call they belong to. The params are as they came.
    fn notification(&self, method: &str, params: Option<&RawValue>);

    /// The server withdrew a request that was handed on, to this sink or as an event of a call.
    fn withdrawn(&self, _id: &Id) {}
}

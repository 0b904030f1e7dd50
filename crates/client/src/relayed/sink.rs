//! `RelaySink`: receives the messages for a relay that belong to none of its calls.

use serde_json::value::RawValue;
use turnbuckle_protocol::Id;

use super::RelayAsk;

/// Receives the messages of a server that belong to no relayed call. Its methods are called where
/// messages are read, and must not block.
pub trait RelaySink: Send + Sync + 'static {
    /// Called for a request of the server for which no call was found. Dropping the request refuses it.
    fn ask(&self, ask: RelayAsk);

    /// Called for a notification that belongs to no call: changed lists, updated resources, the state
    /// of tasks, and log messages whose call is unknown. The params are unchanged.
    fn notification(&self, method: &str, params: Option<&RawValue>);

    /// Called when the server withdraws a request that was passed to this sink or to a call.
    fn withdrawn(&self, _id: &Id) {}
}

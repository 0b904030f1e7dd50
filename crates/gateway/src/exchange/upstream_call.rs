//! A call to a server. Its cancellation carries the client's reason.

use std::ops::{Deref, DerefMut};

use turnbuckle_client::RelayCall;
use turnbuckle_server::ClientChannel;

/// A call to a server. Dropping it cancels the call at the server, with the reason of the client if
/// the client gave one.
pub(crate) struct UpstreamCall(Option<RelayCall>);

impl UpstreamCall {
    /// Cancels the call with a reason of the gateway. No event follows.
    pub(crate) fn cancel(&mut self, reason: &str) {
        if let Some(call) = self.0.take() {
            call.cancel(reason);
        }
    }
}

impl From<RelayCall> for UpstreamCall {
    fn from(call: RelayCall) -> Self {
        Self(Some(call))
    }
}

impl Deref for UpstreamCall {
    type Target = RelayCall;

    fn deref(&self) -> &RelayCall {
        self.0
            .as_ref()
            .expect("it is taken out when it is given up")
    }
}

impl DerefMut for UpstreamCall {
    fn deref_mut(&mut self) -> &mut RelayCall {
        self.0
            .as_mut()
            .expect("it is taken out when it is given up")
    }
}

impl Drop for UpstreamCall {
    fn drop(&mut self) {
        if let Some(call) = self.0.take()
            && let Some(reason) = ClientChannel::cancelled_because()
        {
            call.cancel(&reason);
        }
    }
}

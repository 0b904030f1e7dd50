//! `server/discover`.

use turnbuckle_protocol::DiscoverResult;

use super::{ClientCall, Parsed, builder::Body};
use crate::connection::Connection;

impl Connection {
    /// Asks the server for its current revisions and capabilities with `server/discover`. The result is
    /// [cached](crate::Cache) if the server allows it. [`server`](Self::server) returns the
    /// capabilities from the time of connecting without a request.
    ///
    /// # Errors
    /// Only modern servers support it: awaiting the call fails with
    /// [`CallError::NotOffered`](crate::CallError::NotOffered) for a server of an older revision.
    pub fn discover(&self) -> ClientCall<'_, DiscoverResult> {
        ClientCall::new(
            self.link(),
            "server/discover",
            Ok(Body::Plain(None)),
            |reader, raw| reader.complete(&raw).map(Parsed::Done),
        )
        .cached()
    }
}

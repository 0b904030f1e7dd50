//! `server/discover`.

use turnbuckle_protocol::DiscoverResult;

use super::{ClientCall, Parsed, builder::Body};
use crate::connection::Connection;

impl Connection {
    /// Asks the server for its current revisions and capabilities with `server/discover`;
    /// [`server`](Self::server) returns those from the time of connecting. The result is
    /// [cached](crate::Cache) if the server allows it. Only modern servers support it.
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

//! `server/discover`.

use turnbuckle_protocol::DiscoverResult;

use super::{Call, Parsed, builder::Body};
use crate::connection::Connection;

impl Connection {
    /// Asks what the server speaks and can do, as it is now; [`server`](Self::server) is how it was
    /// when it was connected to. What the server allows to be kept is [kept](crate::Cache). Only
    /// modern servers can be asked.
    pub fn discover(&self) -> Call<'_, DiscoverResult> {
        Call::new(
            self.link(),
            "server/discover",
            Ok(Body::Plain(None)),
            |reader, raw| reader.complete(&raw).map(Parsed::Done),
        )
        .cached()
    }
}

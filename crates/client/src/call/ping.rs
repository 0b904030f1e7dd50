//! `ping`: checks that a server responds.

use serde::de::IgnoredAny;

use super::{ClientCall, Parsed, builder::Body};
use crate::connection::Connection;

impl Connection {
    /// Checks that the server responds. It sends `ping`, or `server/discover` to servers of 2026-07-28,
    /// which has no `ping`.
    ///
    /// ```no_run
    /// # async fn run(server: turnbuckle_client::Connection) {
    /// if let Err(error) = server.ping().await {
    ///     eprintln!("{} does not respond: {error}", server.server().name());
    /// }
    /// # }
    /// ```
    pub fn ping(&self) -> ClientCall<'_, ()> {
        let method = if self.link().revision().is_modern() {
            "server/discover"
        } else {
            "ping"
        };
        ClientCall::new(self.link(), method, Ok(Body::Plain(None)), |reader, raw| {
            reader.parse::<IgnoredAny>(&raw).map(|_| Parsed::Done(()))
        })
    }
}

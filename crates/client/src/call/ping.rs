//! Is the server still there?

use serde::de::IgnoredAny;

use super::{Call, Parsed, builder::Body};
use crate::connection::Connection;

impl Connection {
    /// Asks the server for a sign of life: `ping`, or in the modern era, which has none, the
    /// question that every server must answer.
    pub fn ping(&self) -> Call<'_, ()> {
        let method = if self.link().revision().is_modern() {
            "server/discover"
        } else {
            "ping"
        };
        Call::new(self.link(), method, Ok(Body::Plain(None)), |reader, raw| {
            reader.parse::<IgnoredAny>(&raw).map(|_| Parsed::Done(()))
        })
    }
}

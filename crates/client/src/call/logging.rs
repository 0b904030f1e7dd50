//! How much of a server's log to hear.

use turnbuckle_protocol::{LoggingLevel, SetLevelRequestParams};

use super::{
    Call,
    builder::{Body, object},
    exchange::Read,
};
use crate::{CallError, Connection};

const METHOD: &str = "logging/setLevel";

impl Connection {
    /// Asks for log messages of this severity and above, which then come with the other
    /// [`news`](Self::news). In the modern era they come with the calls made from now on.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let link = self.link();
        if link.revision().is_modern() {
            link.stamp_with(link.revision(), Some(level));
            return Ok(());
        }
        let body = object(METHOD, &SetLevelRequestParams::new(level)).map(Body::Plain);
        Call::new(link, METHOD, body, |_, _| Ok(Read::Done(()))).await
    }
}

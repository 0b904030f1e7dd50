//! `logging/setLevel`: the log level of a server.

use turnbuckle_protocol::{LoggingLevel, SetLevelRequestParams};

use super::{ClientCall, Parsed, arguments::object, builder::Body};
use crate::{connection::Connection, error::CallError, link::Link};

const METHOD: &str = "logging/setLevel";

impl Connection {
    /// Asks for log messages of this severity and above. [`logs`](Self::logs) receives them. A modern
    /// server sends them with the calls made from now on, a server with a session at any time; if a
    /// session is replaced by a new one, the level is set again.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if a server with a session does not have the logging capability.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let link = self.link();
        if link.revision().is_modern() {
            link.announce(link.revision(), Some(level));
            return Ok(());
        }
        set_level(link, level).await?;
        self.keep_session();
        Ok(())
    }

    /// Sets the client's log level in a session. A modern server gets the level with each request.
    pub(crate) fn ask_for_logs(&self) {
        let link = self.link();
        if let Some(level) = link.profile().settings.log_level
            && link.check_offered(METHOD).is_ok()
        {
            link.desired.want_level(level);
            self.keep_session();
        }
    }
}

impl<R> ClientCall<'_, R> {
    /// Asks for log messages of this severity during the call.
    pub(super) async fn hear_logs(&mut self, level: LoggingLevel) -> Result<(), CallError> {
        if self.link.revision().is_modern() {
            let meta = self.options.meta.take().unwrap_or_default();
            self.options.meta = Some(meta.with_log_level(level));
            return Ok(());
        }
        let is_offered = self.link.check_offered(METHOD).is_ok();
        if !is_offered || self.link.desired.hears(level) {
            return Ok(());
        }
        // Boxed, because this makes another call within a call.
        Box::pin(set_level(self.link, level)).await
    }
}

/// Sets the level of a session.
async fn set_level(link: &Link, level: LoggingLevel) -> Result<(), CallError> {
    let body = object(METHOD, &SetLevelRequestParams::new(level)).map(Body::Plain);
    ClientCall::new(link, METHOD, body, |_, _| Ok(Parsed::Done(()))).await?;
    link.desired.has_level(level);
    Ok(())
}

//! The shared state of all calls of a server.

use std::sync::Arc;

use turnbuckle_protocol::LoggingLevel;
use turnbuckle_transport::Rate;

use super::{
    ask::AskContext,
    log_offer::LogOffer,
    states::{ReadsHttp, StateMap},
};
use crate::Changes;

/// The shared state that handlers use.
pub(crate) struct CallContext {
    pub(crate) states: StateMap,
    pub(crate) changes: Changes,
    pub(crate) asks: Arc<AskContext>,
    pub(crate) logging: Arc<LogOffer>,
    /// The mildest log messages for sessions that never set a level; none if `None`.
    pub(crate) default_log_level: Option<LoggingLevel>,
    /// How often one call may report progress.
    pub(crate) progress_rate: Rate,
    /// How often one call may send log messages.
    pub(crate) log_rate: Rate,
    /// Whether some handler or layer wants to see HTTP requests.
    pub(crate) reads_http: ReadsHttp,
}

impl CallContext {
    /// Whether HTTP requests are kept for handlers.
    #[cfg(feature = "http")]
    pub(crate) fn reads_http(&self) -> bool {
        self.reads_http.is_set()
    }
}

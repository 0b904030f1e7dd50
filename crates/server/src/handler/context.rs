//! The shared state of all calls of a server.

use std::sync::Arc;

use turnbuckle_protocol::LoggingLevel;
use turnbuckle_transport::Rate;

use super::{ask::AskContext, log_offer::LogOffer, states::StateMap};
use crate::Changes;

/// The state that all handlers share.
pub(crate) struct CallContext {
    pub(crate) states: StateMap,
    pub(crate) changes: Changes,
    pub(crate) asks: Arc<AskContext>,
    pub(crate) logging: Arc<LogOffer>,
    /// The least severe log messages for sessions that have not set a level. `None` means no
    /// messages.
    pub(crate) default_log_level: Option<LoggingLevel>,
    /// How often one call may report progress.
    pub(crate) progress_rate: Rate,
    /// How often one call may send log messages.
    pub(crate) log_rate: Rate,
    /// Whether a handler or a layer needs HTTP requests.
    #[cfg(feature = "http")]
    pub(crate) reads_http: super::states::ReadsHttp,
}

impl CallContext {
    /// Whether HTTP requests are kept for handlers.
    #[cfg(feature = "http")]
    pub(crate) fn reads_http(&self) -> bool {
        self.reads_http.is_set()
    }
}

//! What all calls of a server share.

use std::sync::Arc;

use super::{ask::AskContext, log_offer::LogOffer, states::StateMap};
use crate::Changes;

/// What handlers of a server find, whatever is called.
pub(crate) struct CallContext {
    pub(crate) states: StateMap,
    pub(crate) changes: Changes,
    pub(crate) asks: Arc<AskContext>,
    pub(crate) logging: Arc<LogOffer>,
}

//! What all requests to one HTTP service share.

use std::sync::Arc;

use http::request::Parts;

use super::{protect::Protect, sessions::Sessions, settings::HttpSettings};
use crate::{
    Caller,
    client::CancelFlag,
    engine::{Shared, task::Anybody},
};

/// What all requests share.
pub(super) struct Site {
    pub(super) shared: Arc<Shared>,
    pub(super) settings: HttpSettings,
    pub(super) sessions: Sessions,
    pub(super) endpoint: Option<String>,
    /// Set when the service winds up.
    pub(super) closing: CancelFlag,
    /// Who says who calls, if not a layer in front.
    pub(super) guard: Option<Arc<dyn Protect>>,
    local: Caller,
}

impl Site {
    pub(super) fn new(
        shared: Arc<Shared>,
        settings: HttpSettings,
        endpoint: Option<String>,
        guard: Option<Arc<dyn Protect>>,
    ) -> Self {
        Self {
            shared,
            sessions: Sessions::new(&settings),
            settings,
            endpoint,
            closing: CancelFlag::default(),
            guard,
            local: Caller::local().with(Anybody),
        }
    }

    /// The caller that a layer in front found, or the local one.
    pub(super) fn caller(&self, parts: &Parts) -> Caller {
        let found = parts.extensions.get::<Caller>();
        found.unwrap_or(&self.local).clone()
    }
}

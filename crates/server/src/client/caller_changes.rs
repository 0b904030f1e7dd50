//! Changes that concern one caller.

use super::Caller;
use crate::{quota::CallerKey, subscription::Changes};

impl Changes {
    /// Changes of which this caller alone is told, by this process: of a session that the server
    /// keeps for the caller, for example. Callers without an id cannot be told apart, so all of them are
    /// told.
    #[must_use]
    pub fn of_caller(&self, caller: &Caller) -> Self {
        match caller.id() {
            Some(_) => self.only_for(CallerKey::of(caller)),
            None => self.clone(),
        }
    }
}

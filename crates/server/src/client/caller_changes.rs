//! Changes that concern one caller.

use super::Caller;
use crate::{quota::CallerKey, subscription::Changes};

impl Changes {
    /// Returns a handle that notifies only the sessions and subscriptions of this caller, on this
    /// process. Use it for changes that only concern one caller, such as those of a session that the
    /// server keeps for it. All callers without an id count as one caller, so all of them are
    /// notified.
    #[must_use]
    pub fn of_caller(&self, caller: &Caller) -> Self {
        match caller.id() {
            Some(_) => self.only_for(CallerKey::of(caller)),
            None => self.clone(),
        }
    }
}

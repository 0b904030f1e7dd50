//! Progress of a call that has become a task.
//!
//! tasks: the progress token of the call stays valid for the lifetime of its task, although the call
//! itself has been answered.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use turnbuckle_protocol::{Id, ProgressNotificationParams};

use super::request::OpenRequest;
use crate::pending::{LateSlot, PendingRequests};

/// Receives progress reports that come after the call was answered. Dropping it stops that.
pub(crate) struct LateProgress {
    pending: Arc<PendingRequests>,
    token: Id,
    slot: LateSlot,
}

impl OpenRequest<'_> {
    /// Keeps the token of the request valid after its answer.
    pub(crate) fn late_progress(&self) -> LateProgress {
        let slot = LateSlot::default();
        self.link.pending.keep_token(self.id.clone(), slot.clone());
        LateProgress {
            pending: self.link.pending.clone(),
            token: self.id.clone(),
            slot,
        }
    }
}

impl LateProgress {
    /// Passes reports to `listener` while `work` runs.
    pub(crate) async fn listen<T>(
        &self,
        work: impl Future<Output = T>,
        listener: &mut (dyn FnMut(ProgressNotificationParams) + Send),
    ) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            let done = work.as_mut().poll(context);
            while let Poll::Ready(report) = self.slot.poll_report(context) {
                listener(report);
            }
            done
        })
        .await
    }
}

impl Drop for LateProgress {
    fn drop(&mut self) {
        self.pending.drop_token(&self.token);
    }
}

//! The application's hook for authorization. The connection's clock is stopped while it runs.
//!
//! A hook may have to send a user to sign in. The server is not slow then, so this time does not
//! count against its deadlines: neither against that of a call nor against that of the probe, which
//! would take the silence for an answer.

use std::{
    future::poll_fn,
    sync::{Arc, Weak},
    task::Poll,
};

use futures_core::future::BoxFuture;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::{
    Authorize, BoxError, Challenge, Decision, RequestHead, ResponseHead,
};

use crate::link::Link;

/// A hook that is waited for. Clones share it.
#[derive(Clone)]
pub(crate) struct AuthorizeHook {
    hook: Arc<dyn Authorize>,
    /// The connection that it works for; empty before it is opened.
    link: Arc<Mutex<Weak<Link>>>,
}

impl AuthorizeHook {
    pub(super) fn new(hook: Arc<dyn Authorize>) -> Self {
        Self {
            hook,
            link: Arc::default(),
        }
    }

    /// The same hook for another connection.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.hook.clone())
    }

    /// Holds the clock of this connection from now on.
    pub(super) fn attach(&self, link: &Arc<Link>) {
        *self.link.lock() = Arc::downgrade(link);
    }

    fn link(&self) -> Option<Arc<Link>> {
        let link = self.link.lock();
        link.upgrade()
    }

    async fn wait<T>(&self, mut work: BoxFuture<'_, T>) -> T {
        // Most of the time the hook has what it needs, and the clock is left alone.
        let at_once = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        if let Poll::Ready(outcome) = at_once {
            return outcome;
        }
        let link = self.link();
        let _held = link.as_ref().map(|link| link.pending.hold());
        work.await
    }
}

impl Authorize for AuthorizeHook {
    fn authorize<'a>(
        &'a self,
        mut request: RequestHead<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.wait(self.hook.authorize(request.reborrow())).await?;
            let credentials = request.headers.get("authorization");
            if let (Some(credentials), Some(link)) = (credentials, self.link()) {
                link.cache.set_credentials(credentials.as_bytes());
            }
            Ok(())
        })
    }

    fn answered(&self, answer: ResponseHead<'_>) {
        self.hook.answered(answer);
    }

    fn challenged<'a>(
        &'a self,
        refusal: Challenge<'a>,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(self.wait(self.hook.challenged(refusal)))
    }
}

impl std::fmt::Debug for AuthorizeHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthorizeHook").finish_non_exhaustive()
    }
}

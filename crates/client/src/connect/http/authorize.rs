//! The application's hook for authorization. The connection's clock is stopped while the hook runs.
//!
//! A hook may have to ask the user to sign in. This time does not count against any deadline of the
//! server: neither that of a call nor that of the probe, which would take the server for silent.

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

/// The application's hook, which stops the clock while it is awaited. Clones share it.
#[derive(Clone)]
pub(crate) struct AuthorizeHook {
    hook: Arc<dyn Authorize>,
    /// The connection that uses the hook; empty before it is opened.
    link: Arc<Mutex<Weak<Link>>>,
}

impl AuthorizeHook {
    pub(super) fn new(hook: Arc<dyn Authorize>) -> Self {
        Self {
            hook,
            link: Arc::default(),
        }
    }

    /// Returns the same hook for another connection.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.hook.clone())
    }

    /// Sets the connection whose clock the hook stops.
    pub(super) fn attach(&self, link: &Arc<Link>) {
        *self.link.lock() = Arc::downgrade(link);
    }

    fn link(&self) -> Option<Arc<Link>> {
        let link = self.link.lock();
        link.upgrade()
    }

    async fn wait<T>(&self, mut work: BoxFuture<'_, T>) -> T {
        // Most of the time the hook already has the credentials, and the clock need not be stopped.
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

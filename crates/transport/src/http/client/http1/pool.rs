//! Connections that wait for their next request.

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::uri::Authority;
use tokio::runtime::Handle;
use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;

use super::super::stream::ClientStream;

/// Keeps connections that have no request, up to a number and for some time.
pub(super) struct Pool {
    idle: Mutex<Idle>,
    limit: usize,
    patience: Duration,
}

#[derive(Default)]
struct Idle {
    /// The one used last is at the end.
    connections: Vec<IdleConnection>,
    /// Whether a task closes those that have waited too long.
    is_swept: bool,
}

struct IdleConnection {
    to: Authority,
    stream: ClientStream,
    since: Instant,
}

impl Pool {
    /// Keeps up to `limit` connections, each for `patience`.
    pub(super) fn new(limit: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::default(),
            limit,
            patience,
        })
    }

    /// A connection to this place that the other end has not closed.
    pub(super) fn take(&self, to: &Authority) -> Option<ClientStream> {
        let mut idle = self.idle.lock();
        while let Some(at) = idle.connections.iter().rposition(|it| it.to == *to) {
            let mut waiting = idle.connections.remove(at);
            if waiting.since.elapsed() < self.patience && waiting.stream.is_quiet() {
                return Some(waiting.stream);
            }
        }
        None
    }

    /// Keeps a connection whose last answer has been read. Without a runtime it is closed.
    pub(super) fn put(self: &Arc<Self>, to: Authority, stream: ClientStream) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut idle = self.idle.lock();
        if idle.connections.len() >= self.limit {
            return;
        }
        let since = Instant::now();
        idle.connections.push(IdleConnection { to, stream, since });
        let is_swept = std::mem::replace(&mut idle.is_swept, true);
        // A runtime that is ending drops the new task at once, and the task needs the lock for that.
        drop(idle);
        if !is_swept {
            let sweep = Sweep(Arc::downgrade(self));
            drop(runtime.spawn(sweep.run(self.patience)));
        }
    }

    /// Closes the unused connections to this place.
    pub(super) fn close(&self, to: &Authority) {
        self.idle.lock().connections.retain(|it| it.to != *to);
    }

    /// Closes connections that have waited too long, and says whether any still wait.
    fn sweep(&self) -> bool {
        let mut idle = self.idle.lock();
        let patience = self.patience;
        idle.connections
            .retain(|waiting| waiting.since.elapsed() < patience);
        idle.is_swept = !idle.connections.is_empty();
        idle.is_swept
    }
}

/// Closes connections until none wait, or the pool is gone.
struct Sweep(Weak<Pool>);

impl Sweep {
    async fn run(mut self, patience: Duration) {
        loop {
            tokio::time::sleep(patience).await;
            if !self.0.upgrade().is_some_and(|pool| pool.sweep()) {
                // Another task may sweep already; the flag is its own.
                self.0 = Weak::new();
                return;
            }
        }
    }
}

impl Drop for Sweep {
    /// A runtime that ends drops its tasks. The pool may live on in another.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.idle.lock().is_swept = false;
        }
    }
}

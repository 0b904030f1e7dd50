//! Idle connections, which wait for their next request.

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::uri::Authority;
use tokio::runtime::Handle;
use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;

use super::super::stream::ClientStream;

/// Keeps idle connections, up to a number and for a limited time.
pub(super) struct Pool {
    idle: Mutex<Idle>,
    limit: usize,
    patience: Duration,
}

#[derive(Default)]
struct Idle {
    /// The one that was used last is at the end.
    connections: Vec<IdleConnection>,
    /// Whether a task is running that closes connections after their time.
    is_swept: bool,
}

struct IdleConnection {
    to: Authority,
    stream: ClientStream,
    since: Instant,
}

impl Pool {
    /// Creates a pool for up to `limit` connections, each for the time `patience`.
    pub(super) fn new(limit: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::default(),
            limit,
            patience,
        })
    }

    /// Returns a connection to this server that the other end has not closed.
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

    /// Adds a connection whose last response was read completely. Without a runtime it is closed.
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
        // A runtime that is shutting down drops the new task at once, and its drop takes the lock.
        drop(idle);
        if !is_swept {
            let sweep = IdleCloser(Arc::downgrade(self));
            drop(runtime.spawn(sweep.run(self.patience)));
        }
    }

    /// Closes the idle connections to this server.
    pub(super) fn close(&self, to: &Authority) {
        self.idle.lock().connections.retain(|it| it.to != *to);
    }

    /// Closes connections that were idle for too long. Returns whether any are left.
    fn sweep(&self) -> bool {
        let mut idle = self.idle.lock();
        let patience = self.patience;
        idle.connections
            .retain(|waiting| waiting.since.elapsed() < patience);
        idle.is_swept = !idle.connections.is_empty();
        idle.is_swept
    }
}

/// Closes connections until none are left, or the pool is dropped.
struct IdleCloser(Weak<Pool>);

impl IdleCloser {
    async fn run(mut self, patience: Duration) {
        loop {
            tokio::time::sleep(patience).await;
            if !self.0.upgrade().is_some_and(|pool| pool.sweep()) {
                // Another task may already be sweeping; it owns the flag then.
                self.0 = Weak::new();
                return;
            }
        }
    }
}

impl Drop for IdleCloser {
    /// A runtime that shuts down drops its tasks. The pool may still be used on another runtime.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.idle.lock().is_swept = false;
        }
    }
}

//! Handlers that wait until the test lets them continue.

use std::sync::Arc;

use tokio::{sync::Semaphore, time::timeout};
use turnbuckle_server::{LiveServer, Server, State, Tool};

use crate::wire::TIMEOUT;

/// A gate at which handlers wait. The test can wait until they arrive, let them continue, and wait
/// until they are dropped.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Counts>);

struct Counts {
    arrived: Semaphore,
    passes: Semaphore,
    dropped: Semaphore,
}

impl Gate {
    pub(crate) fn new() -> Self {
        let none = || Semaphore::new(0);
        Self(Arc::new(Counts {
            arrived: none(),
            passes: none(),
            dropped: none(),
        }))
    }

    /// Waits at the gate; called by handlers.
    pub(crate) async fn pass(&self) {
        let undone = Undone(self.clone());
        self.0.arrived.add_permits(1);
        self.0
            .passes
            .acquire()
            .await
            .expect("the gate is never closed")
            .forget();
        std::mem::forget(undone);
    }

    /// Waits until this many more handlers have arrived at the gate.
    pub(crate) async fn arrived(&self, count: u32) {
        taken(&self.0.arrived, count).await;
    }

    /// Lets this many handlers continue, now or when they arrive.
    pub(crate) fn open(&self, count: usize) {
        self.0.passes.add_permits(count);
    }

    /// Waits until this many more handlers were dropped at the gate.
    pub(crate) async fn dropped(&self, count: u32) {
        taken(&self.0.dropped, count).await;
    }

    /// How many handlers were dropped at the gate, in addition to those that a test has waited for.
    pub(crate) fn count_dropped(&self) -> usize {
        self.0.dropped.available_permits()
    }

    /// How many handlers have arrived at the gate, in addition to those that a test has waited for.
    pub(crate) fn count_arrived(&self) -> usize {
        self.0.arrived.available_permits()
    }

    /// A server with a tool `wait` that waits at the gate, and a tool `now` that does not.
    pub(crate) fn server(&self) -> Server {
        Server::new("gate", "1.0.0")
            .state(self.clone())
            .tool(Tool::new("wait", wait))
            .tool(Tool::new("now", async || "now"))
    }

    /// The same server, built.
    pub(crate) fn live(&self) -> LiveServer {
        self.server().build().expect("a server")
    }
}

async fn taken(semaphore: &Semaphore, count: u32) {
    let permits = timeout(TIMEOUT, semaphore.acquire_many(count)).await;
    permits
        .expect("handlers come in time")
        .expect("the gate is never closed")
        .forget();
}

async fn wait(State(gate): State<Gate>) -> &'static str {
    gate.pass().await;
    "passed"
}

struct Undone(Gate);

impl Drop for Undone {
    fn drop(&mut self) {
        self.0.0.dropped.add_permits(1);
    }
}

//! The cost of clients that are only connected: sessions with an open stream, and listeners of the
//! modern era.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{
    Result,
    measure::crowd::{Crowd, gather},
    peers::Peer,
    process::{Running, megabytes},
    speed::Extent,
    statistics::Spread,
};

/// How many clients connect before the first measurement, so that one-time setup of a server is not counted.
const BEFORE: usize = 200;

/// How many clients are measured.
const WEIGHED: usize = 1000;

/// The time that a server gets to finish its work for the last of them.
const SETTLING: Duration = Duration::from_millis(500);

/// Megabytes for each thousand, for each round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Idle {
    pub(crate) server: String,
    sessions: Vec<f64>,
    listeners: Vec<f64>,
    /// Megabytes of a server that has just started.
    started: Vec<f64>,
}

impl Idle {
    pub(crate) fn sessions(&self) -> Option<Spread> {
        Spread::of(self.sessions.iter().copied())
    }

    /// `None` for a server without listeners.
    pub(crate) fn listeners(&self) -> Option<Spread> {
        Spread::of(self.listeners.iter().copied())
    }

    pub(crate) fn started(&self) -> Option<Spread> {
        Spread::of(self.started.iter().copied())
    }
}

pub(crate) async fn measure(servers: &[Peer], extent: Extent) -> Result<Vec<Idle>> {
    let rounds = match extent {
        Extent::Quick => 1,
        Extent::Full => 3,
    };
    let mut all: Vec<_> = servers.iter().map(|server| Idle::new(*server)).collect();
    for _ in 0..rounds {
        for (idle, server) in all.iter_mut().zip(servers) {
            eprintln!("weighing: {}", server.name());
            let (started, each) = weigh(&server.http(), Crowd::Streams).await?;
            idle.started.push(started);
            idle.sessions.push(each);
            // The control does not support listeners, and would let them wait.
            if *server == Peer::Control {
                continue;
            }
            match weigh(&server.http(), Crowd::Listeners).await {
                Ok((_, each)) => idle.listeners.push(each),
                Err(error) => eprintln!("warning: no listeners at {}: {error}", server.name()),
            }
        }
    }
    Ok(all)
}

impl Idle {
    fn new(server: Peer) -> Self {
        Self {
            server: server.name().to_owned(),
            sessions: Vec::new(),
            listeners: Vec::new(),
            started: Vec::new(),
        }
    }
}

/// Megabytes of a server after its start, and for each thousand of a crowd.
pub(crate) async fn weigh(command: &[String], crowd: fn(usize) -> Crowd) -> Result<(f64, f64)> {
    let (process, address) = Running::http(command).await?;
    let started = megabytes(process.pid, "VmRSS");
    let first = gather(crowd(BEFORE), address).await?;
    sleep(SETTLING).await;
    let before = megabytes(process.pid, "VmRSS");
    let others = gather(crowd(WEIGHED), address).await?;
    sleep(SETTLING).await;
    let after = megabytes(process.pid, "VmRSS");
    drop((first, others));
    process.end().await?;
    Ok((started, after - before))
}

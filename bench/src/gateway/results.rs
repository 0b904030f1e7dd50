//! The results of the comparison of gateways.

use serde::{Deserialize, Serialize};

use super::link::Link;
use crate::{load::Measured, results::Machine, statistics::Spread};

#[derive(Serialize, Deserialize)]
pub(crate) struct Gateways {
    pub(crate) date: String,
    pub(crate) machine: Machine,
    #[serde(default)]
    pub(crate) times: Vec<Timed>,
    #[serde(default)]
    pub(crate) counts: Vec<Counted>,
    pub(crate) memory: Option<Memory>,
    /// Milliseconds to the first answer of `turnbuckle up`, for different servers behind it.
    #[serde(default)]
    pub(crate) ready: Vec<(String, Vec<f64>)>,
    /// The measurements that failed, with the reasons.
    #[serde(default)]
    pub(crate) failures: Vec<String>,
}

/// One turn of one gateway, and of a direct connection just before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) program: String,
    pub(crate) link: Link,
    pub(crate) cell: String,
    pub(crate) scenario: String,
    pub(crate) direct: Measured,
    pub(crate) through: Measured,
}

/// Instructions of a gateway for one request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) program: String,
    pub(crate) link: Link,
    pub(crate) cell: String,
    pub(crate) size: String,
    pub(crate) instructions: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Kilobytes of one parked call of a server that is reached over HTTP, for each turn. An HTTP/1.1 connection
    /// is part of it.
    pub(crate) parked: Vec<f64>,
    /// The same for servers that are programs: one pipe carries all their calls.
    #[serde(default)]
    pub(crate) parked_at_programs: Vec<f64>,
    /// Megabytes of a thousand idle sessions, of a plain server and of the gateway.
    pub(crate) server_sessions: Vec<f64>,
    pub(crate) gateway_sessions: Vec<f64>,
}

impl Memory {
    /// Memory of parked calls, for different servers behind the gateway.
    pub(crate) fn parked(&self) -> [(&'static str, &[f64]); 2] {
        [
            ("KB of a parked call, HTTP→HTTP", &self.parked),
            ("KB of a parked call, HTTP→stdio", &self.parked_at_programs),
        ]
    }

    /// Memory of the gateway's sessions, as a multiple of a plain server's.
    pub(crate) fn sessions(&self) -> Option<Spread> {
        let pairs = self.gateway_sessions.iter().zip(&self.server_sessions);
        Spread::of(pairs.map(|(gateway, server)| gateway / server))
    }
}

impl Gateways {
    pub(crate) fn new(date: String, machine: Machine) -> Self {
        Self {
            date,
            machine,
            times: Vec::new(),
            counts: Vec::new(),
            memory: None,
            ready: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// A figure over all turns of a gateway.
    pub(crate) fn time(
        &self,
        program: &str,
        link: Link,
        cell: &str,
        scenario: &str,
        figure: impl Fn(&Timed) -> f64,
    ) -> Option<Spread> {
        let is_it = |it: &&Timed| {
            it.program == program && it.link == link && it.cell == cell && it.scenario == scenario
        };
        Spread::of(self.times.iter().filter(is_it).map(figure))
    }

    pub(crate) fn count(&self, program: &str, link: Link, cell: &str, size: &str) -> Option<f64> {
        let is_it = |it: &&Counted| {
            it.program == program && it.link == link && it.cell == cell && it.size == size
        };
        self.counts.iter().find(is_it).map(|it| it.instructions)
    }
}

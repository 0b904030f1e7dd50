//! Time: measures all servers in turn, round after round, so that other load on the machine affects them
//! equally. Ratios are taken within one round.

use std::{collections::HashMap, net::SocketAddr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    load::{self, Call, Measured, Operation, Until},
    measure::valgrind::Transport,
    paths::Path,
    peers::Peer,
    process::Running,
    statistics::Spread,
};

/// A program that compiles while it runs needs more time to become fast.
const WARM_COMPILED: Duration = Duration::from_millis(200);
const WARM_JUST_IN_TIME: Duration = Duration::from_secs(1);

/// A timed scenario.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) transport: Transport,
    pub(crate) call: Call,
    /// Clients over HTTP, each with a connection; over stdio, outstanding requests.
    pub(crate) clients: usize,
}

/// The size of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    Quick,
    Full,
}

impl Extent {
    pub(crate) fn measured(self) -> Duration {
        match self {
            Self::Quick => Duration::from_millis(300),
            Self::Full => Duration::from_secs(1),
        }
    }

    /// How many requests of a path are counted.
    pub(crate) fn counted(self, path: &Path) -> u64 {
        match self {
            Self::Quick => path.counted / 4,
            Self::Full => path.counted,
        }
    }

    pub(crate) fn rounds(self) -> usize {
        match self {
            Self::Quick => 3,
            Self::Full => 5,
        }
    }

    /// How many of so many times a server is measured. An interpreted one starts slowly and
    /// is hundreds of times slower, so few measurements are enough in a quick comparison.
    pub(crate) fn share(self, times: usize, server: Peer) -> usize {
        match self {
            Self::Quick if !Peer::NATIVE.contains(&server) => times.div_ceil(2),
            _ => times,
        }
    }
}

/// All timed scenarios. The usual number of clients is eight.
pub(crate) fn scenarios(extent: Extent) -> Vec<Scenario> {
    use Operation::{Add, Echo, List};
    use Transport::{Http, Stdio};
    let mut all = Vec::new();
    let mut add = |transport, call: Call, clients| {
        let name = name(transport, call, clients);
        all.push(Scenario {
            name,
            transport,
            call,
            clients,
        });
    };
    let crowds: &[usize] = match extent {
        Extent::Quick => &[8, 64],
        Extent::Full => &[8, 1, 64, 512],
    };
    for clients in crowds {
        add(Http, Call::modern(Echo(100)), *clients);
    }
    add(Http, Call::modern(Add), 8);
    add(Http, Call::modern(List), 8);
    add(Http, Call::modern(Echo(100_000)), 8);
    for clients in crowds
        .iter()
        .filter(|it| **it == 8 || extent == Extent::Full)
    {
        add(Http, Call::legacy(Echo(100)), *clients);
    }
    add(Stdio, Call::modern(Echo(100)), 8);
    add(Stdio, Call::modern(List), 8);
    if extent == Extent::Full {
        add(Http, Call::modern(Echo(4_000_000)), 2);
        add(Http, Call::legacy(List), 8);
        add(Stdio, Call::modern(Echo(100)), 1);
        add(Stdio, Call::legacy(Echo(100)), 8);
        add(Stdio, Call::modern(Add), 8);
        add(Stdio, Call::modern(Echo(100_000)), 2);
        add(Stdio, Call::modern(Echo(4_000_000)), 2);
    }
    all
}

fn name(transport: Transport, call: Call, clients: usize) -> String {
    let era = format!("{:?}", call.era).to_lowercase();
    let road = match transport {
        Transport::Stdio => "stdio",
        Transport::Http => "HTTP",
    };
    let what = match call.operation {
        Operation::Echo(100) => "call, 100 B",
        Operation::Echo(100_000) => "call, 100 KB",
        Operation::Echo(_) => "call, 4 MB",
        Operation::Add => "call with output schema",
        Operation::List => "list of 100 tools",
    };
    match clients {
        8 => format!("{era} {road} {what}"),
        1 => format!("{era} {road} {what}, 1 client"),
        _ if matches!(call.operation, Operation::Echo(100)) => {
            format!("{era} {road} {what}, {clients} clients")
        }
        _ => format!("{era} {road} {what}"),
    }
}

/// All rounds of all servers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Speed {
    pub(crate) cells: Vec<Cell>,
    /// The measurements that failed, with the reasons.
    pub(crate) failures: Vec<String>,
}

/// One run of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) scenario: String,
    pub(crate) server: String,
    round: usize,
    pub(crate) measured: Measured,
}

impl Speed {
    /// A figure of a server over all rounds.
    pub(crate) fn figure(
        &self,
        scenario: &str,
        server: Peer,
        of: fn(&Measured) -> f64,
    ) -> Option<Spread> {
        Spread::of(self.rounds(scenario, server).map(|cell| of(&cell.measured)))
    }

    /// CPU time of a server as a multiple of another's in the same round.
    pub(crate) fn ratio(&self, scenario: &str, server: Peer, other: Peer) -> Option<Spread> {
        let others: HashMap<_, _> = self
            .rounds(scenario, other)
            .map(|cell| (cell.round, cell.measured.cpu_us))
            .collect();
        let ratios = self.rounds(scenario, server);
        Spread::of(ratios.filter_map(|cell| Some(cell.measured.cpu_us / others.get(&cell.round)?)))
    }

    fn rounds(&self, scenario: &str, server: Peer) -> impl Iterator<Item = &Cell> {
        let is_it = move |it: &&Cell| it.scenario == scenario && it.server == server.name();
        self.cells.iter().filter(is_it)
    }
}

/// Times all servers.
pub(crate) async fn measure(servers: &[Peer], extent: Extent) -> Result<Speed> {
    let mut running = Vec::new();
    for server in servers {
        running.push((*server, Running::http(&server.http()).await?));
    }
    let mut speed = Speed::default();
    for round in 0..extent.rounds() {
        eprintln!("timing: round {} of {}", round + 1, extent.rounds());
        for scenario in scenarios(extent) {
            for (server, (process, address)) in &running {
                if round >= extent.share(extent.rounds(), *server) {
                    continue;
                }
                let at = (process.pid, *address);
                match time(*server, at, &scenario, extent).await {
                    Ok(measured) => speed.cells.push(Cell {
                        scenario: scenario.name.clone(),
                        server: server.name().to_owned(),
                        round,
                        measured,
                    }),
                    Err(error) => {
                        let failure = format!("{}, {}: {error}", server.name(), scenario.name);
                        eprintln!("warning: {failure}");
                        if !speed.failures.contains(&failure) {
                            speed.failures.push(failure);
                        }
                    }
                }
            }
        }
    }
    for (_, (process, _)) in running {
        process.end().await?;
    }
    Ok(speed)
}

async fn time(
    server: Peer,
    at: (u32, SocketAddr),
    scenario: &Scenario,
    extent: Extent,
) -> Result<Measured> {
    let is_compiled = Peer::NATIVE.contains(&server);
    let until = Until::Elapsed {
        // Over HTTP the process is the same in all rounds, and warms up in the first.
        warm: match scenario.transport {
            Transport::Stdio if !is_compiled => WARM_JUST_IN_TIME,
            _ => WARM_COMPILED,
        },
        measured: extent.measured(),
    };
    match scenario.transport {
        Transport::Http => load::http::drive(at, scenario.call, scenario.clients, until).await,
        Transport::Stdio => {
            load::stdio::drive(&server.stdio(), scenario.call, scenario.clients, until).await
        }
    }
}

//! `bench instructions`: what each path costs, as a multiple of what it costs the control.
//!
//! A multiple holds for other compilers too, as far as they treat both programs alike; the counts
//! themselves are compared by nobody.

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::{
    Result,
    ceilings::Ceilings,
    measure::{
        crowd::Crowd,
        valgrind::{Transport, Trial},
    },
    paths::{PATHS, Path},
    peers::{Peer, said},
    report::table::{Table, count, times},
    speed::Extent,
};

/// Instructions for one request, by path and server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts(Vec<Count>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Count {
    path: String,
    server: String,
    instructions: f64,
}

impl Counts {
    pub(crate) fn of(&self, path: &str, server: Peer) -> Option<f64> {
        let is_it = |it: &&Count| it.path == path && it.server == server.name();
        self.0.iter().find(is_it).map(|it| it.instructions)
    }

    /// As a multiple of the control's.
    pub(crate) fn ratio(&self, path: &str, server: Peer) -> Option<f64> {
        Some(self.of(path, server)? / self.of(path, Peer::Control)?)
    }

    /// A row for each path, a column for each server, and the aim.
    pub(crate) fn table(&self, servers: &[Peer]) -> Table {
        let mut columns = vec!["path".to_owned()];
        columns.extend(servers.iter().map(|it| it.name().to_owned()));
        columns.push("aim".to_owned());
        let mut table = Table::new(columns);
        for path in &PATHS {
            let mut row = vec![path.name.to_owned()];
            row.extend(servers.iter().map(|server| self.cell(path, *server)));
            row.push(
                path.aim
                    .map_or_else(String::new, |aim| format!("≤ ×{}", aim.of_control)),
            );
            table.row(row);
        }
        table
    }

    fn cell(&self, path: &Path, server: Peer) -> String {
        let Some(instructions) = self.of(path.name, server) else {
            return "–".to_owned();
        };
        match self.ratio(path.name, server) {
            Some(ratio) if server != Peer::Control => {
                format!("{} (×{})", count(instructions), times(ratio))
            }
            _ => count(instructions),
        }
    }
}

/// What the command is to do with the counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Print them, with rmcp's.
    Show,
    /// Fail where a path costs more than its ceiling.
    Check,
    /// Make them the ceilings.
    Record,
}

pub(crate) async fn command(purpose: Purpose) -> Result<()> {
    let servers: &[Peer] = match purpose {
        Purpose::Show => &Peer::NATIVE,
        Purpose::Check | Purpose::Record => &[Peer::Control, Peer::Turnbuckle],
    };
    for server in servers {
        server.prepare()?;
    }
    let counts = measure(servers, Extent::Full).await?;
    println!("{}", counts.table(servers));
    match purpose {
        Purpose::Show => Ok(()),
        Purpose::Check => Ceilings::open()?.check(&counts),
        Purpose::Record => {
            Ceilings::new(&counts, said("rustc", &["--version"])?).save()?;
            println!("recorded in bench/ceilings.toml");
            Ok(())
        }
    }
}

/// Counts every path of these servers, as many at once as there are servers.
pub(crate) async fn measure(servers: &[Peer], extent: Extent) -> Result<Counts> {
    let mut counts = Counts::default();
    for path in PATHS {
        eprintln!("counting: {}", path.name);
        let mut trials = JoinSet::new();
        for server in servers.iter().copied() {
            let requests = extent.counted(&path);
            trials.spawn_local(async move { (server, instructions(server, path, requests).await) });
        }
        while let Some(trial) = trials.join_next().await {
            let (server, instructions) = trial?;
            counts.0.push(Count {
                path: path.name.to_owned(),
                server: server.name().to_owned(),
                instructions: instructions?,
            });
        }
    }
    Ok(counts)
}

async fn instructions(server: Peer, path: Path, requests: u64) -> Result<f64> {
    let command = match path.transport {
        Transport::Stdio => server.stdio(),
        Transport::Http => server.http(),
    };
    let trial = Trial {
        command: &command,
        transport: path.transport,
        call: path.call,
        crowd: Crowd::Nobody,
    };
    trial.instructions(requests).await
}

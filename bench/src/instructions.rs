//! `bench instructions`: the cost of each path, as a multiple of the control's.
//!
//! A multiple is also valid for other compilers, as far as they treat both programs alike; the counts
//! themselves are not compared.

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

    /// The instructions as a multiple of the control's.
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

    /// Replaces the counts of paths that were lower when they were counted again.
    fn keep_cheaper(&mut self, again: Self) {
        let is_cheaper = |name: &str| {
            let (once, twice) = (
                self.ratio(name, Peer::Turnbuckle),
                again.ratio(name, Peer::Turnbuckle),
            );
            twice < once && twice.is_some()
        };
        let cheaper: Vec<_> = PATHS
            .iter()
            .map(|it| it.name)
            .filter(|it| is_cheaper(it))
            .collect();
        self.0.retain(|it| !cheaper.contains(&&*it.path));
        let taken = again
            .0
            .into_iter()
            .filter(|it| cheaper.contains(&&*it.path));
        self.0.extend(taken);
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

/// How often a path above its ceiling is counted again before it fails. How many requests a server
/// finds waiting when it wakes up depends on the machine, and changes a count by one or two percent;
/// a path that really costs more costs more every time.
const RECOUNTS: usize = 2;

/// What the command does with the counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Print them, with rmcp's.
    Show,
    /// Fail if a path costs more than its ceiling.
    Check,
    /// Write them as the new ceilings.
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
    let counts = measure(&PATHS, servers, Extent::Full).await?;
    println!("{}", counts.table(servers));
    match purpose {
        Purpose::Show => Ok(()),
        Purpose::Check => check(servers, counts).await,
        Purpose::Record => {
            Ceilings::new(&counts, said("rustc", &["--version"])?).save()?;
            println!("recorded in bench/ceilings.toml");
            Ok(())
        }
    }
}

async fn check(servers: &[Peer], mut counts: Counts) -> Result<()> {
    let ceilings = Ceilings::open()?;
    for _ in 0..RECOUNTS {
        let is_above = |path: &Path| ceilings.excess(path.name, &counts).is_some();
        let above: Vec<_> = PATHS.into_iter().filter(is_above).collect();
        if above.is_empty() {
            break;
        }
        counts.keep_cheaper(measure(&above, servers, Extent::Full).await?);
    }
    ceilings.check(&counts)
}

/// Counts these paths of these servers, as many paths at once as there are servers.
pub(crate) async fn measure(paths: &[Path], servers: &[Peer], extent: Extent) -> Result<Counts> {
    let mut counts = Counts::default();
    for path in paths.iter().copied() {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ours: [f64; 2]) -> Counts {
        let count = |path: usize, server: Peer, instructions| Count {
            path: PATHS[path].name.to_owned(),
            server: server.name().to_owned(),
            instructions,
        };
        Counts(vec![
            count(0, Peer::Control, 100.0),
            count(0, Peer::Turnbuckle, ours[0]),
            count(1, Peer::Control, 100.0),
            count(1, Peer::Turnbuckle, ours[1]),
        ])
    }

    #[test]
    fn of_two_counts_of_a_path_the_cheaper_one_is_kept() {
        let mut kept = counts([140.0, 150.0]);
        kept.keep_cheaper(counts([130.0, 160.0]));
        kept.keep_cheaper(Counts::default());
        let ratios = [0, 1].map(|path| kept.ratio(PATHS[path].name, Peer::Turnbuckle));
        assert_eq!(ratios, [Some(1.3), Some(1.5)]);
        assert_eq!(kept.0.len(), 4);
    }
}

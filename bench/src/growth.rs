//! Growth: the cost of a call with an increasing number of tools, sessions and listeners.

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    load::{Call, Operation},
    measure::{
        crowd::Crowd,
        valgrind::{Transport, Trial},
    },
    peers::Peer,
    process::allow_files,
    report::table::{Table, count, times},
    results::Results,
};

/// The numbers of tools, sessions or listeners.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

/// How many requests are counted.
const COUNTED: u64 = 400;

/// Instructions of one call for each of the numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Growth {
    what: String,
    instructions: Vec<f64>,
}

pub(crate) async fn command() -> Result<()> {
    Peer::Turnbuckle.prepare()?;
    let growth = measure().await?;
    println!("{}", table(&growth));
    Results::update(|results| results.growth = growth)
}

pub(crate) fn table(all: &[Growth]) -> Table {
    let mut columns = vec!["instructions of a call, with".to_owned()];
    columns.extend(SIZES.iter().map(ToString::to_string));
    columns.push("10,000 against 10".to_owned());
    let mut table = Table::new(columns);
    for Growth { what, instructions } in all {
        let mut row = vec![what.clone()];
        row.extend(instructions.iter().map(|it| count(*it)));
        let ends = instructions.first().zip(instructions.last());
        row.push(ends.map_or_else(String::new, |(few, many)| format!("×{}", times(many / few))));
        table.row(row);
    }
    table
}

pub(crate) async fn measure() -> Result<Vec<Growth>> {
    // A listener is an open file on both sides.
    allow_files(2 * SIZES[SIZES.len() - 1])?;
    let modern = Call::modern(Operation::Echo(100));
    let legacy = Call::legacy(Operation::Echo(100));
    let mut all = Vec::new();
    for (what, call, crowd) in [
        ("tools", modern, None),
        (
            "other sessions",
            legacy,
            Some(Crowd::Sessions as fn(usize) -> Crowd),
        ),
        (
            "listeners",
            modern,
            Some(Crowd::Listeners as fn(usize) -> Crowd),
        ),
    ] {
        let mut instructions = Vec::new();
        for size in SIZES {
            eprintln!("counting: a call with {size} {what}");
            let mut command = Peer::Turnbuckle.http();
            if crowd.is_none() {
                command.push(size.to_string());
            }
            let trial = Trial {
                command: &command,
                transport: Transport::Http,
                call,
                crowd: crowd.map_or(Crowd::Nobody, |crowd| crowd(size)),
            };
            instructions.push(trial.instructions(COUNTED).await?);
        }
        all.push(Growth {
            what: what.to_owned(),
            instructions,
        });
    }
    Ok(all)
}

//! The results of a run, as tables.

use super::{
    recovery::Recovery,
    sdk::Counts,
    tally::{Fault, Kind, REVISIONS, Tally},
};
use crate::report::table::{Table, count};

/// Prints the tables. Returns whether no answer was lost, duplicated, late or given to another client.
pub(super) fn print(tally: &Tally, recoveries: &[Recovery], sdks: &Counts) -> bool {
    println!("\n{}", done(tally));
    println!("{}", of_sdks(sdks));
    println!("{}", explained(tally));
    println!("{}", recovered(recoveries));
    let mut faults = Table::new(["answers", "number"]);
    for fault in Fault::ALL {
        faults.row([fault.name().to_owned(), tally.faults(fault).to_string()]);
    }
    println!("{faults}");
    Fault::ALL.iter().all(|fault| tally.faults(*fault) == 0)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn done(tally: &Tally) -> Table {
    let columns = ["done"].into_iter().chain(REVISIONS).chain(["all"]);
    let mut table = Table::new(columns);
    for kind in Kind::ALL {
        let counts = (0..REVISIONS.len()).map(|place| tally.count(kind, place));
        let counts: Vec<_> = counts.collect();
        let sum: u64 = counts.iter().sum();
        let cells = counts.into_iter().chain([sum]);
        let cells = cells.map(|number| match number {
            0 => "–".to_owned(),
            number => count(number as f64),
        });
        table.row([kind.name().to_owned()].into_iter().chain(cells));
    }
    table
}

/// The results of clients of other SDKs, which are also part of the table of all clients.
fn of_sdks(counts: &Counts) -> Table {
    let kinds = [
        Kind::Open,
        Kind::Call,
        Kind::Ask,
        Kind::Cancel,
        Kind::Resume,
        Kind::Update,
    ];
    let columns = ["SDK", "clients"].into_iter();
    let mut table = Table::new(columns.chain(kinds.map(Kind::name)));
    for (sdk, count) in counts {
        let done = kinds.map(|kind| count.done.get(kind.name()).copied().unwrap_or_default());
        let cells = [sdk.clone(), count.clients.len().to_string()];
        table.row(
            cells
                .into_iter()
                .chain(done.map(|number| number.to_string())),
        );
    }
    table
}

fn explained(tally: &Tally) -> Table {
    let mut table = Table::new(["trouble that docs/scaling.md names", "while", "times"]);
    for ((kind, trouble), times) in tally.all_explained() {
        table.row([trouble.to_owned(), kind.to_owned(), times.to_string()]);
    }
    table
}

fn recovered(recoveries: &[Recovery]) -> Table {
    let columns = [
        "until every client has an answer again, after a kill of",
        "clients",
        "p50 ms",
        "p99 ms",
        "max ms",
    ];
    let mut table = Table::new(columns);
    for Recovery { what, times } in recoveries {
        let figures = [0.5, 0.99, 1.0].map(|part| count(times.quantile(part)));
        let cells = [(*what).to_owned(), times.len().to_string()];
        table.row(cells.into_iter().chain(figures));
    }
    table
}

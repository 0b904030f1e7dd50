//! Host: what a host adds to a call of a client, and the cost of a merged list compared with a single list.

use std::{collections::HashMap, process::Command};

use crate::{
    Result,
    peers::{build_own, own},
    report::table::Table,
    statistics::Spread,
};

/// How many microseconds more a call through a host may cost than a call of a client.
const MAX_OVERHEAD: f64 = 3.0;

/// The maximum cost of the merged list of 20 servers with 50 tools each, as a multiple of the cost of one list of
/// 1,000 tools.
const MAX_LIST_RATIO: f64 = 1.2;

/// `bench host`: measures, prints a table, and fails if the host costs more than allowed.
pub(crate) fn command() -> Result<()> {
    build_own("bench-host", "programs")?;
    let output = Command::new(own("bench-host")).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let figures = read(&String::from_utf8_lossy(&output.stdout))?;
    let all = |what: &str| figures.get(what).cloned().unwrap_or_default();
    let differences = |one: &str, other: &str| {
        let pairs = all(one).into_iter().zip(all(other));
        Spread::of(pairs.map(|(one, other)| one - other)).ok_or("no figures")
    };
    let ratios = |one: &str, other: &str| {
        let pairs = all(one).into_iter().zip(all(other));
        Spread::of(pairs.map(|(one, other)| one / other)).ok_or("no figures")
    };
    let unchanged = ratios("host list", "client list")?;
    let changed = ratios("host changed list", "client changed list")?;
    let overhead = differences("host call", "client call")?;
    let audited = differences("audited call", "client call")?;
    let client = Spread::of(all("client call")).ok_or("no figures")?;
    let list = Spread::of(all("client list")).ok_or("no figures")?;

    let mut table = Table::new(["", "median", "lowest", "highest"]);
    let mut row = |what: &str, spread: Spread, unit: &str| {
        let figure = |value: f64| format!("{value:.2}{unit}");
        let Spread {
            median,
            lowest,
            highest,
        } = spread;
        table.row([
            what.to_owned(),
            figure(median),
            figure(lowest),
            figure(highest),
        ]);
    };
    row("a call of a client, with its server", client, " µs");
    row("a host adds", overhead, " µs");
    row("a host with an audit log adds", audited, " µs");
    row("a list of 1,000 tools, with its server", list, " µs");
    row(
        "a merged list of 20 × 50 that is new, as a multiple",
        changed,
        "",
    );
    row("the same if nothing has changed", unchanged, "");
    println!("{table}");
    if overhead.median > MAX_OVERHEAD {
        let found = overhead.median;
        return Err(
            format!("a host adds {found:.2} µs to a call, more than {MAX_OVERHEAD}").into(),
        );
    }
    for ratio in [changed, unchanged] {
        if ratio.median > MAX_LIST_RATIO {
            let found = ratio.median;
            return Err(format!(
                "a merged list costs {found:.2} of one, more than {MAX_LIST_RATIO}"
            )
            .into());
        }
    }
    Ok(())
}

/// Parses lines such as `host call 12.5`.
fn read(text: &str) -> Result<HashMap<String, Vec<f64>>> {
    let mut figures: HashMap<String, Vec<f64>> = HashMap::new();
    for line in text.lines() {
        let (what, figure) = line.rsplit_once(' ').ok_or("a line without a figure")?;
        figures
            .entry(what.to_owned())
            .or_default()
            .push(figure.parse()?);
    }
    Ok(figures)
}

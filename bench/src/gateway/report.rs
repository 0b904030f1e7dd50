//! The comparison of gateways as tables.

use std::fmt::Write;

use super::{
    counted::{DIRECT, SMALL, direct_cell},
    link::Link,
    programs::Program,
    ready,
    results::{Gateways, Timed},
    timed::{BUSY, ONE_CLIENT},
};
use crate::{
    load::Era,
    report::table::{Table, count, dash, times},
    statistics::Spread,
};

/// The aim: instructions of a modern call, as a multiple of those of a direct one, server and client together.
const INSTRUCTIONS: f64 = 2.6;
/// The aim: the median of the microseconds that a gateway adds to a call of one client.
const ADDED: f64 = 60.0;
/// The aim: requests per CPU second, as a multiple of those of the best peer.
const AGAINST_PEERS: f64 = 3.0;
/// The aim: kilobytes of a parked call.
const PARKED: f64 = 8.0;
/// The aim: memory of a thousand idle sessions, as a multiple of a plain server's.
const SESSIONS: f64 = 1.2;

/// The cell that the aims are for: modern on both sides.
const MODERN: &str = "M→M";

/// The whole report.
pub(crate) fn text(gateways: &Gateways) -> String {
    let mut text = String::new();
    let parts = [
        ("Aims", aims(gateways)),
        ("Instructions for a request", instructions(gateways)),
        ("Time and CPU for a request", time(gateways)),
        ("What waits", waiting(gateways)),
    ];
    for (title, table) in parts {
        let _ = writeln!(text, "## {title}\n\n{table}");
    }
    text + &failures(gateways)
}

pub(crate) fn failures(gateways: &Gateways) -> String {
    if gateways.failures.is_empty() {
        return String::new();
    }
    let lines = gateways.failures.iter().map(|it| format!("- {it}\n"));
    format!("Not measured:\n\n{}", lines.collect::<String>())
}

pub(crate) fn aims(gateways: &Gateways) -> Table {
    let mut table = Table::new(["figure", "aim", "reached", "best peer", ""]);
    let mut row = |name: &str, aim: String, ours: Option<String>, best: String, is_reached| {
        let mark = match is_reached {
            Some(true) => "✓".to_owned(),
            Some(false) => "missed".to_owned(),
            None => dash(),
        };
        table.row([name.to_owned(), aim, ours.unwrap_or_else(dash), best, mark]);
    };
    let link = Link::HttpToHttp;
    let direct = gateways.count(DIRECT, link, &direct_cell(Era::Modern), SMALL);
    for program in [Program::Library, Program::Up] {
        let ours = gateways.count(program.name(), link, MODERN, SMALL);
        let ratio = ours.zip(direct).map(|(ours, direct)| ours / direct);
        let peer = gateways.count(Program::McpProxyRust.name(), link, "M→·", SMALL);
        let peer = peer.zip(direct).map(|(peer, direct)| peer / direct);
        row(
            &format!("{}, M→M: instructions, a direct call = 1", program.name()),
            format!("≤ ×{INSTRUCTIONS}"),
            ratio.map(|it| format!("×{}", times(it))),
            peer.map_or_else(dash, |it| format!("×{}", times(it))),
            ratio.map(|it| it <= INSTRUCTIONS),
        );
    }
    let up = Program::Up.name();
    let up_adds = gateways.time(up, link, MODERN, ONE_CLIENT, added);
    row(
        "turnbuckle up, M→M: µs added to half of the calls of one client",
        format!("≤ {ADDED}"),
        up_adds.map(range),
        best_added(gateways).map_or_else(dash, count),
        up_adds.map(|it| it.median <= ADDED),
    );
    // No other process between client and server can add less, so the aim is compared with this.
    let floor = gateways.time(Program::Forwarder.name(), link, "M→·", ONE_CLIENT, added);
    row(
        "the same, a program that copies bytes: the least that any gateway adds on this machine",
        dash(),
        floor.map(range),
        dash(),
        None,
    );
    for (name, cell) in [("M→M", MODERN), ("L→L", "L→L")] {
        for link in [Link::HttpToHttp, Link::HttpToStdio] {
            let ours = gateways.time(up, link, cell, BUSY, per_cpu_second);
            let best = best_rate(gateways, link, cell);
            let ratio = ours.zip(best).map(|(ours, best)| ours.median / best);
            row(
                &format!(
                    "turnbuckle up, {name}, {}: requests for a CPU second, the best peer = 1",
                    link.name()
                ),
                format!("≥ ×{AGAINST_PEERS}"),
                ratio.map(|it| format!("×{}", times(it))),
                "×1".to_owned(),
                ratio.map(|it| it >= AGAINST_PEERS),
            );
        }
    }
    let memory = gateways.memory.as_ref();
    for (what, parked) in memory.iter().flat_map(|memory| memory.parked()) {
        let parked = Spread::of(parked.iter().copied());
        row(
            what,
            format!("≤ {PARKED}"),
            parked.map(range),
            dash(),
            parked.map(|it| it.median <= PARKED),
        );
    }
    let sessions = memory.and_then(super::results::Memory::sessions);
    row(
        "1,000 idle sessions, those of a plain server = 1",
        format!("≤ ×{SESSIONS}"),
        sessions.map(|it| format!("×{}", range(it))),
        dash(),
        sessions.map(|it| it.median <= SESSIONS),
    );
    for (what, took) in &gateways.ready {
        let took = Spread::of(took.iter().copied());
        row(
            &format!("ms to the first answer, {what}"),
            format!("≤ {}", ready::MOST),
            took.map(range),
            dash(),
            took.map(|it| it.highest <= ready::MOST),
        );
    }
    table
}

/// The median, with the lowest and the highest in brackets.
fn range(it: Spread) -> String {
    let Spread {
        median,
        lowest,
        highest,
    } = it;
    format!("{} ({}–{})", count(median), count(lowest), count(highest))
}

fn added(it: &Timed) -> f64 {
    it.through.p50_us - it.direct.p50_us
}

fn per_cpu_second(it: &Timed) -> f64 {
    1e6 / it.through.cpu_us
}

/// A figure of each peer with the same era in front and the same link.
fn of_peers<'a>(
    gateways: &'a Gateways,
    link: Link,
    cell: &'a str,
    scenario: &'a str,
    figure: fn(&Timed) -> f64,
) -> impl Iterator<Item = f64> + 'a {
    let front = cell.chars().next().unwrap_or('M');
    let peers = Program::TIMED.into_iter().filter(|it| it.is_peer());
    peers.filter_map(move |peer| {
        let cell = format!("{front}→·");
        let spread = gateways.time(peer.name(), link, &cell, scenario, figure)?;
        Some(spread.median)
    })
}

fn best_rate(gateways: &Gateways, link: Link, cell: &str) -> Option<f64> {
    of_peers(gateways, link, cell, BUSY, per_cpu_second).reduce(f64::max)
}

fn best_added(gateways: &Gateways) -> Option<f64> {
    of_peers(gateways, Link::HttpToHttp, MODERN, ONE_CLIENT, added).reduce(f64::min)
}

pub(crate) fn instructions(gateways: &Gateways) -> Table {
    let mut table = Table::new(["", "link", "eras", SMALL, "100 KB", "4 MB"]);
    let mut seen: Vec<(&str, Link, &str)> = Vec::new();
    for it in &gateways.counts {
        let key = (&*it.program, it.link, &*it.cell);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let cell = |size| {
            let found = gateways.count(&it.program, it.link, &it.cell, size);
            found.map_or_else(dash, count)
        };
        table.row([
            it.program.clone(),
            it.link.name().to_owned(),
            it.cell.clone(),
            cell(SMALL),
            cell("100 KB"),
            cell("4 MB"),
        ]);
    }
    table
}

pub(crate) fn time(gateways: &Gateways) -> Table {
    let mut table = Table::new([
        "",
        "link",
        "eras",
        "µs added, 100 B",
        "100 KB",
        "4 MB",
        "CPU µs, 100 B, 16 clients",
        "100 KB",
        "4 MB",
        "requests for a CPU second",
    ]);
    for link in Link::ALL {
        for program in Program::TIMED {
            for cell in program.cells() {
                let (program, cell) = (program.name(), cell.name());
                let figure = |scenario, figure: fn(&Timed) -> f64| {
                    let spread = gateways.time(program, link, &cell, scenario, figure);
                    spread.map_or_else(dash, |it| count(it.median))
                };
                if !gateways
                    .times
                    .iter()
                    .any(|it| it.program == program && it.link == link && it.cell == cell)
                {
                    continue;
                }
                let cpu = |it: &Timed| it.through.cpu_us;
                table.row([
                    program.to_owned(),
                    link.name().to_owned(),
                    cell.clone(),
                    figure(ONE_CLIENT, added),
                    figure("100 KB", added),
                    figure("4 MB", added),
                    figure(BUSY, cpu),
                    figure("100 KB", cpu),
                    figure("4 MB", cpu),
                    figure(BUSY, per_cpu_second),
                ]);
            }
        }
    }
    table
}

pub(crate) fn waiting(gateways: &Gateways) -> Table {
    let mut table = Table::new(["", "middle (lowest–highest)"]);
    let mut row = |name: String, figures: &[f64]| {
        let spread = Spread::of(figures.iter().copied());
        table.row([name, spread.map_or_else(dash, range)]);
    };
    if let Some(memory) = &gateways.memory {
        for (what, parked) in memory.parked() {
            row(what.to_owned(), parked);
        }
        let sessions = "MB of 1,000 idle sessions with a stream";
        row(
            format!("{sessions}, a plain server"),
            &memory.server_sessions,
        );
        row(format!("{sessions}, the gateway"), &memory.gateway_sessions);
    }
    for (what, took) in &gateways.ready {
        row(
            format!("ms to the first answer of `turnbuckle up`, {what}"),
            took,
        );
    }
    table
}

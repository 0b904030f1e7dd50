//! The page `docs/performance.md`: its text comes from a template, its figures from the results.

use std::fmt::Write;

use super::{
    aims, chart,
    table::{Table, count, dash, spread},
};
use crate::{
    Result, asks,
    gateway::report as gateways,
    growth,
    idle::Idle,
    listeners,
    load::Measured,
    peers::{Peer, root},
    profile,
    results::Results,
    startup::Startup,
    statistics::Spread,
};

const TEMPLATE: &str = include_str!("performance.md");

/// Writes the page and its chart.
pub(crate) fn write(results: &Results) -> Result<()> {
    let machine = &results.machine;
    let on = format!(
        "{}, {} cores, {:.0} GB, {}; {}, Node {}, {}; load {} before it began",
        machine.processor,
        machine.cores,
        machine.memory_gb,
        machine.system,
        machine.rustc,
        machine.node,
        machine.python,
        machine.load
    );
    let parts = [
        ("date", results.date.clone()),
        ("command", results.command.clone()),
        ("machine", on),
        ("aims", aims::table(results).to_string()),
        ("cpu", cpu(results).to_string()),
        ("rates", rates(results).to_string()),
        ("latency", latency(results).to_string()),
        (
            "listeners",
            listeners::table(results.listeners.as_ref()).to_string(),
        ),
        ("asks", asks::table(&results.asks).to_string()),
        (
            "instructions",
            results.instructions.table(&Peer::NATIVE).to_string(),
        ),
        ("clients", clients(results).to_string()),
        ("footprint", footprint(results).to_string()),
        ("building", building(results).to_string()),
        (
            "growth",
            or_absent(
                growth::table(&results.growth).to_string(),
                results.growth.len(),
            ),
        ),
        (
            "profiles",
            or_absent(profile::page(&results.profiles)?, results.profiles.len()),
        ),
        ("failures", failures(results)),
    ];
    let parts = parts.into_iter().chain(gateway_parts(results));
    let mut page = TEMPLATE.to_owned();
    for (name, part) in parts {
        page = page.replace(&format!("{{{{{name}}}}}"), part.trim_end());
    }
    let docs = root().join("docs");
    std::fs::write(docs.join("performance.md"), page)?;
    std::fs::write(docs.join("performance.svg"), chart::svg(results))?;
    eprintln!("docs/performance.md and docs/performance.svg are written");
    Ok(())
}

/// The parts of the section about gateways.
fn gateway_parts(results: &Results) -> Vec<(&'static str, String)> {
    let Some(gateways) = &results.gateways else {
        let names = [
            "gateway-date",
            "gateway-aims",
            "gateway-times",
            "gateway-instructions",
            "gateway-waiting",
            "gateway-failures",
        ];
        return names
            .map(|it| (it, "*Not measured yet.*".to_owned()))
            .to_vec();
    };
    let machine = &gateways.machine;
    let date = format!(
        "Made on {}, on {} cores, load {} before it began.",
        gateways.date, machine.cores, machine.load
    );
    vec![
        ("gateway-date", date),
        ("gateway-aims", gateways::aims(gateways).to_string()),
        ("gateway-times", gateways::time(gateways).to_string()),
        (
            "gateway-instructions",
            gateways::instructions(gateways).to_string(),
        ),
        ("gateway-waiting", gateways::waiting(gateways).to_string()),
        ("gateway-failures", gateways::failures(gateways)),
    ]
}

/// The output at the end of a comparison.
pub(crate) fn tables(results: &Results) -> Result<String> {
    let mut text = String::new();
    for (title, table) in [
        ("Aims", aims::table(results)),
        ("CPU for a request", cpu(results)),
        ("Requests a second on one core", rates(results)),
        ("Latency, µs: median / 99 of 100", latency(results)),
        ("Asks", asks::table(&results.asks)),
        (
            "Instructions for a request",
            results.instructions.table(&Peer::NATIVE),
        ),
        ("Instructions of a client for a call", clients(results)),
        ("Footprint", footprint(results)),
        ("Listeners", listeners::table(results.listeners.as_ref())),
        ("Building", building(results)),
        ("Growth", growth::table(&results.growth)),
    ] {
        writeln!(text, "## {title}\n\n{table}")?;
    }
    text += &profile::page(&results.profiles)?;
    text += &failures(results);
    Ok(text)
}

fn header(first: &str) -> Table {
    let names = Peer::ALL.iter().map(|it| it.name());
    Table::new([first].into_iter().chain(names))
}

fn scenarios(results: &Results) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in &results.speed.cells {
        if !names.contains(&&*cell.scenario) {
            names.push(&cell.scenario);
        }
    }
    names
}

/// A row for each scenario, a cell for each server.
fn by_scenario(results: &Results, cell: impl Fn(&str, Peer) -> Option<String>) -> Table {
    let mut table = header("path");
    for name in scenarios(results) {
        let cells = Peer::ALL
            .iter()
            .map(|server| cell(name, *server).unwrap_or_else(dash));
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table
}

fn cpu(results: &Results) -> Table {
    by_scenario(results, |scenario, server| {
        let each = results
            .speed
            .figure(scenario, server, |it| it.cpu_us)?
            .median;
        let ratio = results.speed.ratio(scenario, server, Peer::Turnbuckle)?;
        let each = count(each);
        Some(match server {
            Peer::Turnbuckle => format!("{each} µs"),
            _ => format!("{each} µs, ×{}", spread(ratio)),
        })
    })
}

fn rates(results: &Results) -> Table {
    by_scenario(results, |scenario, server| {
        let rate = results
            .speed
            .figure(scenario, server, |it| it.per_second)?
            .median;
        let busy = results.speed.figure(scenario, server, |it| it.busy)?.median;
        // If the server waits for the generator, the rate says nothing about the server.
        let waits = if busy < 0.85 { " *" } else { "" };
        Some(format!("{}{waits}", count(rate)))
    })
}

fn latency(results: &Results) -> Table {
    by_scenario(results, |scenario, server| {
        let part = |of: fn(&Measured) -> f64| results.speed.figure(scenario, server, of);
        let (half, most) = (part(|it| it.p50_us)?, part(|it| it.p99_us)?);
        Some(format!("{} / {}", count(half.median), count(most.median)))
    })
}

fn clients(results: &Results) -> Table {
    let mut table = Table::new(["path", "turnbuckle", "rmcp", "share"]);
    for it in &results.clients {
        let share = format!("{:.0} %", it.turnbuckle / it.rmcp * 100.0);
        table.row([it.path.clone(), count(it.turnbuckle), count(it.rmcp), share]);
    }
    table
}

fn footprint(results: &Results) -> Table {
    let mut table = header("");
    let middle = |spread: Option<Spread>| spread.map_or_else(dash, |it| count(it.median));
    let idle = |server: Peer| results.idle.iter().find(|it| it.server == server.name());
    let startup = |server: Peer| results.startup.iter().find(|it| it.server == server.name());
    let mut row = |name: &str, cell: &dyn Fn(Peer) -> String| {
        let cells = Peer::ALL.into_iter().map(cell);
        table.row([name.to_owned()].into_iter().chain(cells));
    };
    row("MB of an HTTP server that has started", &|server| {
        middle(idle(server).and_then(Idle::started))
    });
    row("MB for 1,000 idle sessions with a stream", &|server| {
        middle(idle(server).and_then(Idle::sessions))
    });
    row("MB for 1,000 listeners", &|server| {
        middle(idle(server).and_then(Idle::listeners))
    });
    row("highest MB over HTTP, all of the above", &|server| {
        peak(results, server)
    });
    row("ms to the first answer over stdio", &|server| {
        middle(startup(server).and_then(Startup::first_answer))
    });
    row("MB of the smallest stdio server, stripped", &|server| {
        let size = startup(server).and_then(|it| it.size);
        #[expect(clippy::cast_precision_loss, reason = "programs of some megabytes")]
        let megabytes = size.map(|it| it as f64 / 1e6);
        megabytes.map_or_else(dash, count)
    });
    table
}

fn peak(results: &Results, server: Peer) -> String {
    let cells = results.speed.cells.iter();
    let own = cells.filter(|it| it.server == server.name() && it.scenario.contains("HTTP"));
    let peak = Spread::of(own.map(|it| it.measured.peak_mb));
    peak.map_or_else(dash, |it| count(it.highest))
}

fn building(results: &Results) -> Table {
    let mut table = Table::new([
        "smallest stdio server",
        "crates",
        "CPU seconds, debug build",
        "seconds, release build",
    ]);
    for it in &results.building {
        let whole = |seconds: Option<f64>| seconds.map_or_else(dash, |it| format!("{it:.0}"));
        table.row([
            it.server.clone(),
            it.crates.to_string(),
            whole(it.debug_cpu_seconds),
            whole(it.seconds),
        ]);
    }
    table
}

fn failures(results: &Results) -> String {
    if results.speed.failures.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = results
        .speed
        .failures
        .iter()
        .map(|it| format!("- {it}\n"))
        .collect();
    format!("Not measured:\n\n{}", lines.concat())
}

/// A part of the page, or a note that a quick comparison does not have this part.
fn or_absent(part: String, figures: usize) -> String {
    if figures == 0 {
        return "*Not part of a quick comparison.*".to_owned();
    }
    part
}

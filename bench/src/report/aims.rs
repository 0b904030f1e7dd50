//! The aims, and whether they were reached.

use super::table::{Table, count, dash, times};
use crate::{listeners::Listeners, paths::PATHS, peers::Peer, results::Results};

/// Megabytes for each thousand sessions with a stream.
const SESSIONS: f64 = 20.0;
/// Blocks of memory for a modern call over HTTP, in addition to the control's.
const BLOCKS: f64 = 10.0;
/// A modern call that asks once, as a multiple of two plain ones.
const ASKING: f64 = 2.2;
/// Megabytes of ten thousand listeners.
const LISTENERS: f64 = 150.0;
/// Milliseconds of CPU time to notify them of a change.
const CHANGE: f64 = 100.0;
/// A client's instructions for a call, as a fraction of rmcp's.
const CLIENT: f64 = 0.6;
/// Megabytes of the smallest stdio server, without symbols.
const SIZE: f64 = 3.0;
/// Milliseconds to its first answer.
const FIRST_ANSWER: f64 = 2.0;

pub(crate) fn table(results: &Results) -> Table {
    let mut table = Table::new(["figure", "aim", "reached", "rmcp", "control", ""]);
    for path in &PATHS {
        let Some(aim) = path.aim else { continue };
        let ratio = |server| results.instructions.ratio(path.name, server);
        let shown = |server| ratio(server).map_or_else(dash, |it| format!("×{}", times(it)));
        table.row([
            format!("{}: instructions, control = 1", path.name),
            format!("≤ ×{}", aim.of_control),
            shown(Peer::Turnbuckle),
            shown(Peer::Rmcp),
            "×1".to_owned(),
            mark(ratio(Peer::Turnbuckle).map(|it| it <= aim.of_control)),
        ]);
        let ratio = results.speed.ratio(path.name, Peer::Rmcp, Peer::Turnbuckle);
        table.row([
            format!("{}: requests for a CPU second, rmcp = 1", path.name),
            format!("≥ ×{}", aim.against_rmcp),
            ratio.map_or_else(dash, |it| format!("×{}", times(it.median))),
            "×1".to_owned(),
            String::new(),
            mark(ratio.map(|it| it.median >= aim.against_rmcp)),
        ]);
    }
    others(results, &mut table);
    table
}

fn others(results: &Results, table: &mut Table) {
    let idle = |server: Peer| {
        let idle = results.idle.iter().find(|it| it.server == server.name())?;
        Some(idle.sessions()?.median)
    };
    limit(
        table,
        "MB for 1,000 idle sessions with a stream",
        SESSIONS,
        idle,
    );
    let profile = results.profiles.iter().find(|it| it.path == PATHS[0].name);
    let blocks = |server: Peer| {
        let blocks = profile?.blocks.iter().find(|it| it.0 == server.name())?;
        Some(blocks.1)
    };
    if let Some(control) = blocks(Peer::Control) {
        let name = "modern HTTP call, 100 B: allocations";
        limit(table, name, control.round() + BLOCKS, blocks);
    }
    for road in ["HTTP", "stdio"] {
        let name = format!("modern {road} call that asks once: CPU, two plain calls = 1");
        limit(table, &name, ASKING, |server| {
            let mut asks = results.asks.iter();
            let asks = asks.find(|it| it.server == server.name() && it.road == road)?;
            Some(asks.ratio()?.median)
        });
    }
    let own = |server, figure| (server == Peer::Turnbuckle).then_some(figure).flatten();
    let listeners = results.listeners.as_ref();
    limit(table, "MB for 10,000 listeners", LISTENERS, |server| {
        own(server, listeners.map(|it| it.megabytes))
    });
    let name = "ms of CPU to tell 10,000 listeners of a change";
    limit(table, name, CHANGE, |server| {
        own(
            server,
            listeners.and_then(Listeners::change).map(|it| it.median),
        )
    });
    for client in &results.clients {
        let name = format!("client, {}: instructions, rmcp = 1", client.path);
        let share = client.turnbuckle / client.rmcp;
        limit(table, &name, CLIENT, |server| match server {
            Peer::Turnbuckle => Some(share),
            Peer::Rmcp => Some(1.0),
            _ => None,
        });
    }
    let startup = |server: Peer| results.startup.iter().find(|it| it.server == server.name());
    #[expect(clippy::cast_precision_loss, reason = "programs of some megabytes")]
    let size = |server| Some(startup(server)?.size? as f64 / 1e6);
    limit(table, "smallest stdio server: MB, stripped", SIZE, size);
    let first = |server| Some(startup(server)?.first_answer()?.median);
    limit(
        table,
        "smallest stdio server: ms to the first answer",
        FIRST_ANSWER,
        first,
    );
}

/// Adds a row with a figure that must not be larger than its aim.
fn limit(table: &mut Table, name: &str, aim: f64, figure: impl Fn(Peer) -> Option<f64>) {
    let shown = |server| figure(server).map_or_else(dash, count);
    table.row([
        name.to_owned(),
        format!("≤ {aim}"),
        shown(Peer::Turnbuckle),
        shown(Peer::Rmcp),
        shown(Peer::Control),
        mark(figure(Peer::Turnbuckle).map(|it| it <= aim)),
    ]);
}

fn mark(is_reached: Option<bool>) -> String {
    match is_reached {
        Some(true) => "✓".to_owned(),
        Some(false) => "missed".to_owned(),
        None => dash(),
    }
}

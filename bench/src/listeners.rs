//! Listeners: the memory of ten thousand of them, and the cost of notifying all of one change.

use std::{cell::Cell, rc::Rc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::AsyncReadExt as _,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    Result,
    load::{
        call::{self, FIRST_ID},
        http::{Connection, modern_headers},
    },
    measure::crowd::listener,
    peers::Peer,
    process::{self, Ran, Running, megabytes},
    report::table::{Table, count, dash, spread},
    results::Results,
    statistics::Spread,
};

const LISTENERS: usize = 10_000;

/// How many open files a server with so many listeners needs; this program needs as many.
const FILES: usize = LISTENERS + 2_000;

/// How many changes are sent, one after another; the first is the warm-up. Two thirds of the cost of one is the
/// kernel's sending, which can vary by half from one to the next.
const CHANGES: usize = 41;

/// How long it may take until the last listener has been notified.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long streams are left alone before the first change.
const SETTLING: Duration = Duration::from_millis(500);

/// How often to check whether all have been notified.
const LOOKING: Duration = Duration::from_millis(5);

/// The cost of listeners.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Listeners {
    /// Megabytes of all of them.
    pub(crate) megabytes: f64,
    /// Milliseconds of CPU time for each change.
    changes: Vec<f64>,
}

impl Listeners {
    /// Milliseconds of CPU time for notifying all of one change.
    pub(crate) fn change(&self) -> Option<Spread> {
        Spread::of(self.changes.iter().copied())
    }
}

/// `bench listeners`: measures only listeners.
pub(crate) async fn command() -> Result<()> {
    Peer::Turnbuckle.prepare()?;
    process::settle()?;
    let listeners = measure().await?;
    println!("{}", table(Some(&listeners)));
    Results::update(|results| results.listeners = Some(listeners))
}

pub(crate) fn table(listeners: Option<&Listeners>) -> Table {
    let mut table = Table::new(["10,000 listeners of a resource", "turnbuckle"]);
    table.row([
        "MB of all of them".to_owned(),
        listeners.map_or_else(dash, |it| count(it.megabytes)),
    ]);
    let change = listeners.and_then(Listeners::change);
    table.row([
        "ms of CPU to tell them of one change".to_owned(),
        change.map_or_else(dash, spread),
    ]);
    table
}

pub(crate) async fn measure() -> Result<Listeners> {
    process::allow_files(FILES)?;
    eprintln!("listening: {LISTENERS} streams");
    let (process, address) = Running::http(&Peer::Turnbuckle.http()).await?;
    let mut caller = Connection::open(address).await?;
    touch(&mut caller).await?;
    let before = megabytes(process.pid, "VmRSS");
    let heard = Rc::new(Cell::new(0));
    let mut reading = JoinSet::new();
    for _ in 0..LISTENERS {
        let filter = json!({"resourceSubscriptions": ["bench://clock"]});
        let connection = listener(address, &filter).await?;
        reading.spawn_local(count_events(connection, Rc::clone(&heard)));
    }
    let after = megabytes(process.pid, "VmRSS");
    // Waits for the remaining confirmations.
    sleep(SETTLING).await;
    let mut changes = Vec::new();
    for change in 0..CHANGES {
        heard.set(0);
        let ran = Ran::of(process.pid);
        touch(&mut caller).await?;
        let all = async {
            while heard.get() < LISTENERS {
                sleep(LOOKING).await;
            }
        };
        let told = timeout(TIMEOUT, all).await;
        told.map_err(|_| format!("{} of {LISTENERS} heard of a change", heard.get()))?;
        if change > 0 {
            changes.push(Ran::of(process.pid).since(&ran) * 1e3);
        }
    }
    reading.abort_all();
    process.end().await?;
    Ok(Listeners {
        megabytes: after - before,
        changes,
    })
}

/// Makes the server report that the resource has changed.
async fn touch(connection: &mut Connection) -> Result<()> {
    let params = json!({"name": "touch", "arguments": {}, "_meta": call::meta()});
    let message = call::request("tools/call", FIRST_ID, &params);
    let request = connection.post(&modern_headers("tools/call", Some("touch")), &message);
    let mut body = Vec::new();
    let answer = connection.exchange(&request, Some(&mut body)).await?;
    answer.expect(200, &body)
}

/// Counts the events that arrive. Each says that the resource has changed: nothing else is sent.
async fn count_events(mut connection: Connection, heard: Rc<Cell<usize>>) {
    let mut buffer = [0; 1024];
    let mut tail = 0;
    while let Ok(read @ 1..) = connection.stream.read(&mut buffer).await {
        for byte in &buffer[..read] {
            match byte {
                b'\r' => {}
                b'\n' => tail += 1,
                _ => tail = 0,
            }
            // An event ends with an empty line. HTTP chunks end with one line break.
            if tail == 2 {
                heard.set(heard.get() + 1);
            }
        }
    }
}

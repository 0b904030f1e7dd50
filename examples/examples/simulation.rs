//! Finds a bug that an ordinary test seldom shows: two people who buy the last seat at the same moment. The simulation
//! runs the server with its clients, once for each seed, and names a seed that shows the bug. After the handler is
//! corrected, no seed shows it.
//!
//! ```text
//! cargo run -p examples --example simulation
//! ```

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use turnbuckle::{client::Client, prelude::*};
use turnbuckle_testing::sim::{Sim, SimulationRun};

/// How many seats are left.
#[derive(Clone)]
struct Seats(Arc<Mutex<u32>>);

/// Buys a seat.
#[tool]
async fn buy(State(seats): State<Seats>) -> Result<&'static str, ToolError> {
    let left = *seats.0.lock().expect("no holder panics");
    if left == 0 {
        return Err(ToolError::new("sold out"));
    }
    // The bug: others may buy while the card is charged.
    tokio::time::sleep(Duration::from_millis(20)).await;
    *seats.0.lock().expect("no holder panics") = left - 1;
    Ok("sold")
}

/// Buys a seat. It is taken before the card is charged.
#[tool(name = "buy")]
async fn buy_corrected(State(seats): State<Seats>) -> Result<&'static str, ToolError> {
    {
        let mut left = seats.0.lock().expect("no holder panics");
        *left = left.checked_sub(1).ok_or(ToolError::new("sold out"))?;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    Ok("sold")
}

fn theatre() -> Server {
    let seats = Seats(Arc::new(Mutex::new(1)));
    Server::new("theatre", "1.0.0").state(seats)
}

async fn an_evening(run: SimulationRun, server: Server) {
    let server = server.build().expect("the server is set up");
    let machine = run.serve("theatre", &server);
    let sold = Arc::new(Mutex::new(0));
    let guests = ["ada", "bob"].map(|name| {
        let client = run.audited(Client::new(name, "1.0.0"));
        let (run, sold) = (run.clone(), Arc::clone(&sold));
        run.clone().spawn(name, async move {
            // Usually, people do not come at the same moment.
            run.pause(Duration::from_millis(500)).await;
            let Ok(server) = client.connect(run.target("theatre")).await else {
                return;
            };
            // A tool that failed also returns a result, which is marked as an error.
            if let Ok(output) = server.call("buy", json!({})).await
                && output.ok().is_ok()
            {
                *sold.lock().expect("no holder panics") += 1;
            }
        })
    });
    for guest in guests {
        guest.await.expect("panics are the simulation's to report");
    }
    machine.crash();
    let sold = *sold.lock().expect("no holder panics");
    assert!(sold <= 1, "the last seat was sold {sold} times");
}

fn main() {
    let with_bug = |run| an_evening(run, theatre().tool(buy));
    let Err(failure) = Sim::new().seeds(2000).find(with_bug) else {
        println!("the bug was not found");
        return;
    };
    println!("seed {}: {}", failure.seed, failure.problems.join("; "));
    // The seed alone is enough to repeat the run.
    let again = Sim::new().trace(failure.seed, with_bug);
    println!("replays exactly: {}", again == failure.trace);

    let corrected = |run| an_evening(run, theatre().tool(buy_corrected));
    match Sim::new().seeds(failure.seed + 100).find(corrected) {
        Ok(report) => println!("corrected: no bug in {report}"),
        Err(failure) => println!(
            "corrected: seed {}: {}",
            failure.seed,
            failure.problems.join("; ")
        ),
    }
}

//! Finds a bug that no ordinary test shows: two people who buy the last seat at the same moment. The simulation
//! runs the server with its clients on a network that fails, once for each seed, and names a seed that shows it.
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

async fn an_evening(run: SimulationRun) {
    let server = Server::new("theatre", "1.0.0")
        .state(Seats(Arc::new(Mutex::new(1))))
        .tool(buy)
        .build()
        .expect("the server is set up");
    let machine = run.serve("theatre", &server);
    let sold = Arc::new(Mutex::new(0));
    let guests = ["ada", "bob"].map(|name| {
        let client = run.audited(Client::new(name, "1.0.0"));
        let (run, sold) = (run.clone(), Arc::clone(&sold));
        run.clone().spawn(name, async move {
            // People do not come at the same moment, most of the time.
            run.pause(Duration::from_secs(2)).await;
            if let Ok(server) = client.connect(run.target("theatre")).await
                && server.call("buy", json!({})).await.is_ok()
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
    match Sim::new().seeds(2000).find(an_evening) {
        Ok(report) => println!("no bug in {report}"),
        Err(failure) => {
            println!("seed {}: {}", failure.seed, failure.problems.join("; "));
            // The seed alone is enough to see it again.
            let again = Sim::new().trace(failure.seed, an_evening);
            println!("replays exactly: {}", again == failure.trace);
        }
    }
}

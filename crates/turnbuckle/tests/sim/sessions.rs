//! A session that ends while the server waits for an answer.

use std::time::Duration;

use serde_json::json;
use turnbuckle::{
    Client, Revision,
    protocol::{ElicitResult, ElicitValue},
};
use turnbuckle_testing::sim::{Faults, Sim, SimulationRun};

use crate::{club, ledger::Ledger};

/// The next session may have different questions with the same ids.
#[test]
fn an_answer_to_a_session_that_ended_is_not_sent_in_the_next() {
    let report = Sim::new()
        .seeds(20)
        .faults(Faults::none())
        .run(async |run: SimulationRun| {
            let ledger = Ledger::new(&run);
            let start = || {
                let server = club::server(&ledger).build().expect("the club is set up");
                run.serve("club", &server)
            };
            let machine = start();
            let client = Client::new("slow", "1.0.0")
                .only(Revision::V2025_06_18)
                .on_form(|_| async {
                    tokio::time::sleep(Duration::from_secs(20)).await;
                    Ok(ElicitResult::accept([("number", ElicitValue::from(1))]))
                });
            let connection = run.audited(client).connect(run.target("club")).await;
            let connection = connection.expect("the network is good");
            let asking = async {
                let _ = connection.call("ask", json!({ "call": 1 })).await;
            };
            let meanwhile = async {
                tokio::time::sleep(Duration::from_secs(5)).await;
                machine.crash();
                let machine = start();
                // The client finds that the session has ended, and opens another.
                while connection.call("echo", json!({ "call": 2 })).await.is_err() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                tokio::time::sleep(Duration::from_mins(1)).await;
                machine.crash();
            };
            tokio::join!(asking, meanwhile);
        });
    println!("{report}");
}

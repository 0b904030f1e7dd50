//! Deterministic simulation: a server and its clients on a network that fails, reproducible from a seed.
//!
//! A simulation runs your handlers in the real server, with real clients and the real HTTP code, on a
//! network in memory that delays, cuts and stalls connections, and on a clock that jumps to the next
//! event. Everything that happens follows from a seed. A thousand seeds give a thousand different runs and take
//! seconds; `SIM_SEED` repeats a run that failed, exactly.
//!
//! ```
//! use turnbuckle_client::Client;
//! use turnbuckle_server::{Server, Tool};
//! use turnbuckle_testing::sim::{Sim, SimulationRun};
//!
//! async fn afternoon(run: SimulationRun) {
//!     let server = Server::new("greeter", "1.0.0")
//!         .tool(Tool::new("greet", || async { "hello" }))
//!         .build()
//!         .expect("the server is set up");
//!     let machine = run.serve("greeter", &server);
//!     let client = run.audited(Client::new("guest", "1.0.0"));
//!     // The network may refuse or cut: what must hold is that a call that succeeds is right.
//!     if let Ok(connection) = client.connect(run.target("greeter")).await
//!         && let Ok(output) = connection.call("greet", serde_json::json!({})).await
//!     {
//!         assert_eq!(output.text(), "hello");
//!     }
//!     machine.crash();
//! }
//!
//! Sim::new().seeds(20).run(afternoon);
//! ```
//!
//! # What is checked
//!
//! - Assertions in your program: a panic fails the run, also one in [`SimulationRun::spawn`].
//! - The messages of [audited](SimulationRun::audited) clients: a request gets at most one answer, no answer
//!   comes without a request, no id is used twice, and progress grows and belongs to a request. To check that no
//!   answer is missing, call [`Audit::all_answered`] when all of them must have arrived.
//! - That the program ends. Time is simulated, so an endless wait takes no real time and is noticed.
//! - That no task runs on after the program has ended and dropped everything.
//!
//! # What is simulated
//!
//! - The clock of tokio, which everything waits on, and the time of day that tasks and sealed states
//!   carry.
//! - Connections: bytes arrive late but in order, as TCP and pipes promise; writes are accepted in
//!   parts; a full window makes the writer wait; connections are cut, become silent, or have an
//!   end that reads slowly ([`Faults`]).
//! - The order in which tasks run, as far as it depends on connections: an end that is ready may have to wait
//!   for a random turn.
//! - Crashes: [`SimulatedMachine::crash`].
//!
//! Not simulated: threads, files, processes, and random bytes of the operating system. If your code
//! reads the clock of the standard library or iterates over a `HashMap`, two runs of the same seed may
//! differ.

mod audit;
mod faults;
mod network;
mod random;
mod run;
mod simulation_run;
mod trace;
mod wire;

pub use audit::Audit;
pub use faults::Faults;
pub use network::Network;
pub use random::Random;
pub use run::{Failure, Report, Sim};
pub use simulation_run::{SimulatedMachine, SimulationRun};
pub use wire::End;

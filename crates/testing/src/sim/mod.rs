//! Deterministic simulation: a server and its clients on a network that fails, replayed by a number.
//!
//! A simulation runs your handlers in the real server, with real clients and the real HTTP code, on a
//! network in memory that delays, cuts and stalls connections, and on a clock that jumps to the next
//! event. Everything that happens follows from a seed. A thousand seeds are a thousand different
//! afternoons in production, and take seconds; one that fails is run again exactly, with `SIM_SEED`.
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
//! - What your program asserts: a panic fails the run, also one in [`SimulationRun::spawn`].
//! - The messages of [audited](SimulationRun::audited) clients: no second answer to a request, none to a request
//!   that was not sent, no id used twice, progress that grows and belongs to a request. That no answer is
//!   missing is checked where you say that all must be there: [`Audit::all_answered`].
//! - That the program ends. Time is simulated, so an endless wait takes no real time and is noticed.
//! - That no task goes on after the program has ended and dropped what it had.
//!
//! # What is simulated
//!
//! - The clock of tokio, which everything waits on, and the time of day that tasks and sealed states
//!   carry.
//! - Connections: bytes arrive in order, as TCP and pipes promise, and late; writes are taken in
//!   part; a full window makes the writer wait; connections are cut, end without a word, or have an
//!   end that reads slowly ([`Faults`]).
//! - The order in which tasks run, as far as it depends on connections: an end that could go on has to
//!   wait for its turn at random.
//! - Crashes: [`SimulatedMachine::crash`].
//!
//! Not simulated: threads, files, processes, and random bytes of the operating system. Code of yours
//! that reads the clock of the standard library or iterates over a `HashMap` may make two runs of one
//! seed differ.

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

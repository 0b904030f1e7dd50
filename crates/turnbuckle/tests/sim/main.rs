//! Deterministic simulation: real servers and clients on a network that fails.
//!
//! `./scripts/sim --seeds 20000` runs more seeds, and `./scripts/sim --seed 17 sockets` runs one of them again.

mod afternoon;
mod club;
mod gateway;
mod intruder;
mod ledger;
mod member;
mod planted;
mod replay;
mod replicas;
mod sessions;
mod shared_stores;
mod sockets;
mod stdio;

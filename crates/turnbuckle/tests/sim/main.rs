//! Deterministic simulation: real servers and clients on a network that fails.
//!
//! `SIM_SEEDS=100000` runs more seeds, `SIM_SEED=17` runs one of them again; `./scripts/sim` does both.

mod afternoon;
mod club;
mod gateway;
mod ledger;
mod member;
mod planted;
mod replay;
mod replicas;
mod sessions;
mod shared_stores;
mod sockets;
mod stdio;

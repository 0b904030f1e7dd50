//! The log: on stderr, because stdout belongs to data.

use std::io;

use tracing_subscriber::EnvFilter;

/// What is logged unless `RUST_LOG` is set: only what the user should look at.
const DEFAULT_FILTER: &str = "warn";

/// Sends what the libraries log to stderr, filtered by `RUST_LOG`.
pub(crate) fn open() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
}

//! Tests of the schema crate through its public API.

mod coerce;
mod example;
mod explain;
mod generate;
mod hostile;
mod keywords;
mod oracle;
mod plain;
mod refused;
mod suffices;
mod suite;

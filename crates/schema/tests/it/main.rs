//! What the schema crate promises, tested through its public face.

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

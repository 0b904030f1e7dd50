//! What the schema crate promises, tested through its public face.

mod coerce;
mod example;
mod explain;
mod generate;
mod hostile;
mod oracle;
mod plain;
mod suffices;
mod suite;

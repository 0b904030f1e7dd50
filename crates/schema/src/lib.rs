//! JSON Schema 2020-12 for tool arguments: plain schemas from Rust types, validation, coercion, and
//! errors a model can act on.

mod check;
mod closest;
mod coerce;
mod compile;
mod describe;
mod dialect;
mod equal;
mod error;
mod example;
mod explain;
mod format;
mod keyword;
mod kind;
pub mod limits;
mod nearest;
mod node;
mod number;
mod pattern;
mod plain;
mod reference;
mod run;
mod schema;
mod settings;
mod shown;
mod suffices;
mod text;
mod violation;

pub use coerce::{Coercion, Coercions};
pub use dialect::Dialect;
pub use error::SchemaError;
pub use example::example;
pub use format::Formats;
pub use plain::{ArgumentsError, arguments_schema, output_schema};
pub use schema::Schema;
pub use settings::Settings;
pub use suffices::{serde_enforces, serde_suffices};
pub use text::TextError;
pub use violation::{Keyword, Violation};

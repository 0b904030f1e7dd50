//! JSON Schema 2020-12 for tool arguments: plain schemas from Rust types, validation, coercion, and errors a model
//! can act on.

mod check;
mod closest;
mod compile;
mod describe;
mod dialect;
mod equal;
mod error;
mod format;
mod keyword;
mod kind;
pub mod limits;
mod nearest;
mod node;
mod number;
mod pattern;
mod reference;
mod run;
mod schema;
mod settings;
mod shown;
mod violation;

pub use dialect::Dialect;
pub use error::SchemaError;
pub use format::Formats;
pub use schema::Schema;
pub use settings::Settings;
pub use violation::{Keyword, Violation};

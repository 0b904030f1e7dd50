//! JSON Schema 2020-12 for tool arguments: plain schemas from Rust types, validation, coercion, and
//! errors a model can act on.
//!
//! - [`arguments_schema`] and [`output_schema`] make schemas of Rust types.
//! - [`Schema::compile`] compiles a schema document; [`Schema::is_valid`] and [`Schema::check`] validate an
//!   instance.
//! - [`Schema::coerce`] corrects arguments to what a model meant; [`Schema::explain`] tells the model what is wrong,
//!   with an [example](Schema::example).
//! - [`serde_enforces`] finds out whether deserializing into a type makes validation unnecessary.
//!
//! Schemas and instances may come from untrusted peers: the [`limits`] bound all work and memory, nothing is
//! fetched, and nothing panics.
//!
//! ```
//! use serde_json::json;
//! use turnbuckle_schema::Schema;
//!
//! let schema = Schema::compile(&json!({
//!     "type": "object",
//!     "properties": { "row": { "type": "integer" }, "unit": { "enum": ["cm", "inch"] } },
//!     "required": ["row"]
//! }))?;
//! let mut arguments = json!({ "row": "7", "unit": "inches" });
//! let _ = schema.coerce(&mut arguments);
//! let violations = schema.check(&arguments).unwrap_err();
//! assert_eq!(
//!     schema.explain(&violations),
//!     "- `/unit`: expected one of \"cm\", \"inch\", found the string \"inches\"; \
//!      did you mean \"inch\"?\nA valid example: {\"row\":1}"
//! );
//! # Ok::<(), turnbuckle_schema::SchemaError>(())
//! ```

mod check;
mod coerce;
mod compile;
mod dialect;
mod equal;
mod error;
mod example;
mod explain;
mod format;
mod kind;
pub mod limits;
mod nearest;
mod node;
mod number;
mod pattern;
mod plain;
mod pointer;
mod reference;
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
pub use nearest::name as nearest_name;
pub use plain::{ArgumentsError, arguments_schema, output_schema};
pub use schema::Schema;
pub use settings::Settings;
pub use suffices::{serde_enforces, serde_suffices};
pub use text::TextError;
pub use violation::{Keyword, Violation};

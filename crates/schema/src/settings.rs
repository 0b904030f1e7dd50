//! Settings for compiling a schema.

use crate::dialect::Dialect;
use crate::format::Formats;

/// Settings for [`Schema::compile_with`](crate::Schema::compile_with). The default is what the
/// protocol asks for.
///
/// ```
/// use turnbuckle_schema::{Dialect, Formats, Schema, Settings};
///
/// let settings = Settings::default().with_formats(Formats::Assert).with_dialect(Dialect::Draft07);
/// let schema = Schema::compile_with(&serde_json::json!({ "format": "date" }), settings)?;
/// assert!(!schema.is_valid(&"tomorrow".into()));
/// # Ok::<(), turnbuckle_schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub(crate) formats: Formats,
    pub(crate) dialect: Dialect,
}

impl Settings {
    /// How `format` is used; by default it is not checked.
    pub fn with_formats(self, formats: Formats) -> Self {
        Self { formats, ..self }
    }

    /// The dialect of a document that declares none; by default 2020-12.
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }
}

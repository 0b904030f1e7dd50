//! Settings for compiling a schema.

use crate::dialect::Dialect;
use crate::format::Formats;

/// Settings for [`Schema::compile_with`](crate::Schema::compile_with). The defaults are what the
/// protocol requires.
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
    /// Sets whether `format` is checked. By default it is not.
    pub fn with_formats(self, formats: Formats) -> Self {
        Self { formats, ..self }
    }

    /// Sets the dialect of documents that declare none. By default this is 2020-12.
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }
}

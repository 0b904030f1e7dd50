//! Errors of schema documents.

use thiserror::Error;

/// A document that cannot be used as a schema, from [`Schema::compile`](crate::Schema::compile). `pointer` is the
/// JSON pointer of the place in the schema document (empty for its root).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// A place that must hold a schema holds something else.
    #[error(
        "{} of the schema is {found}; a schema is an object or a boolean",
        place(pointer)
    )]
    NotASchema {
        /// The JSON pointer of that place.
        pointer: String,
        /// The kind of value that was found.
        found: &'static str,
    },
    /// The document declares a dialect that this crate does not know.
    #[error(
        "the schema declares the dialect `{uri}`, which is not supported; use 2020-12 (the default) \
         or draft-07"
    )]
    Dialect {
        /// The `$schema` as declared.
        uri: String,
    },
    /// A keyword has a value of the wrong form.
    #[error("`{keyword}` at {} of the schema must be {expected}", place(pointer))]
    Keyword {
        /// The schema that has the keyword.
        pointer: String,
        /// The keyword.
        keyword: String,
        /// The form it must have.
        expected: &'static str,
    },
    /// A reference to another document. Nothing is ever fetched.
    #[error(
        "the reference to `{uri}` at {} of the schema leads outside the document; nothing is \
         fetched, so put it under `$defs`",
        place(pointer)
    )]
    ExternalReference {
        /// The schema that has the reference.
        pointer: String,
        /// The URI of that document.
        uri: String,
    },
    /// A reference to a place in this document that does not exist.
    #[error(
        "`{reference}` at {} of the schema points to nothing in the document",
        place(pointer)
    )]
    UnknownReference {
        /// The schema that has the reference.
        pointer: String,
        /// The reference as written.
        reference: String,
    },
    /// A reference leads back to itself without going deeper into the instance.
    #[error(
        "the reference at {} of the schema leads back to itself, so checking would never end",
        place(pointer)
    )]
    EndlessReference {
        /// A schema in the cycle.
        pointer: String,
    },
    /// Two schemas of the document have the same name.
    #[error(
        "`{name}` at {} of the schema is already the name of another schema",
        place(pointer)
    )]
    DuplicateName {
        /// The later of the two.
        pointer: String,
        /// The `$id` or anchor.
        name: String,
    },
    /// A `pattern`, or a name in `patternProperties`, is not a regular expression that this crate can run.
    #[error(
        "the pattern `{pattern}` at {} of the schema cannot be used: {reason}",
        place(pointer)
    )]
    Pattern {
        /// The schema that has the pattern.
        pointer: String,
        /// The pattern as written.
        pattern: String,
        /// The problem.
        reason: String,
    },
    /// The document is nested deeper than [`MAX_SCHEMA_DEPTH`](crate::limits::MAX_SCHEMA_DEPTH).
    #[error("the schema is nested deeper than {limit} levels")]
    TooDeep {
        /// The bound.
        limit: usize,
    },
    /// The document has more values than [`MAX_SCHEMA_VALUES`](crate::limits::MAX_SCHEMA_VALUES).
    #[error("the schema has more than {limit} values")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// The document has more patterns than [`MAX_PATTERNS`](crate::limits::MAX_PATTERNS).
    #[error("the schema has more than {limit} different patterns")]
    TooManyPatterns {
        /// The bound.
        limit: usize,
    },
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() {
        "the root".to_owned()
    } else {
        format!("`{pointer}`")
    }
}

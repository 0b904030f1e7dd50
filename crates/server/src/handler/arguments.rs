//! Parses and checks the arguments of a call.
//!
//! In the common case this is one typed parse: if the schema requires nothing that serde does not
//! check as well, a value that deserializes is valid. Coercion, validation, and error messages for
//! models are needed only if that parse fails, or if the schema requires more.

use std::{fmt::Write as _, sync::OnceLock};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use turnbuckle_protocol::envelope::Raw;
use turnbuckle_schema::{Schema, SchemaError};

use crate::Failure;

/// How strictly arguments from models are checked. Set it with
/// [`Tool::leniency`](crate::Tool::leniency), or for all tools with
/// [`Server::strict`](crate::Server::strict).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leniency {
    /// Values are converted if their meaning is clear: `"5"` to 5, an object in a string, null for
    /// a missing value. This is the default, because models make these mistakes.
    Lenient,
    /// Every value must have the type in the schema. Otherwise the model gets an error that says
    /// what was expected.
    Strict,
}

/// The schema of a handler's arguments, and how strictly it is applied.
#[derive(Debug)]
pub(crate) struct Arguments {
    schema: Map<String, Value>,
    compiled: OnceLock<Result<Schema, SchemaError>>,
    patterns: Patterns,
    enforced: Option<Enforced>,
    pub(crate) leniency: Leniency,
}

/// A function that compiles a schema.
pub(crate) type Compile = fn(&Value) -> Result<Schema, SchemaError>;

/// Whether a schema may have patterns. The engine for patterns is a quarter of a small server, and
/// is only linked into programs that mention [`SOME`](Self::SOME).
#[derive(Clone, Copy, Debug)]
pub struct Patterns(Option<Compile>);

impl Patterns {
    /// The schema has no patterns.
    pub const NONE: Self = Self(None);
    /// The schema may have patterns.
    pub const SOME: Self = Self(Some(Schema::compile));

    /// Combines the needs of two parts of a schema.
    pub fn and(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }

    pub(crate) fn compile(self, schema: &Value) -> Result<Schema, SchemaError> {
        self.0.unwrap_or(Schema::compile_without_patterns)(schema)
    }

    #[cfg(test)]
    pub(crate) fn is_some(self) -> bool {
        self.0.is_some()
    }
}

/// Whether parsing into the type enforces the schema that was derived from it. This is determined
/// by trial, which takes a fraction of a millisecond, so it happens at the first call.
#[derive(Debug)]
struct Enforced {
    prove: fn(&Value) -> bool,
    is_proved: OnceLock<bool>,
}

impl Arguments {
    /// Creates arguments whose schema was derived from the type into which they are parsed.
    pub(crate) fn derived<T: DeserializeOwned>(
        schema: Map<String, Value>,
        patterns: Patterns,
    ) -> Self {
        let prove = turnbuckle_schema::serde_enforces::<T>;
        Self {
            enforced: Some(Enforced {
                prove,
                is_proved: OnceLock::new(),
            }),
            ..Self::plain(schema, patterns)
        }
    }

    /// Creates arguments whose schema was written by hand. They are always checked against it.
    pub(crate) fn declared(schema: Map<String, Value>) -> Self {
        Self::plain(schema, Patterns::SOME)
    }

    fn plain(schema: Map<String, Value>, patterns: Patterns) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
            patterns,
            enforced: None,
            leniency: Leniency::Lenient,
        }
    }

    pub(crate) fn schema(&self) -> &Map<String, Value> {
        &self.schema
    }

    pub(crate) fn is_derived(&self) -> bool {
        self.enforced.is_some()
    }

    /// Whether a value that serde accepts is valid without further checks.
    fn serde_suffices(&self) -> bool {
        self.enforced.as_ref().is_some_and(|enforced| {
            *enforced
                .is_proved
                .get_or_init(|| (enforced.prove)(&Value::Object(self.schema.clone())))
        })
    }

    /// Compiles the schema. Otherwise this happens at the first call that needs it.
    pub(crate) fn compile(&self) -> Result<&Schema, &SchemaError> {
        self.compiled
            .get_or_init(|| self.patterns.compile(&Value::Object(self.schema.clone())))
            .as_ref()
    }

    /// Parses the arguments into a type.
    pub(crate) fn read<T: DeserializeOwned>(&self, raw: Option<Raw<'_>>) -> Result<T, Failure> {
        let text = raw.map_or("{}", Raw::get);
        // Serde accepts a list for a struct, and null for an optional value; strict tools do not.
        if self.leniency == Leniency::Lenient
            && self.serde_suffices()
            && let Ok(value) = serde_json::from_str(text)
        {
            return Ok(value);
        }
        self.read_slowly(text)
    }

    fn read_slowly<T: DeserializeOwned>(&self, text: &str) -> Result<T, Failure> {
        let value = self.checked(text)?;
        serde_path_to_error::deserialize(value).map_err(|error| self.misfit(&error))
    }

    /// The error for arguments that match the schema but that the type does not accept, such as a
    /// number out of its range.
    fn misfit(&self, error: &serde_path_to_error::Error<serde_json::Error>) -> Failure {
        let pointer: String = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                Segment::Seq { index } => Some(format!("/{index}")),
                Segment::Map { key } => {
                    Some(format!("/{}", key.replace('~', "~0").replace('/', "~1")))
                }
                Segment::Enum { .. } | Segment::Unknown => None,
            })
            .collect();
        let mut text = format!("- `{pointer}`: {}", error.inner());
        if let Some(example) = self.compile().ok().and_then(Schema::example) {
            // Writing to a String cannot fail.
            let _ = write!(text, "\nA valid example: {example}");
        }
        Failure::Arguments(text)
    }

    /// Parses, coerces and validates the arguments.
    pub(crate) fn checked(&self, text: &str) -> Result<Value, Failure> {
        let mut value: Value = serde_json::from_str(text).map_err(|error| {
            Failure::Arguments(format!("the arguments cannot be read: {error}"))
        })?;
        let schema = self
            .compile()
            .map_err(|error| Failure::Fault(crate::Fault::new(error.to_string())))?;
        if self.leniency == Leniency::Lenient {
            let coercions = schema.coerce(&mut value);
            if !coercions.is_empty() {
                tracing::debug!(%coercions, "arguments of the wrong type were converted");
            }
        }
        match schema.check(&value) {
            Ok(()) => Ok(value),
            Err(violations) => Err(Failure::Arguments(schema.explain(&violations))),
        }
    }
}

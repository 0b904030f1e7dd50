//! A compiled schema, which checks any number of instances.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::check::{Collected, Place, Run, check};
use crate::compile::{Compiled, compile};
use crate::dialect::Dialect;
use crate::error::SchemaError;
use crate::node::NodeId;
use crate::pattern;
use crate::settings::Settings;
use crate::violation::Violation;

/// A compiled JSON Schema. Cheap to clone; clones share the compiled schema.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_schema::Schema;
///
/// let schema = Schema::compile(&json!({
///     "type": "object",
///     "properties": { "row": { "type": "integer", "minimum": 1 } },
///     "required": ["row"]
/// }))?;
/// assert!(schema.is_valid(&json!({ "row": 7 })));
/// let violations = schema.check(&json!({ "row": 0 })).unwrap_err();
/// assert_eq!(violations[0].to_string(), "/row: expected a number of at least 1, found 0");
/// # Ok::<(), turnbuckle_schema::SchemaError>(())
/// ```
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    compiled: Compiled,
    source: Value,
}

impl Schema {
    /// Compiles a schema document in the dialect that it declares (2020-12 if it declares none).
    /// `format` is not checked.
    ///
    /// # Errors
    /// If the document is not a schema, declares an unsupported dialect, refers outside itself or in a
    /// cycle, or exceeds the [limits](crate::limits). Nothing is ever fetched.
    pub fn compile(source: &Value) -> Result<Self, SchemaError> {
        Self::compile_with(source, Settings::default())
    }

    /// Compiles a schema document with settings other than the default.
    ///
    /// # Errors
    /// The same as [`compile`](Self::compile).
    pub fn compile_with(source: &Value, settings: Settings) -> Result<Self, SchemaError> {
        Self::compile_by(source, settings, pattern::compile)
    }

    /// Compiles a schema document that is known to have no `pattern` and no `patternProperties`.
    ///
    /// The engine for patterns is the largest part of this crate: a megabyte, with its tables.
    /// It is not linked into programs that compile schemas only with this function.
    ///
    /// ```
    /// use serde_json::json;
    /// use turnbuckle_schema::Schema;
    ///
    /// assert!(Schema::compile_without_patterns(&json!({ "type": "string" })).is_ok());
    /// assert!(Schema::compile_without_patterns(&json!({ "pattern": "^a" })).is_err());
    /// ```
    ///
    /// # Errors
    /// The same as [`compile`](Self::compile), and if the document has a pattern.
    pub fn compile_without_patterns(source: &Value) -> Result<Self, SchemaError> {
        Self::compile_by(source, Settings::default(), pattern::refuse)
    }

    fn compile_by(
        source: &Value,
        settings: Settings,
        compile_pattern: pattern::Compile,
    ) -> Result<Self, SchemaError> {
        let compiled = compile(source, settings, compile_pattern)?;
        Ok(Self(Arc::new(Inner {
            compiled,
            source: source.clone(),
        })))
    }

    /// The document as it was given.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// The dialect of the document.
    pub fn dialect(&self) -> Dialect {
        self.0.compiled.dialect
    }

    /// Whether an instance satisfies the schema. An instance that exceeds the [limits](crate::limits)
    /// does not.
    ///
    /// This allocates only for patterns, `propertyNames`, `uniqueItems` on more than 16
    /// items, `unevaluated*` on more than 64 members, and `$dynamicRef`.
    pub fn is_valid(&self, instance: &Value) -> bool {
        let mut run = self.run();
        run.holds(NodeId::ROOT, instance, &Place::ROOT) && run.limit().is_none()
    }

    /// Checks an instance and reports its violations, up to
    /// [`MAX_VIOLATIONS`](crate::limits::MAX_VIOLATIONS). To turn them into text for a model, use
    /// [`explain`](Self::explain).
    ///
    /// # Errors
    /// The violations, in the order of the instance; at least one.
    pub fn check(&self, instance: &Value) -> Result<(), Vec<Violation>> {
        // The verdict alone is cheaper, and nearly every instance is valid.
        let mut verdict = self.run();
        let holds = verdict.holds(NodeId::ROOT, instance, &Place::ROOT);
        if let Some(limit) = verdict.limit() {
            return Err(vec![limit.violation()]);
        }
        if holds {
            return Ok(());
        }
        let mut report = self.run();
        let mut collected = Collected::default();
        let _ = check(
            &mut report,
            NodeId::ROOT,
            instance,
            &Place::ROOT,
            &mut collected,
        );
        let mut violations = collected.0;
        if let Some(limit) = report.limit() {
            // Reporting everything took more steps than deciding. The first violation is the one that decided; later
            // ones may only say that the steps were used up.
            violations.truncate(1);
            if violations.is_empty() {
                violations.push(limit.violation());
            }
        }
        Err(violations)
    }

    pub(crate) fn run(&self) -> Run<'_> {
        let compiled = &self.0.compiled;
        Run::new(&compiled.nodes, compiled.has_dynamic_references)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.source).finish()
    }
}

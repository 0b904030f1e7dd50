//! Checks arguments and results against the full schema.

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use turnbuckle::schema::{Schema, SchemaError, Violation};

/// A violation, and where it is.
#[derive(Serialize)]
pub(super) struct Misfit {
    pub(super) path: String,
    pub(super) message: String,
}

/// Whether a result satisfies the tool's output schema.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OutputCheck {
    pub(super) ok: bool,
    pub(super) problems: Vec<String>,
}

/// Checks the arguments of a tool.
pub(super) fn arguments(schema: &Value, arguments: &RawValue) -> Vec<Misfit> {
    let value: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
    problems(&Schema::compile(schema), &value)
}

/// Checks the result of a tool that has an output schema.
pub(super) fn output(schema: &Value, result: &RawValue) -> Option<OutputCheck> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return None;
    }
    let compiled = Schema::compile(schema);
    let problems: Vec<String> = match (&compiled, result.get("structuredContent")) {
        (Err(error), _) => vec![format!("the tool's output schema cannot be used: {error}")],
        (Ok(_), None) => vec!["structured content is missing".to_owned()],
        (Ok(_), Some(content)) => problems(&compiled, content)
            .into_iter()
            .map(|Misfit { path, message }| format!("`{path}`: {message}"))
            .collect(),
    };
    Some(OutputCheck {
        ok: problems.is_empty(),
        problems,
    })
}

/// The violations of a schema. If the schema cannot be used, nothing is checked.
pub(super) fn problems(schema: &Result<Schema, SchemaError>, value: &Value) -> Vec<Misfit> {
    let Ok(schema) = schema else {
        return Vec::new();
    };
    let violations = schema.check(value).err().unwrap_or_default();
    violations.iter().map(said).collect()
}

fn said(violation: &Violation) -> Misfit {
    let mut message = format!("expected {}, found {}", violation.expected, violation.found);
    if let Some(nearest) = &violation.nearest {
        message.push_str("; did you mean ");
        message.push_str(nearest);
        message.push('?');
    }
    Misfit {
        path: violation.pointer.clone(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    #[test]
    fn a_result_is_held_to_its_promise() {
        let schema = json!({"type": "object", "required": ["sum"], "properties": {"sum": {"type": "integer"}}});
        let judged = |result: Value| output(&schema, &raw(&result));
        assert!(judged(json!({"structuredContent": {"sum": 3}})).unwrap().ok);
        assert!(
            !judged(json!({"structuredContent": {"sum": "3"}}))
                .unwrap()
                .ok
        );
        assert!(!judged(json!({"content": []})).unwrap().ok);
        assert!(judged(json!({"isError": true})).is_none());
    }

    #[test]
    fn arguments_are_judged_with_their_place() {
        let schema = json!({"type": "object", "properties": {"who": {"type": "string"}}});
        let misfits = arguments(&schema, &raw(&json!({"who": 7})));
        assert_eq!(misfits[0].path, "/who");
    }
}

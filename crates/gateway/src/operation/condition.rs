//! Conditions in CEL, the Common Expression Language.
//!
//! The cost of an expression is bounded: its length, the depth of its loops, and how much of a
//! request it may read. If an expression cannot be evaluated, the safer result for its rule is
//! used.

use std::{collections::BTreeSet, fmt, sync::Arc};

use cel::{
    Context, Env, IdedExpr, Program, Value as Cel,
    common::ast::{EntryExpr, Expr, IdedEntryExpr},
    objects::{Key, Map},
};
use serde_json::Value;

use super::subject::{Moment, Subject};

/// The longest allowed expression, in bytes.
const MAX_LENGTH: usize = 4 * 1024;

/// How many bytes of a call's arguments, as JSON, an expression may read.
const MAX_ARGUMENTS: usize = 256 * 1024;

/// The same for an expression with a loop, which may copy its input in each iteration.
const MAX_LOOPED_ARGUMENTS: usize = 16 * 1024;

/// The variables that expressions can use.
const VARIABLES: [&str; 8] = [
    "caller",
    "server",
    "tool",
    "name",
    "kind",
    "method",
    "arguments",
    "annotations",
];

/// An expression that is true or false for a request.
#[derive(Clone)]
pub(super) struct Condition {
    source: Arc<str>,
    program: Arc<Program>,
    env: Arc<Env>,
    reads_arguments: bool,
    has_loops: bool,
}

/// Why an expression is invalid: the problem and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    reason: String,
    place: Option<(usize, usize)>,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => {
                write!(f, "line {line}, column {column}: {}", self.reason)
            }
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for ConditionError {}

impl Condition {
    pub(super) fn parse(source: &str) -> Result<Self, ConditionError> {
        let wrong = |reason: String| ConditionError {
            reason,
            place: None,
        };
        if source.len() > MAX_LENGTH {
            return Err(wrong(format!("longer than {MAX_LENGTH} bytes")));
        }
        let env = Arc::new(Env::stdlib());
        let program = env.compile(source).map_err(|errors| {
            let first = errors.errors.into_iter().next();
            first.map_or_else(
                || wrong("the expression cannot be parsed".to_owned()),
                |error| ConditionError {
                    reason: error.msg,
                    place: place(error.pos),
                },
            )
        })?;
        let mut names = UsedNames::default();
        names.walk(program.expression(), 0)?;
        for name in &names.free {
            if !VARIABLES.contains(&name.as_str()) {
                let known = VARIABLES.join(", ");
                let reason = format!("unknown variable `{name}`; the variables are {known}");
                return Err(ConditionError {
                    reason,
                    place: position(source, name),
                });
            }
        }
        let condition = Self {
            source: source.into(),
            program: Arc::new(program),
            env,
            reads_arguments: names.free.contains("arguments"),
            has_loops: names.has_loops,
        };
        condition.try_functions()?;
        Ok(condition)
    }

    /// The source text of the expression.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether the condition applies at this moment. Entries of lists have no arguments.
    pub(super) fn is_for(&self, moment: Moment) -> bool {
        moment == Moment::Call || !self.reads_arguments
    }

    /// Evaluates the condition. The error says why it cannot be evaluated.
    pub(super) fn holds(&self, subject: &Subject<'_>) -> Result<bool, String> {
        let limit = if self.has_loops {
            MAX_LOOPED_ARGUMENTS
        } else {
            MAX_ARGUMENTS
        };
        if self.reads_arguments && subject.arguments_length > limit {
            return Err(format!("the arguments are longer than {limit} bytes"));
        }
        let mut context = Context::with_env(Arc::clone(&self.env));
        let caller = [
            ("id", Cel::from(subject.caller.unwrap_or_default())),
            (
                "scopes",
                Cel::List(Arc::new(
                    subject
                        .scopes
                        .iter()
                        .map(|it| Cel::from(it.as_str()))
                        .collect(),
                )),
            ),
        ];
        context.add_variable_from_value("caller", map(caller));
        let facts = &subject.facts;
        context.add_variable_from_value("server", facts.server.as_str());
        context.add_variable_from_value("tool", facts.own.as_str());
        context.add_variable_from_value("name", subject.name);
        context.add_variable_from_value("kind", subject.kind.as_str());
        context.add_variable_from_value("method", subject.method);
        context.add_variable_from_value("annotations", converted(&annotated(&facts.annotations)));
        if self.reads_arguments {
            let arguments = subject.arguments.as_ref().unwrap_or(&Value::Null);
            let arguments = match converted(arguments) {
                Cel::Null => map([]),
                other => other,
            };
            context.add_variable_from_value("arguments", arguments);
        }
        match self.program.execute(&context) {
            Ok(Cel::Bool(holds)) => Ok(holds),
            Ok(_) => Err("the result is neither true nor false".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Finds functions that do not exist. Missing members are only known once there is a request.
    fn try_functions(&self) -> Result<(), ConditionError> {
        let references = self.program.references();
        for name in references.functions() {
            // Operators are functions too, with names that are reserved for them.
            let is_operator = name.starts_with('_') || name.contains('@') || name.contains('_');
            let is_operator = is_operator || name.starts_with(|it: char| !it.is_alphabetic());
            if !is_operator && !FUNCTIONS.contains(&name) {
                return Err(ConditionError {
                    reason: format!("unknown function `{name}`"),
                    place: position(&self.source, name),
                });
            }
        }
        Ok(())
    }
}

/// The functions of the standard environment.
const FUNCTIONS: [&str; 20] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "string",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "type",
    "dyn",
    "min",
    "max",
    "has",
    "optional",
    "in",
    "timestamp",
    "duration",
];

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Condition").field(&self.source).finish()
    }
}

/// The names that an expression uses without defining them.
#[derive(Default)]
struct UsedNames {
    free: BTreeSet<String>,
    bound: Vec<String>,
    has_loops: bool,
}

impl UsedNames {
    fn walk(&mut self, expression: &IdedExpr, depth: usize) -> Result<(), ConditionError> {
        match &expression.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => {
                if !name.starts_with('@') && !self.bound.contains(name) {
                    self.free.insert(name.clone());
                }
                Ok(())
            }
            Expr::Call(call) => {
                if let Some(target) = &call.target {
                    self.walk(target, depth)?;
                }
                self.all(&call.args, depth)
            }
            Expr::List(list) => self.all(&list.elements, depth),
            Expr::Map(map) => self.entries(&map.entries, depth),
            Expr::Struct(made) => self.entries(&made.entries, depth),
            Expr::Select(select) => self.walk(&select.operand, depth),
            Expr::Comprehension(inner) => {
                if depth > 0 {
                    return Err(ConditionError {
                        reason: "loops (`all`, `exists`, `map`, `filter`) cannot be nested"
                            .to_owned(),
                        place: None,
                    });
                }
                self.has_loops = true;
                self.walk(&inner.iter_range, depth + 1)?;
                self.walk(&inner.accu_init, depth + 1)?;
                let before = self.bound.len();
                self.bound.push(inner.iter_var.clone());
                self.bound.extend(inner.iter_var2.clone());
                self.bound.push(inner.accu_var.clone());
                for part in [&inner.loop_cond, &inner.loop_step, &inner.result] {
                    self.walk(part, depth + 1)?;
                }
                self.bound.truncate(before);
                Ok(())
            }
        }
    }

    fn all(&mut self, parts: &[IdedExpr], depth: usize) -> Result<(), ConditionError> {
        parts.iter().try_for_each(|part| self.walk(part, depth))
    }

    fn entries(&mut self, parts: &[IdedEntryExpr], depth: usize) -> Result<(), ConditionError> {
        parts.iter().try_for_each(|part| match &part.expr {
            EntryExpr::StructField(field) => self.walk(&field.value, depth),
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key, depth)?;
                self.walk(&entry.value, depth)
            }
        })
    }
}

/// The hints of a tool, with the defaults of the specification for missing ones.
fn annotated(said: &Value) -> Value {
    let hint = |name: &str, unsaid: bool| said[name].as_bool().unwrap_or(unsaid);
    serde_json::json!({
        "readOnlyHint": hint("readOnlyHint", false),
        "destructiveHint": hint("destructiveHint", true),
        "idempotentHint": hint("idempotentHint", false),
        "openWorldHint": hint("openWorldHint", true),
        "title": said["title"].as_str().unwrap_or_default(),
    })
}

fn map<const N: usize>(members: [(&str, Cel); N]) -> Cel {
    let members = members.into_iter();
    Cel::Map(Map {
        map: Arc::new(
            members
                .map(|(name, value)| (Key::from(name), value))
                .collect(),
        ),
    })
}

fn converted(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::String(text) => Cel::from(text.as_str()),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), ..) => Cel::Int(number),
            (_, Some(number), _) => Cel::UInt(number),
            (_, _, Some(number)) => Cel::Float(number),
            _ => Cel::Null,
        },
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(converted).collect())),
        Value::Object(members) => Cel::Map(Map {
            map: Arc::new(
                members
                    .iter()
                    .map(|(name, value)| (Key::from(name.as_str()), converted(value)))
                    .collect(),
            ),
        }),
    }
}

fn place((line, column): (isize, isize)) -> Option<(usize, usize)> {
    Some((line.try_into().ok()?, column.try_into().ok()?))
}

/// The position of the first occurrence of a name, as line and column.
fn position(source: &str, name: &str) -> Option<(usize, usize)> {
    let before = &source[..source.find(name)?];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    Some((line, column))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operation::{EntryFacts, EntryKind};

    fn subject(arguments: Value) -> Subject<'static> {
        Subject {
            caller: Some("ada"),
            kind: EntryKind::Tool,
            name: "crm__delete",
            method: "tools/call",
            facts: EntryFacts {
                server: "crm".to_owned(),
                own: "delete".to_owned(),
                annotations: json!({ "readOnlyHint": false, "destructiveHint": true }),
                ..EntryFacts::default()
            },
            arguments_length: arguments.to_string().len(),
            arguments: Some(arguments),
            ..Subject::default()
        }
    }

    #[test]
    fn a_condition_sees_the_caller_the_tool_and_the_arguments() {
        let call = subject(json!({ "table": "users", "rows": 12, "tags": ["a", "b"] }));
        for (source, expected) in [
            (r#"caller.id == "ada""#, true),
            (r#"server == "crm" && tool == "delete""#, true),
            (r#"name.startsWith("git__")"#, false),
            (
                "annotations.destructiveHint && !annotations.readOnlyHint",
                true,
            ),
            ("annotations.openWorldHint", true),
            ("arguments.rows > 10", true),
            (r#"arguments.table in ["users", "orders"]"#, true),
            (r#"arguments.tags.exists(tag, tag == "b")"#, true),
            ("has(arguments.force) && arguments.force == true", false),
            (r#"arguments.table.matches("^us.*")"#, true),
            (r#"kind == "tool" && method == "tools/call""#, true),
        ] {
            let condition = Condition::parse(source).unwrap();
            assert_eq!(condition.holds(&call), Ok(expected), "{source}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_an_error_and_not_an_answer() {
        let condition = Condition::parse("arguments.rows > 10").unwrap();
        assert!(condition.holds(&subject(json!({}))).is_err());
        assert!(
            condition
                .holds(&subject(json!({ "rows": "many" })))
                .is_err()
        );
        let number = Condition::parse("1 + 1").unwrap();
        assert!(number.holds(&subject(json!({}))).is_err());
    }

    #[test]
    fn mistakes_are_found_when_the_file_is_read() {
        for (source, part, place) in [
            ("server == ", "", Some(1)),
            (
                "server == \"a\" &&\n  tol == \"b\"",
                "unknown variable `tol`",
                Some(2),
            ),
            (
                "server.startWith(\"a\")",
                "unknown function `startWith`",
                Some(1),
            ),
            (
                "arguments.a.all(x, arguments.b.all(y, x == y))",
                "nested",
                None,
            ),
        ] {
            let error = Condition::parse(source).unwrap_err();
            assert!(error.to_string().contains(part), "{source}: {error}");
            assert_eq!(
                error.place.map(|(line, _)| line),
                place,
                "{source}: {error}"
            );
        }
        let long = format!("server == \"{}\"", "x".repeat(MAX_LENGTH));
        assert!(Condition::parse(&long).is_err());
    }

    #[test]
    fn what_an_expression_reads_is_bounded() {
        let long = json!({ "text": "x".repeat(MAX_ARGUMENTS) });
        let plain = Condition::parse("size(arguments.text) > 3").unwrap();
        assert!(plain.holds(&subject(long)).is_err());
        let many = json!({ "list": vec![0; MAX_LOOPED_ARGUMENTS] });
        let looped = Condition::parse("arguments.list.all(x, x == 0)").unwrap();
        assert!(looped.holds(&subject(many.clone())).is_err());
        let flat = Condition::parse("size(arguments.list) > 3").unwrap();
        assert_eq!(flat.holds(&subject(many)), Ok(true));
    }

    #[test]
    fn conditions_on_arguments_are_for_calls() {
        let condition = Condition::parse("arguments.a == 1").unwrap();
        assert!(!condition.is_for(Moment::List));
        assert!(condition.is_for(Moment::Call));
        assert!(
            Condition::parse("server == \"a\"")
                .unwrap()
                .is_for(Moment::List)
        );
    }
}

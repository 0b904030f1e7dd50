//! Keywords that apply schemas to the same value: `$ref`, `$dynamicRef`, `allOf`, `anyOf`, `oneOf`,
//! `not`, `if`/`then`/`else` and `dependentSchemas`.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use crate::check::check;
use crate::closest;
use crate::compile::{Compiler, ResourceId, Target};
use crate::describe;
use crate::dialect::Dialect;
use crate::error::SchemaError;
use crate::node::NodeId;
use crate::run::{Flow, Place, Report, Run};
use crate::shown;
use crate::violation::{Keyword, Violation};

#[derive(Debug)]
pub(crate) enum InPlace {
    Reference(NodeId),
    /// The node meant if no entered resource offers the anchor, and the offers of all resources.
    DynamicReference(NodeId, Box<[(ResourceId, NodeId)]>),
    /// The value is itself a schema of this dialect.
    MetaSchema(Dialect),
    AllOf(Box<[NodeId]>),
    AnyOf(Box<[NodeId]>),
    OneOf(Box<[NodeId]>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    /// The schemas that apply when a property is there.
    Dependent(Box<[(Box<str>, NodeId)]>),
}

impl InPlace {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Result<Box<[Self]>, SchemaError> {
        let mut found = Vec::new();
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            found.push(match compiler.target(reference)? {
                Target::Schema(schema) => Self::Reference(compiler.node(schema)),
                Target::Meta(dialect) => Self::MetaSchema(dialect),
            });
        }
        if compiler.is_only_reference(schema) {
            return Ok(found.into());
        }
        if compiler.dialect() == Dialect::Draft202012
            && let Some(reference) = schema.get("$dynamicRef").and_then(Value::as_str)
        {
            found.push(compiler.dynamic_reference(reference)?);
        }
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        let mut nodes = |list: &'s Vec<Value>| -> Box<[NodeId]> {
            list.iter().map(|schema| compiler.node(schema)).collect()
        };
        found.extend(list("allOf").map(&mut nodes).map(Self::AllOf));
        found.extend(list("anyOf").map(&mut nodes).map(Self::AnyOf));
        found.extend(list("oneOf").map(&mut nodes).map(Self::OneOf));
        found.extend(
            schema
                .get("not")
                .map(|schema| Self::Not(compiler.node(schema))),
        );
        if let Some(condition) = schema.get("if") {
            found.push(Self::If {
                condition: compiler.node(condition),
                then: schema.get("then").map(|schema| compiler.node(schema)),
                otherwise: schema.get("else").map(|schema| compiler.node(schema)),
            });
        }
        let dependent: Box<[(Box<str>, NodeId)]> = compiler
            .dependent_schemas(schema)
            .map(|(name, inner)| (name.as_str().into(), compiler.node(inner)))
            .collect();
        if !dependent.is_empty() {
            found.push(Self::Dependent(dependent));
        }
        Ok(found.into())
    }

    /// The nodes this can lead to without going deeper into the value.
    pub(crate) fn targets(&self) -> Vec<NodeId> {
        match self {
            Self::Reference(node) | Self::Not(node) => vec![*node],
            // Which node is meant is known only during a check; there the depth is bounded.
            Self::DynamicReference(..) | Self::MetaSchema(_) => Vec::new(),
            Self::AllOf(nodes) | Self::AnyOf(nodes) | Self::OneOf(nodes) => nodes.to_vec(),
            Self::If {
                condition,
                then,
                otherwise,
            } => [Some(*condition), *then, *otherwise]
                .into_iter()
                .flatten()
                .collect(),
            Self::Dependent(nodes) => nodes.iter().map(|(_, node)| *node).collect(),
        }
    }

    /// Puts every node through `rename`.
    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        let each = |node: &mut NodeId| *node = rename(*node);
        match self {
            Self::Reference(node) | Self::Not(node) => each(node),
            Self::MetaSchema(_) | Self::DynamicReference(..) => {}
            Self::AllOf(nodes) | Self::AnyOf(nodes) | Self::OneOf(nodes) => {
                nodes.iter_mut().for_each(each);
            }
            Self::If {
                condition,
                then,
                otherwise,
            } => {
                [Some(condition), then.as_mut(), otherwise.as_mut()]
                    .into_iter()
                    .flatten()
                    .for_each(each);
            }
            Self::Dependent(nodes) => nodes.iter_mut().for_each(|(_, node)| each(node)),
        }
    }

    /// The node a dynamic reference means at this moment: the outermost resource that offers the
    /// anchor wins.
    pub(crate) fn dynamic_target(
        run: &Run<'_>,
        fallback: NodeId,
        offers: &[(ResourceId, NodeId)],
    ) -> NodeId {
        let offered = |resource| {
            offers
                .iter()
                .find(|(offering, _)| *offering == resource)
                .map(|(_, node)| *node)
        };
        run.outermost(offered).unwrap_or(fallback)
    }

    pub(crate) fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        value: &Value,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        match self {
            Self::Reference(node) => check(run, *node, value, place, report),
            Self::DynamicReference(fallback, offers) => {
                let node = Self::dynamic_target(run, *fallback, offers);
                check(run, node, value, place, report)
            }
            Self::MetaSchema(dialect) => check_meta_schema(*dialect, value, place, report),
            Self::AllOf(nodes) => nodes
                .iter()
                .try_for_each(|node| check(run, *node, value, place, report)),
            Self::AnyOf(nodes) => check_any(run, nodes, value, place, report),
            Self::OneOf(nodes) => check_one(run, nodes, value, place, report),
            Self::Not(node) => check_not(run, *node, value, place, report),
            Self::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if run.holds(*condition, value, place) {
                    then
                } else {
                    otherwise
                };
                match branch {
                    Some(node) => check(run, *node, value, place, report),
                    None => ControlFlow::Continue(()),
                }
            }
            Self::Dependent(nodes) => {
                let Value::Object(members) = value else {
                    return ControlFlow::Continue(());
                };
                let present = nodes
                    .iter()
                    .filter(|(name, _)| members.contains_key(&**name));
                present
                    .map(|(_, node)| *node)
                    .try_for_each(|node| check(run, node, value, place, report))
            }
        }
    }
}

fn check_any<R: Report>(
    run: &mut Run<'_>,
    nodes: &[NodeId],
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    if nodes.iter().any(|node| run.holds(*node, value, place)) {
        return ControlFlow::Continue(());
    }
    closest::report_none(run, Keyword::AnyOf, nodes, value, place, report)
}

fn check_one<R: Report>(
    run: &mut Run<'_>,
    nodes: &[NodeId],
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    let mut matching = (1..)
        .zip(nodes)
        .filter(|(_, node)| run.holds(**node, value, place));
    let Some((first, _)) = matching.next() else {
        return closest::report_none(run, Keyword::OneOf, nodes, value, place, report);
    };
    match matching.next() {
        None => ControlFlow::Continue(()),
        Some((second, _)) => report.note(|| {
            let expected = format!("exactly one of {} alternatives to match", nodes.len());
            let found = format!(
                "{}, which matches the alternatives {first} and {second}",
                shown::found(value)
            );
            Violation::new(place.pointer(), Keyword::OneOf, expected, found)
        }),
    }
}

fn check_not<R: Report>(
    run: &mut Run<'_>,
    node: NodeId,
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    if !run.holds(node, value, place) {
        return ControlFlow::Continue(());
    }
    report.note(|| {
        let expected = format!("anything but {}", describe::node(run, node));
        Violation::new(place.pointer(), Keyword::Not, expected, shown::found(value))
    })
}

fn check_meta_schema<R: Report>(
    dialect: Dialect,
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    if dialect.admits(value) {
        return ControlFlow::Continue(());
    }
    report.note(|| {
        let expected = format!("a JSON schema in the dialect {}", dialect.uri());
        Violation::new(
            place.pointer(),
            Keyword::Reference,
            expected,
            shown::found(value),
        )
    })
}

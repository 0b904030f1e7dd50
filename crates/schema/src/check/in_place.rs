//! Checks a value against the applicators that apply to the same value.

use std::ops::ControlFlow;

use serde_json::Value;

use super::apply::check;
use super::run::{Flow, Place, Report, Run};
use super::{closest, describe};
use crate::dialect::Dialect;
use crate::node::{InPlace, NodeId, ResourceId};
use crate::shown;
use crate::violation::{Keyword, Violation};

impl InPlace {
    /// The node that a dynamic reference refers to at this moment: that of the outermost resource that has the
    /// anchor.
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

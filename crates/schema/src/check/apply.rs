//! Applies a node to a value. The same function decides whether a value is valid and reports the violations, so the
//! two always agree.

use std::ops::ControlFlow;

use serde_json::Value;

use super::run::{Flow, Place, Report, Run};
use crate::equal::same;
use crate::node::{Node, NodeId};
use crate::shown;
use crate::violation::{Keyword, Violation};

pub(crate) fn check<R: Report>(
    run: &mut Run<'_>,
    id: NodeId,
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    if run.node(id).is_only_kind && run.node(id).kinds.admits(value) {
        // Most members of most arguments end here.
        return ControlFlow::Continue(());
    }
    let node = run.enter(id, place)?;
    let flow = apply(run, node, value, place, report);
    run.leave();
    flow
}

fn apply<R: Report>(
    run: &mut Run<'_>,
    node: &Node,
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    if let Some(violation) = refusal(run, node, value) {
        // For a value of the wrong kind, further violations would only confuse.
        return report.note(|| violation.build(node, value, place));
    }
    match value {
        Value::Number(number) => {
            if let Some(rules) = &node.number {
                rules.check(number, place, report)?;
            }
        }
        Value::String(text) => {
            if let Some(rules) = &node.text {
                rules.check(run, text, place, report)?;
            }
        }
        Value::Array(items) => {
            if let Some(rules) = &node.array {
                rules.check(run, items, place, report)?;
            }
        }
        Value::Object(members) => {
            if let Some(rules) = &node.object {
                rules.check(run, members, place, report)?;
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    for applicator in &node.in_place {
        applicator.check(run, value, place, report)?;
    }
    match &node.unevaluated {
        Some(rules) => rules.check(run, node, value, place, report),
        None => ControlFlow::Continue(()),
    }
}

/// Why a node rejects a value as a whole.
enum Refusal {
    Never,
    Kind,
    Constant,
    Choice,
}

fn refusal(run: &mut Run<'_>, node: &Node, value: &Value) -> Option<Refusal> {
    if node.is_never {
        return Some(Refusal::Never);
    }
    if !node.kinds.admits(value) {
        return Some(Refusal::Kind);
    }
    if node
        .constant
        .as_deref()
        .is_some_and(|constant| !same(constant, value))
    {
        return Some(Refusal::Constant);
    }
    let choices = node.choices.as_deref()?;
    let is_refused = run.spend_list(choices.len()).is_break()
        || !choices.iter().any(|choice| same(choice, value));
    is_refused.then_some(Refusal::Choice)
}

impl Refusal {
    fn build(self, node: &Node, value: &Value, place: &Place<'_>) -> Violation {
        let found = shown::found(value);
        let pointer = place.pointer();
        match self {
            Self::Never => Violation::new(
                pointer,
                Keyword::Never,
                "nothing at this place".to_owned(),
                found,
            ),
            Self::Kind => Violation::new(pointer, Keyword::Type, node.kinds.in_words(), found),
            Self::Constant => {
                let constant = node.constant.as_deref().unwrap_or(&Value::Null);
                Violation::new(pointer, Keyword::Const, shown::value(constant), found)
            }
            Self::Choice => {
                let choices = node.choices.as_deref().unwrap_or_default();
                Violation::new(pointer, Keyword::Enum, shown::choices(choices), found)
                    .nearest(crate::nearest::choice(value, choices))
            }
        }
    }
}

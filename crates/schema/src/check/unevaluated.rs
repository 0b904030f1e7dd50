//! Checks the members and items that no other part of a schema has evaluated. To find them, the applicators
//! are run once more, but only for schemas with `unevaluatedProperties` or `unevaluatedItems`.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::apply::check;
use super::run::{Flow, Place, Report, Run};
use crate::node::{InPlace, Node, NodeId, Unevaluated};
use crate::violation::{Keyword, Violation};

/// The members of an object, or items of an array, that have been evaluated. The first 64 need no allocation.
struct Marks {
    length: usize,
    first: u64,
    rest: Vec<u64>,
}

impl Unevaluated {
    pub(crate) fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        node: &Node,
        value: &Value,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        match (value, self.properties, self.items) {
            (Value::Object(members), Some(schema), _) => {
                let mut marks = Marks::new(members.len());
                mark_beside(run, node, value, place, &mut marks)?;
                for (position, (name, member)) in members.iter().enumerate() {
                    if marks.has(position) {
                        continue;
                    }
                    let inner = place.name(name);
                    if run.node(schema).is_never {
                        report.note(|| unknown(node, name, members, &inner))?;
                    } else {
                        check(run, schema, member, &inner, report)?;
                    }
                }
                ControlFlow::Continue(())
            }
            (Value::Array(items), _, Some(schema)) => {
                let mut marks = Marks::new(items.len());
                mark_beside(run, node, value, place, &mut marks)?;
                for (position, item) in items.iter().enumerate() {
                    if marks.has(position) {
                        continue;
                    }
                    let inner = place.position(position);
                    if run.node(schema).is_never {
                        report.note(|| one_too_many(item, &inner))?;
                    } else {
                        check(run, schema, item, &inner, report)?;
                    }
                }
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn covers(&self, value: &Value) -> bool {
        match value {
            Value::Object(_) => self.properties.is_some(),
            _ => self.items.is_some(),
        }
    }
}

/// Marks everything that a node evaluates in a value that satisfies it.
fn mark(
    run: &mut Run<'_>,
    id: NodeId,
    value: &Value,
    place: &Place<'_>,
    marks: &mut Marks,
) -> Flow {
    if marks.is_full() {
        return ControlFlow::Continue(());
    }
    let node = run.enter(id, place)?;
    let flow = if node
        .unevaluated
        .as_ref()
        .is_some_and(|rules| rules.covers(value))
    {
        marks.fill();
        ControlFlow::Continue(())
    } else {
        mark_beside(run, node, value, place, marks)
    };
    run.leave();
    flow
}

/// Marks what the keywords of a node evaluate, except the unevaluated ones.
fn mark_beside(
    run: &mut Run<'_>,
    node: &Node,
    value: &Value,
    place: &Place<'_>,
    marks: &mut Marks,
) -> Flow {
    run.spend_list(marks.length)?;
    match value {
        Value::Object(members) => mark_members(run, node, members, marks),
        Value::Array(items) => mark_items(run, node, items, place, marks),
        _ => {}
    }
    for applicator in &node.in_place {
        mark_in_place(run, applicator, value, place, marks)?;
    }
    ControlFlow::Continue(())
}

fn mark_members(run: &mut Run<'_>, node: &Node, members: &Map<String, Value>, marks: &mut Marks) {
    let Some(rules) = &node.object else { return };
    for (position, name) in members.keys().enumerate() {
        if !marks.has(position) && rules.evaluates(run, name) {
            marks.set(position);
        }
    }
}

fn mark_items(
    run: &mut Run<'_>,
    node: &Node,
    items: &[Value],
    place: &Place<'_>,
    marks: &mut Marks,
) {
    let Some(rules) = &node.array else { return };
    if rules.items.is_some() {
        marks.fill();
    }
    (0..rules.prefix.len().min(items.len())).for_each(|position| marks.set(position));
    let Some(contains) = &rules.contains else {
        return;
    };
    for (position, item) in items.iter().enumerate() {
        if !marks.has(position) && run.holds(contains.node, item, &place.position(position)) {
            marks.set(position);
        }
    }
}

fn mark_in_place(
    run: &mut Run<'_>,
    applicator: &InPlace,
    value: &Value,
    place: &Place<'_>,
    marks: &mut Marks,
) -> Flow {
    match applicator {
        InPlace::Reference(node) => mark(run, *node, value, place, marks),
        InPlace::DynamicReference(fallback, offers) => {
            let node = InPlace::dynamic_target(run, *fallback, offers);
            mark(run, node, value, place, marks)
        }
        InPlace::AllOf(nodes) => nodes
            .iter()
            .try_for_each(|node| mark(run, *node, value, place, marks)),
        InPlace::AnyOf(nodes) | InPlace::OneOf(nodes) => nodes.iter().try_for_each(|node| {
            // A branch that does not match evaluates nothing.
            if run.holds(*node, value, place) {
                mark(run, *node, value, place, marks)
            } else {
                ControlFlow::Continue(())
            }
        }),
        InPlace::If {
            condition,
            then,
            otherwise,
        } => {
            let branch = if run.holds(*condition, value, place) {
                mark(run, *condition, value, place, marks)?;
                then
            } else {
                otherwise
            };
            branch
                .iter()
                .try_for_each(|node| mark(run, *node, value, place, marks))
        }
        InPlace::Dependent(nodes) => nodes
            .iter()
            .filter(|(name, _)| value.get(&**name).is_some())
            .try_for_each(|(_, node)| mark(run, *node, value, place, marks)),
        InPlace::Not(_) | InPlace::MetaSchema(_) => ControlFlow::Continue(()),
    }
}

fn unknown(node: &Node, name: &str, members: &Map<String, Value>, place: &Place<'_>) -> Violation {
    let keyword = Keyword::UnevaluatedProperties;
    match &node.object {
        Some(rules) => rules.unknown(keyword, name, members, place),
        None => Violation::new(
            place.pointer(),
            keyword,
            "no other properties".to_owned(),
            format!("the unknown property `{}`", crate::shown::shortened(name)),
        ),
    }
}

fn one_too_many(item: &Value, place: &Place<'_>) -> Violation {
    let found = crate::shown::found(item);
    Violation::new(
        place.pointer(),
        Keyword::UnevaluatedItems,
        "no other items".to_owned(),
        found,
    )
}

impl Marks {
    fn new(length: usize) -> Self {
        Self {
            length,
            first: 0,
            rest: vec![0; length.saturating_sub(1) / 64],
        }
    }

    fn set(&mut self, position: usize) {
        let bit = 1 << (position % 64);
        match position / 64 {
            0 => self.first |= bit,
            word => self.rest[word - 1] |= bit,
        }
    }

    fn has(&self, position: usize) -> bool {
        let word = match position / 64 {
            0 => self.first,
            word => self.rest[word - 1],
        };
        word & (1 << (position % 64)) != 0
    }

    fn fill(&mut self) {
        (0..self.length).for_each(|position| self.set(position));
    }

    fn is_full(&self) -> bool {
        (0..self.length).all(|position| self.has(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_reach_beyond_the_first_word() {
        for length in [0, 1, 64, 65, 128, 129, 200] {
            let mut marks = Marks::new(length);
            assert_eq!(marks.is_full(), length == 0);
            (0..length)
                .step_by(2)
                .for_each(|position| marks.set(position));
            assert!((0..length).all(|position| marks.has(position) == (position % 2 == 0)));
            marks.fill();
            assert!(marks.is_full());
        }
    }
}

//! Walks through a value with its schema, and corrects the value.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::{Coercion, scalar};
use crate::check::{Place, Run};
use crate::equal::same;
use crate::kind::{self, Kinds};
use crate::node::{ArrayRules, InPlace, Node, NodeId, ObjectRules};

pub(super) struct Corrector<'s> {
    run: Run<'s>,
    made: Vec<Coercion>,
}

/// What may be done with the current part of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It does not satisfy its schema: correct it.
    Mend,
    /// It does: only write its integers as integers.
    Settle,
}

impl<'s> Corrector<'s> {
    pub(super) fn new(run: Run<'s>) -> Self {
        Self {
            run,
            made: Vec::new(),
        }
    }

    pub(super) fn into_made(self) -> Vec<Coercion> {
        self.made
    }

    pub(super) fn mend(&mut self, id: NodeId, value: &mut Value, place: &Place<'_>) {
        self.visit(id, value, place, Mode::Mend);
    }

    fn visit(&mut self, id: NodeId, value: &mut Value, place: &Place<'_>, mode: Mode) {
        let mode = match mode {
            Mode::Mend if self.run.holds(id, value, place) => Mode::Settle,
            mode => mode,
        };
        let ControlFlow::Continue(node) = self.run.enter(id, place) else {
            return;
        };
        self.convert(node, value, place, mode);
        match value {
            Value::Object(members) => {
                if let Some(rules) = &node.object {
                    self.members(rules, members, place, mode);
                }
            }
            Value::Array(items) => {
                if let Some(rules) = &node.array {
                    self.items(rules, items, place, mode);
                }
            }
            _ => {}
        }
        for applicator in &node.in_place {
            self.in_place(applicator, value, place, mode);
        }
        self.run.leave();
    }

    /// Converts the value to a kind that the node accepts, if it is of another kind.
    fn convert(&mut self, node: &Node, value: &mut Value, place: &Place<'_>, mode: Mode) {
        let wanted = wanted(node);
        if wanted.has(Kinds::INTEGER)
            && !wanted.has(Kinds::NUMBER)
            && let Some(integer) = scalar::integer(value)
        {
            return self.replace(value, integer, place);
        }
        if mode == Mode::Settle || wanted == Kinds::ALL || fits(node, wanted, value) {
            return;
        }
        let reading = scalar::readings(value, wanted).find(|other| fits(node, wanted, other));
        if let Some(reading) = reading.or_else(|| self.wrapped(node, wanted, value, place)) {
            self.replace(value, reading, place);
        }
    }

    /// The value as the only item of an array, if the node accepts an array of such items.
    fn wrapped(
        &mut self,
        node: &Node,
        wanted: Kinds,
        value: &Value,
        place: &Place<'_>,
    ) -> Option<Value> {
        let is_scalar = matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
        if !wanted.has(Kinds::ARRAY) || !is_scalar {
            return None;
        }
        let mut item = value.clone();
        if let Some(schema) = node.array.as_ref().and_then(|rules| rules.item(0)) {
            let inner = place.position(0);
            // Changes to the item are reported as changes to the array, because the array replaces the item.
            let before = self.made.len();
            self.mend(schema, &mut item, &inner);
            self.made.truncate(before);
            if !self.run.holds(schema, &item, &inner) {
                return None;
            }
        }
        Some(Value::Array(vec![item]))
    }

    fn members(
        &mut self,
        rules: &ObjectRules,
        members: &mut Map<String, Value>,
        place: &Place<'_>,
        mode: Mode,
    ) {
        if mode == Mode::Mend {
            self.drop_needless_nulls(rules, members, place);
        }
        for (name, member) in members {
            let inner = place.name(name);
            let property = rules.property(name);
            let mut is_known = property.is_some();
            if let Some(schema) = property {
                self.visit(schema, member, &inner, mode);
            }
            for (pattern, schema) in rules.patterns() {
                if self.run.matches(pattern, name) {
                    is_known = true;
                    self.visit(*schema, member, &inner, mode);
                }
            }
            if let (false, Some(schema)) = (is_known, rules.additional) {
                self.visit(schema, member, &inner, mode);
            }
        }
    }

    /// Removes every `null` that means "not given".
    fn drop_needless_nulls(
        &mut self,
        rules: &ObjectRules,
        members: &mut Map<String, Value>,
        place: &Place<'_>,
    ) {
        members.retain(|name, member| {
            let schema = rules.property(name).filter(|_| member.is_null());
            let Some(schema) = schema.filter(|_| !rules.is_required(name)) else {
                return true;
            };
            let inner = place.name(name);
            let is_allowed = self.run.holds(schema, member, &inner);
            if !is_allowed {
                self.made.push(Coercion {
                    pointer: inner.pointer(),
                    from: "null",
                    to: "absent",
                });
            }
            is_allowed
        });
    }

    fn items(&mut self, rules: &ArrayRules, items: &mut [Value], place: &Place<'_>, mode: Mode) {
        for (position, item) in items.iter_mut().enumerate() {
            if let Some(schema) = rules.item(position) {
                self.visit(schema, item, &place.position(position), mode);
            }
        }
    }

    fn in_place(&mut self, applicator: &InPlace, value: &mut Value, place: &Place<'_>, mode: Mode) {
        match applicator {
            InPlace::Reference(node) => self.visit(*node, value, place, mode),
            InPlace::DynamicReference(fallback, offers) => {
                let node = InPlace::dynamic_target(&self.run, *fallback, offers);
                self.visit(node, value, place, mode);
            }
            InPlace::AllOf(nodes) => {
                nodes
                    .iter()
                    .for_each(|node| self.visit(*node, value, place, mode));
            }
            InPlace::AnyOf(nodes) | InPlace::OneOf(nodes) => {
                self.branches(nodes, value, place);
            }
            InPlace::If {
                condition,
                then,
                otherwise,
            } => {
                let is_met = self.run.holds(*condition, value, place);
                let branch = if is_met { then } else { otherwise };
                if let Some(node) = branch {
                    self.visit(*node, value, place, mode);
                }
            }
            InPlace::Dependent(nodes) => {
                for (name, node) in nodes {
                    if value.get(&**name).is_some() {
                        self.visit(*node, value, place, mode);
                    }
                }
            }
            InPlace::Not(_) | InPlace::MetaSchema(_) => {}
        }
    }

    /// Follows the branch that accepts the value, or the first one that accepts it once corrected.
    fn branches(&mut self, nodes: &[NodeId], value: &mut Value, place: &Place<'_>) {
        if let Some(node) = nodes
            .iter()
            .find(|node| self.run.holds(**node, value, place))
        {
            return self.visit(*node, value, place, Mode::Settle);
        }
        for node in nodes {
            let before = self.made.len();
            let mut trial = value.clone();
            self.mend(*node, &mut trial, place);
            if self.run.holds(*node, &trial, place) {
                *value = trial;
                return;
            }
            self.made.truncate(before);
        }
        // No branch can accept it. If only one branch is for values of this kind, its other corrections are made
        // anyway.
        let mut alike = nodes.iter().filter(|node| self.is_alike(**node, value));
        if let (Some(only), None) = (alike.next(), alike.next()) {
            self.mend(*only, value, place);
        }
    }

    fn is_alike(&self, id: NodeId, value: &Value) -> bool {
        let node = self.run.node(id);
        let target = node.alias().map_or(node, |target| self.run.node(target));
        wanted(target).admits(value)
    }

    fn replace(&mut self, value: &mut Value, reading: Value, place: &Place<'_>) {
        self.made.push(Coercion {
            pointer: place.pointer(),
            from: kind_before(value),
            to: kind::name(&reading),
        });
        *value = reading;
    }
}

fn kind_before(value: &Value) -> &'static str {
    // For the schema `5.0` is an integer; the log must show that it is changed.
    if scalar::integer(value).is_some() {
        "a float"
    } else {
        kind::name(value)
    }
}

/// The kinds that a node accepts, by `type`, `const` and `enum`.
fn wanted(node: &Node) -> Kinds {
    let listed = |values: &[Value]| {
        values
            .iter()
            .map(Kinds::of_value)
            .fold(Kinds::NONE, Kinds::or)
    };
    let by_choices = node.choices.as_deref().map_or(Kinds::ALL, listed);
    let by_constant = node.constant.as_deref().map_or(Kinds::ALL, Kinds::of_value);
    match (by_choices, by_constant) {
        (Kinds::ALL, Kinds::ALL) => node.kinds,
        _ => node.kinds.and(by_choices).and(by_constant),
    }
}

fn fits(node: &Node, wanted: Kinds, value: &Value) -> bool {
    wanted.admits(value)
        && node
            .constant
            .as_deref()
            .is_none_or(|constant| same(constant, value))
        && node
            .choices
            .as_deref()
            .is_none_or(|choices| choices.iter().any(|choice| same(choice, value)))
}

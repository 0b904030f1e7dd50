//! Deserializes values that each break a schema in one place, and sees whether the type accepts any of them.

use std::collections::HashSet;

use serde_json::{Number, Value, json};

use crate::example::Builder;
use crate::node::{InPlace, Node, NodeId};
use crate::number::Num;
use crate::schema::Schema;
use crate::violation::Keyword;

/// A name that no schema is likely to declare, and a string that no enum is likely to list.
const STRANGE: &str = "\u{1}turnbuckle-probe";

pub(super) struct Prober<'p> {
    schema: &'p Schema,
    accepts: &'p dyn Fn(&Value) -> bool,
    seen: HashSet<NodeId>,
}

/// Puts a value into the place that is being tested, inside a document that is otherwise valid.
type Wrap<'w> = &'w dyn Fn(Value) -> Value;

impl<'p> Prober<'p> {
    pub(super) fn new(schema: &'p Schema, accepts: &'p dyn Fn(&Value) -> bool) -> Self {
        Self {
            schema,
            accepts,
            seen: HashSet::new(),
        }
    }

    pub(super) fn proves(mut self) -> bool {
        self.visit(NodeId::ROOT, &|value| value)
    }

    /// Whether the type rejects every value that breaks this node or one below it.
    fn visit(&mut self, id: NodeId, wrap: Wrap<'_>) -> bool {
        if !self.seen.insert(id) {
            // A recursive type; its rules are tested where it first occurs.
            return true;
        }
        let mut run = self.schema.run();
        let node = run.node(id);
        if !is_probed(node) {
            return false;
        }
        let Some(valid) = Builder::new(&mut run, 0).build_for(id) else {
            return false;
        };
        // If even the valid value is rejected, other rejections prove nothing.
        (self.accepts)(&wrap(valid.clone()))
            && broken(node, &valid)
                .into_iter()
                .all(|broken| self.is_refused(&wrap(broken)))
            && self.visit_members(node, &valid, wrap)
            && self.visit_items(node, wrap)
            && node
                .in_place
                .iter()
                .flat_map(InPlace::targets)
                .all(|branch| self.visit(branch, wrap))
    }

    fn is_refused(&self, document: &Value) -> bool {
        !(self.accepts)(document) || self.schema.is_valid(document)
    }

    fn visit_members(&mut self, node: &Node, valid: &Value, wrap: Wrap<'_>) -> bool {
        let Some(rules) = &node.object else {
            return true;
        };
        let with = |name: &str, member: Value| {
            let mut object = valid.clone();
            object[name] = member;
            wrap(object)
        };
        let properties = rules
            .declared()
            .filter_map(|name| Some((name, rules.property(name)?)));
        let additional = rules.additional.map(|schema| (STRANGE, schema));
        let is_open = |id: NodeId| !self.schema.run().node(id).is_never;
        let additional = additional.filter(|(_, schema)| is_open(*schema));
        properties
            .chain(additional)
            .collect::<Vec<_>>()
            .into_iter()
            .all(|(name, schema)| self.visit(schema, &|member| with(name, member)))
    }

    fn visit_items(&mut self, node: &Node, wrap: Wrap<'_>) -> bool {
        let Some(rules) = &node.array else {
            return true;
        };
        match rules.items {
            Some(items) => {
                let length = usize::try_from(rules.least)
                    .unwrap_or(usize::MAX)
                    .clamp(1, 64);
                self.visit(items, &|item| wrap(Value::Array(vec![item; length])))
            }
            None => true,
        }
    }
}

/// Whether every rule of a node can be tested, or is broken by a value of another kind.
fn is_probed(node: &Node) -> bool {
    let is_text_probed = node
        .text
        .as_ref()
        .is_none_or(|rules| rules.pattern.is_none());
    let is_number_probed = node
        .number
        .as_ref()
        .is_none_or(|rules| rules.multiple_of().is_none());
    let is_array_probed = node
        .array
        .as_ref()
        .is_none_or(|rules| rules.prefix.is_empty() && rules.contains.is_none());
    let is_object_probed = node.object.as_ref().is_none_or(|rules| rules.is_simple());
    let is_union = |applicator: &InPlace| {
        matches!(
            applicator,
            InPlace::Reference(_) | InPlace::AllOf(_) | InPlace::AnyOf(_) | InPlace::OneOf(_)
        )
    };
    is_text_probed
        && is_number_probed
        && is_array_probed
        && is_object_probed
        && node.unevaluated.is_none()
        && !node.is_never
        && node.in_place.iter().all(is_union)
}

/// Values that probably break one rule of the node each.
fn broken(node: &Node, valid: &Value) -> Vec<Value> {
    let mut values = vec![
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(1_000_000_007),
        json!(i64::MIN),
        json!(""),
        json!(STRANGE),
        json!({ STRANGE: true }),
    ];
    if !valid.is_object() {
        // serde would read an array as the fields of a struct, which is accepted.
        values.extend([json!([]), json!([STRANGE])]);
    }
    if let Some(rules) = &node.number {
        values.extend(
            rules
                .bounds
                .iter()
                .flat_map(|bound| beyond(bound.keyword, &bound.written).map(Value::Number)),
        );
    }
    if let Some(rules) = &node.text {
        let lengths = [
            rules.least.checked_sub(1),
            rules.most.and_then(|most| most.checked_add(1)),
        ];
        let lengths = lengths
            .into_iter()
            .flatten()
            .filter_map(|length| usize::try_from(length).ok());
        values.extend(lengths.map(|length| Value::String("x".repeat(length.min(10_000)))));
    }
    match valid {
        Value::Object(members) => {
            for name in members.keys() {
                let mut without = members.clone();
                without.shift_remove(name);
                values.push(Value::Object(without));
            }
            let mut with = members.clone();
            with.insert(STRANGE.to_owned(), json!(STRANGE));
            values.push(Value::Object(with));
        }
        Value::Array(items) => {
            let longer = items.iter().chain(items.last()).cloned().collect();
            let shorter = items.iter().skip(1).cloned().collect();
            values.extend([Value::Array(longer), Value::Array(shorter)]);
        }
        _ => {}
    }
    values
}

/// The first integers beyond a bound, and the bound itself if it is exclusive.
fn beyond(keyword: Keyword, bound: &Number) -> impl Iterator<Item = Number> {
    let step = match keyword {
        Keyword::Minimum | Keyword::ExclusiveMinimum => -1,
        _ => 1,
    };
    let whole = match Num::of(bound).canonical() {
        Num::Int(integer) => i64::try_from(integer + step).ok().map(Number::from),
        Num::Float(float) => Number::from_f64(float + if step < 0 { -1.0 } else { 1.0 }),
    };
    whole.into_iter().chain([bound.clone()])
}

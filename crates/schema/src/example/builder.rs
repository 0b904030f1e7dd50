//! Builds one example for a schema. If `anyOf` or `oneOf` leaves a choice, the number of the attempt
//! decides, so that successive attempts try every combination.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::scalar;
use crate::check::{Place, Run};
use crate::kind::Kinds;
use crate::limits::{MAX_EXAMPLE_DEPTH, MAX_EXAMPLE_VALUES};
use crate::node::{InPlace, Node, NodeId};

pub(crate) struct Builder<'r, 's> {
    run: &'r mut Run<'s>,
    /// The part of the attempt's number that is left; each choice uses up a part of it.
    choice: usize,
    values: usize,
    /// The schemas whose values are being built, outermost first.
    open: Vec<NodeId>,
}

/// All nodes that apply to one value.
type Nodes<'s> = Vec<&'s Node>;

impl<'r, 's> Builder<'r, 's> {
    pub(crate) fn new(run: &'r mut Run<'s>, attempt: usize) -> Self {
        Self {
            run,
            choice: attempt,
            values: 0,
            open: Vec::new(),
        }
    }

    /// Whether a higher attempt number would only repeat the choices of this one.
    pub(super) fn was_last(&self) -> bool {
        self.choice > 0
    }

    /// Builds a value that probably satisfies a node.
    pub(crate) fn build_for(&mut self, id: NodeId) -> Option<Value> {
        self.value(&[id], 0)
    }

    /// Builds a value that all the schemas should accept; `nth` makes values differ that must be unique.
    fn value(&mut self, schemas: &[NodeId], nth: usize) -> Option<Value> {
        self.values += 1;
        if self.open.len() >= MAX_EXAMPLE_DEPTH || self.values > MAX_EXAMPLE_VALUES {
            return None;
        }
        let mut nodes = Vec::new();
        for schema in schemas {
            self.gather(*schema, &mut nodes)?;
        }
        if let Some(offered) = self.offered(schemas, &nodes, nth) {
            return Some(offered);
        }
        let kinds = nodes
            .iter()
            .fold(Kinds::ALL, |kinds, node| match node.kinds {
                Kinds::ALL => kinds,
                narrower => kinds.and(narrower),
            });
        let depth = self.open.len();
        self.open.extend(schemas);
        let built = self.of_kind(preferred(kinds, &nodes)?, &nodes, nth);
        self.open.truncate(depth);
        built
    }

    fn of_kind(&mut self, kind: Kinds, nodes: &Nodes<'s>, nth: usize) -> Option<Value> {
        match kind {
            Kinds::OBJECT => self.object(nodes),
            Kinds::ARRAY => self.array(nodes),
            Kinds::STRING => scalar::text(self.run, nodes, nth),
            Kinds::BOOLEAN => Some(Value::Bool(nth.is_multiple_of(2))),
            Kinds::NULL => Some(Value::Null),
            number => scalar::number(number, nodes, nth),
        }
    }

    /// Collects the nodes that apply to the same value as `id`, and chooses between branches.
    fn gather(&mut self, id: NodeId, nodes: &mut Nodes<'s>) -> Option<()> {
        let ControlFlow::Continue(node) = self.run.enter(id, &Place::ROOT) else {
            return None;
        };
        nodes.push(node);
        let gathered = node
            .in_place
            .iter()
            .try_for_each(|next| self.gather_in_place(next, nodes));
        self.run.leave();
        gathered
    }

    fn gather_in_place(&mut self, applicator: &InPlace, nodes: &mut Nodes<'s>) -> Option<()> {
        match applicator {
            InPlace::Reference(node) => self.gather(*node, nodes),
            InPlace::DynamicReference(fallback, offers) => {
                let node = InPlace::dynamic_target(self.run, *fallback, offers);
                self.gather(node, nodes)
            }
            InPlace::AllOf(all) => all.iter().try_for_each(|node| self.gather(*node, nodes)),
            InPlace::AnyOf(branches) | InPlace::OneOf(branches) => {
                let branch = branches[self.choose(branches.len())];
                self.gather(branch, nodes)
            }
            InPlace::If {
                condition,
                then,
                otherwise,
            } => {
                if self.choose(2) == 1 {
                    return otherwise.map_or(Some(()), |node| self.gather(node, nodes));
                }
                self.gather(*condition, nodes)?;
                then.map_or(Some(()), |node| self.gather(node, nodes))
            }
            // Whether the value satisfies these shows when it is checked.
            InPlace::Dependent(_) | InPlace::Not(_) | InPlace::MetaSchema(_) => Some(()),
        }
    }

    fn choose(&mut self, from: usize) -> usize {
        let chosen = self.choice % from;
        self.choice /= from;
        chosen
    }

    /// A value that the schema itself lists.
    fn offered(&mut self, schemas: &[NodeId], nodes: &Nodes<'s>, nth: usize) -> Option<Value> {
        let constants = nodes.iter().filter_map(|node| node.constant.as_deref());
        let choices = nodes
            .iter()
            .filter_map(|node| node.choices.as_deref())
            .flatten();
        let samples = nodes.iter().flat_map(|node| &node.samples);
        let mut fitting = constants.chain(samples).chain(choices).filter(|value| {
            schemas
                .iter()
                .all(|schema| self.run.holds(*schema, value, &Place::ROOT))
        });
        fitting.nth(nth).cloned()
    }

    fn object(&mut self, nodes: &Nodes<'s>) -> Option<Value> {
        let rules: Vec<_> = nodes
            .iter()
            .filter_map(|node| node.object.as_deref())
            .collect();
        let mut names: Vec<&str> = Vec::new();
        // Declared names in their order first, then names that are only required.
        let declared = || rules.iter().flat_map(|rules| rules.declared());
        let required = rules.iter().flat_map(|rules| rules.required());
        let is_required = |name: &&str| rules.iter().any(|rules| rules.is_required(name));
        for name in declared().filter(is_required).chain(required) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let least = rules.iter().map(|rules| rules.least).max().unwrap_or(0);
        let least = usize::try_from(least)
            .ok()
            .filter(|least| *least <= MAX_EXAMPLE_VALUES)?;
        for name in declared() {
            if names.len() < least && !names.contains(&name) {
                names.push(name);
            }
        }
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        names.extend((names.len()..least).map(|number| format!("name{}", number + 1)));
        let mut members = Map::new();
        for name in names {
            let value = self.member(&name, &rules)?;
            members.insert(name, value);
        }
        Some(Value::Object(members))
    }

    fn member(&mut self, name: &str, rules: &[&'s crate::node::ObjectRules]) -> Option<Value> {
        let mut schemas = Vec::new();
        for rules in rules {
            let known = rules.schemas(self.run, name);
            schemas.extend(rules.additional.filter(|_| known.is_empty()));
            schemas.extend(known);
        }
        self.value(&schemas, 0)
    }

    fn array(&mut self, nodes: &Nodes<'s>) -> Option<Value> {
        let rules: Vec<_> = nodes
            .iter()
            .filter_map(|node| node.array.as_deref())
            .collect();
        let contained = rules.iter().filter_map(|rules| rules.contains.as_ref());
        let contained: Vec<_> = contained.map(|rule| (rule.node, rule.least)).collect();
        let least = rules.iter().map(|rules| rules.least);
        let least = least
            .chain(contained.iter().map(|(_, least)| *least))
            .max()
            .unwrap_or(0);
        let most = rules
            .iter()
            .filter_map(|rules| rules.most)
            .min()
            .unwrap_or(u64::MAX);
        // One item shows what items look like, unless it would contain the same array again.
        let shown = rules.iter().filter_map(|rules| rules.item(0));
        let is_worth_one =
            shown.clone().count() > 0 && shown.into_iter().all(|id| !self.open.contains(&id));
        let length = least.max(u64::from(is_worth_one)).min(most);
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= MAX_EXAMPLE_VALUES)?;
        let must_differ = rules.iter().any(|rules| rules.is_unique);
        let mut items = Vec::new();
        for position in 0..length {
            let mut schemas: Vec<NodeId> = rules
                .iter()
                .filter_map(|rules| rules.item(position))
                .collect();
            let needed = contained
                .iter()
                .filter(|(_, least)| (position as u64) < *least);
            schemas.extend(needed.map(|(node, _)| *node));
            items.push(self.value(&schemas, if must_differ { position } else { 0 })?);
        }
        Some(Value::Array(items))
    }
}

/// The kind to build. A kind that the schema has rules for comes before any other.
fn preferred(kinds: Kinds, nodes: &Nodes<'_>) -> Option<Kinds> {
    let has = |is_ruled: fn(&Node) -> bool| nodes.iter().any(|node| is_ruled(node));
    let ruled = [
        (Kinds::OBJECT, has(|node| node.object.is_some())),
        (Kinds::ARRAY, has(|node| node.array.is_some())),
        (Kinds::STRING, has(|node| node.text.is_some())),
        (Kinds::NUMBER, has(|node| node.number.is_some())),
        (Kinds::INTEGER, has(|node| node.number.is_some())),
    ];
    let order = [
        Kinds::STRING,
        Kinds::NUMBER,
        Kinds::INTEGER,
        Kinds::BOOLEAN,
        Kinds::OBJECT,
        Kinds::ARRAY,
        Kinds::NULL,
    ];
    let ruled = ruled
        .into_iter()
        .filter(|(_, is_ruled)| *is_ruled)
        .map(|(kind, _)| kind);
    ruled.chain(order).find(|kind| kinds.has(*kind))
}

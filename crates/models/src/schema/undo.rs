//! The changes of a schema that have to be undone in the arguments of a call.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Converts arguments that a model wrote for a rewritten schema into arguments for the tool, and
/// back when they are shown to the model again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Undo {
    /// Whether the schema was replaced by a string that contains JSON.
    pub(crate) is_json_text: bool,
    /// The tool's names of properties, by the model's names.
    pub(crate) names: BTreeMap<String, String>,
    /// The changes within properties, by the model's names.
    pub(crate) properties: BTreeMap<String, Undo>,
    /// The changes within the items of an array.
    pub(crate) items: Option<Box<Undo>>,
}

impl Undo {
    /// Returns `self`, or `None` if it changes nothing.
    pub(crate) fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Adds the changes of another schema for the same value.
    pub(crate) fn add(&mut self, other: Self) {
        self.is_json_text |= other.is_json_text;
        self.names.extend(other.names);
        for (name, undo) in other.properties {
            self.properties.entry(name).or_default().add(undo);
        }
        if let Some(items) = other.items {
            self.items.get_or_insert_default().add(*items);
        }
    }

    /// Converts what the model wrote into what the tool expects.
    pub(crate) fn back(&self, value: &mut Value) {
        if self.is_json_text
            && let Value::String(text) = value
            && let Ok(parsed) = serde_json::from_str(text)
        {
            *value = parsed;
            return;
        }
        match value {
            Value::Object(members) => {
                let before = std::mem::take(members);
                *members = before
                    .into_iter()
                    .map(|member| self.member(member))
                    .collect();
            }
            Value::Array(items) => {
                if let Some(undo) = &self.items {
                    for item in items {
                        undo.back(item);
                    }
                }
            }
            _ => {}
        }
    }

    fn member(&self, (name, mut value): (String, Value)) -> (String, Value) {
        if let Some(undo) = self.properties.get(&name) {
            undo.back(&mut value);
        }
        (self.names.get(&name).cloned().unwrap_or(name), value)
    }

    /// Converts arguments of the tool into the form in which the model writes them.
    pub(crate) fn forth(&self, value: &mut Value) {
        if self.is_json_text {
            if !value.is_string() {
                *value = Value::String(value.to_string());
            }
            return;
        }
        match value {
            Value::Object(members) => {
                let mut after = Map::new();
                for (name, mut value) in std::mem::take(members) {
                    let known = self.names.iter().find(|(_, original)| **original == name);
                    let name = known.map_or(name, |(known, _)| known.clone());
                    if let Some(undo) = self.properties.get(&name) {
                        undo.forth(&mut value);
                    }
                    after.insert(name, value);
                }
                *members = after;
            }
            Value::Array(items) => {
                if let Some(undo) = &self.items {
                    for item in items {
                        undo.forth(item);
                    }
                }
            }
            _ => {}
        }
    }
}

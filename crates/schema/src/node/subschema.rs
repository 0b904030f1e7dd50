//! One subschema after compilation.

use serde_json::Value;

use super::{
    ArrayRules, InPlace, NodeId, NumberRules, ObjectRules, ResourceId, TextRules, Unevaluated,
};
use crate::kind::Kinds;

/// One subschema. Absent parts assert nothing, and the rules for one kind of value are ignored for values of other
/// kinds.
#[derive(Debug)]
pub(crate) struct Node {
    /// True only for the schema `false`.
    pub(crate) is_never: bool,
    pub(crate) kinds: Kinds,
    /// True if the node only checks the kind of a value.
    pub(crate) is_only_kind: bool,
    pub(crate) constant: Option<Box<Value>>,
    pub(crate) choices: Option<Box<[Value]>>,
    pub(crate) number: Option<Box<NumberRules>>,
    pub(crate) text: Option<Box<TextRules>>,
    pub(crate) array: Option<Box<ArrayRules>>,
    pub(crate) object: Option<Box<ObjectRules>>,
    /// Applicators that apply to the same value, such as `allOf` and `$ref`.
    pub(crate) in_place: Box<[InPlace]>,
    pub(crate) unevaluated: Option<Box<Unevaluated>>,
    /// The resource this schema belongs to, for `$dynamicRef`.
    pub(crate) resource: ResourceId,
    /// Values that the schema itself lists: `examples` before `default`.
    pub(crate) samples: Box<[Value]>,
}

impl Node {
    /// A schema that accepts everything.
    pub(crate) fn anything(resource: ResourceId) -> Self {
        Self {
            is_never: false,
            kinds: Kinds::ALL,
            is_only_kind: false,
            constant: None,
            choices: None,
            number: None,
            text: None,
            array: None,
            object: None,
            in_place: Box::default(),
            unevaluated: None,
            resource,
            samples: Box::default(),
        }
    }

    /// A schema that accepts nothing.
    pub(crate) fn nothing(resource: ResourceId) -> Self {
        Self {
            is_never: true,
            ..Self::anything(resource)
        }
    }

    /// The node that this one refers to, if it does nothing else.
    pub(crate) fn alias(&self) -> Option<NodeId> {
        match &*self.in_place {
            [InPlace::Reference(target)] if self.is_bare() => Some(*target),
            _ => None,
        }
    }

    /// Replaces every node that this one refers to by the result of `rename`.
    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        if let Some(rules) = &mut self.array {
            rules.rename(&rename);
        }
        if let Some(rules) = &mut self.object {
            rules.rename(&rename);
        }
        if let Some(rules) = &mut self.unevaluated {
            rules.rename(&rename);
        }
        self.in_place
            .iter_mut()
            .for_each(|applicator| applicator.rename(&rename));
    }

    /// Determines whether the node only checks the kind of a value.
    pub(crate) fn settle(&mut self) {
        self.is_only_kind = self.has_no_rules() && self.in_place.is_empty();
    }

    fn is_bare(&self) -> bool {
        self.kinds == Kinds::ALL && self.samples.is_empty() && self.has_no_rules()
    }

    fn has_no_rules(&self) -> bool {
        !self.is_never
            && self.constant.is_none()
            && self.choices.is_none()
            && self.number.is_none()
            && self.text.is_none()
            && self.array.is_none()
            && self.object.is_none()
            && self.unevaluated.is_none()
    }
}

//! One subschema after compilation.

use serde_json::Value;

use super::{
    ArrayRules, InPlace, NodeId, NumberRules, ObjectRules, ResourceId, TextRules, Unevaluated,
};
use crate::kind::Kinds;

/// One subschema. What is absent asserts nothing, and rules of one kind are not looked at for
/// values of another.
#[derive(Debug)]
pub(crate) struct Node {
    /// Set for the schema `false`, and only there.
    pub(crate) is_never: bool,
    pub(crate) kinds: Kinds,
    /// Set where nothing but the kind of a value is asked for.
    pub(crate) is_only_kind: bool,
    pub(crate) constant: Option<Box<Value>>,
    pub(crate) choices: Option<Box<[Value]>>,
    pub(crate) number: Option<Box<NumberRules>>,
    pub(crate) text: Option<Box<TextRules>>,
    pub(crate) array: Option<Box<ArrayRules>>,
    pub(crate) object: Option<Box<ObjectRules>>,
    /// Applicators that look at the same value: `allOf`, `$ref` and their like.
    pub(crate) in_place: Box<[InPlace]>,
    pub(crate) unevaluated: Option<Box<Unevaluated>>,
    /// The resource this schema belongs to, for `$dynamicRef`.
    pub(crate) resource: ResourceId,
    /// Values the schema itself offers, `examples` before `default`.
    pub(crate) samples: Box<[Value]>,
}

impl Node {
    /// A schema that admits everything.
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

    /// A schema that admits nothing.
    pub(crate) fn nothing(resource: ResourceId) -> Self {
        Self {
            is_never: true,
            ..Self::anything(resource)
        }
    }

    /// The node this one only refers to, if it does nothing else.
    pub(crate) fn alias(&self) -> Option<NodeId> {
        match &*self.in_place {
            [InPlace::Reference(target)] if self.is_bare() => Some(*target),
            _ => None,
        }
    }

    /// Puts every node this one knows through `rename`.
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

    /// Notes whether the node asks for the kind of a value and nothing else.
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

//! Rules for objects: `properties`, `patternProperties`, `additionalProperties`, `propertyNames`,
//! `required`, `dependentRequired` and the counts.

use std::cmp::Ordering;
use std::sync::Arc;

use super::id::NodeId;
use crate::pattern::Pattern;

pub(crate) type Names = Box<[Box<str>]>;

#[derive(Debug)]
pub(crate) struct ObjectRules {
    /// Every name in `properties` or `required`, sorted, so that one lookup serves both.
    pub(crate) known: Box<[Known]>,
    /// The names of `properties` in the author's order.
    pub(crate) declared: Names,
    /// The names of `required`, in order, each once.
    pub(crate) required: Names,
    pub(crate) patterns: Box<[(Arc<Pattern>, NodeId)]>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) property_names: Option<NodeId>,
    pub(crate) dependent_required: Box<[(Box<str>, Names)]>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: Box<str>,
    pub(crate) schema: Option<NodeId>,
    pub(crate) is_required: bool,
}

impl ObjectRules {
    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        let properties = self
            .known
            .iter_mut()
            .filter_map(|name| name.schema.as_mut());
        let patterns = self.patterns.iter_mut().map(|(_, node)| node);
        let others = [self.additional.as_mut(), self.property_names.as_mut()];
        for node in properties
            .chain(patterns)
            .chain(others.into_iter().flatten())
        {
            *node = rename(*node);
        }
    }

    /// The declared names, in the author's order.
    pub(crate) fn declared(&self) -> impl ExactSizeIterator<Item = &str> {
        self.declared.iter().map(|name| &**name)
    }

    /// The required names, in the author's order.
    pub(crate) fn required(&self) -> impl ExactSizeIterator<Item = &str> {
        self.required.iter().map(|name| &**name)
    }

    /// The patterns of names, each with its schema.
    pub(crate) fn patterns(&self) -> &[(Arc<Pattern>, NodeId)] {
        &self.patterns
    }

    pub(crate) fn is_required(&self, name: &str) -> bool {
        self.name(name).is_some_and(|name| name.is_required)
    }

    /// The schema in `properties` for a name.
    pub(crate) fn property(&self, name: &str) -> Option<NodeId> {
        self.name(name).and_then(|name| name.schema)
    }

    pub(crate) fn name(&self, name: &str) -> Option<&Known> {
        let found = self
            .known
            .binary_search_by(|known| order(&known.name, name));
        found.ok().map(|position| &self.known[position])
    }

    /// Whether there are only rules for names and for the schemas of members.
    pub(crate) fn is_simple(&self) -> bool {
        self.patterns.is_empty()
            && self.property_names.is_none()
            && self.dependent_required.is_empty()
            && self.least == 0
            && self.most.is_none()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.property_names.is_none()
            && self.dependent_required.is_empty()
            && self.least == 0
            && self.most.is_none()
    }
}

/// Orders short names before long ones: most comparisons then end with the length and read no text.
pub(crate) fn order(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

//! Rules for members and items that no other part of a schema has evaluated: `unevaluatedProperties` and
//! `unevaluatedItems`.

use super::id::NodeId;

#[derive(Debug)]
pub(crate) struct Unevaluated {
    pub(crate) properties: Option<NodeId>,
    pub(crate) items: Option<NodeId>,
}

impl Unevaluated {
    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        for node in [&mut self.properties, &mut self.items]
            .into_iter()
            .flatten()
        {
            *node = rename(*node);
        }
    }
}

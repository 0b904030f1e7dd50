//! Rules for arrays: `prefixItems`, `items`, `contains` and its counts, lengths, and `uniqueItems`.

use super::id::NodeId;

#[derive(Debug)]
pub(crate) struct ArrayRules {
    /// The schemas of the first items, one for each.
    pub(crate) prefix: Box<[NodeId]>,
    /// The schema of all items after the first ones.
    pub(crate) items: Option<NodeId>,
    pub(crate) contains: Option<Contains>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) is_unique: bool,
}

#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) node: NodeId,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
}

impl ArrayRules {
    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        let contains = self.contains.as_mut().map(|contains| &mut contains.node);
        for node in self
            .prefix
            .iter_mut()
            .chain(self.items.as_mut())
            .chain(contains)
        {
            *node = rename(*node);
        }
    }

    /// The schema of the item at a position.
    pub(crate) fn item(&self, position: usize) -> Option<NodeId> {
        self.prefix.get(position).copied().or(self.items)
    }
}

//! The numbers of nodes and resources.

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// The node of the document itself.
    pub(crate) const ROOT: Self = Self(0);

    pub(crate) fn new(position: usize) -> Self {
        // A document has at most MAX_SCHEMA_VALUES values and at most one node for each.
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }

    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

/// The number of a schema resource: the document itself, or a part of it that has an `$id`.
pub(crate) type ResourceId = u32;

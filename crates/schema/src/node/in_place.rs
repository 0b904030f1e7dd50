//! Schemas that apply to the same value: `$ref`, `$dynamicRef`, `allOf`, `anyOf`, `oneOf`, `not`,
//! `if`/`then`/`else` and `dependentSchemas`.

use super::id::{NodeId, ResourceId};
use crate::dialect::Dialect;

#[derive(Debug)]
pub(crate) enum InPlace {
    Reference(NodeId),
    /// The node to use if no entered resource has the anchor, and the nodes of all resources that have it.
    DynamicReference(NodeId, Box<[(ResourceId, NodeId)]>),
    /// The value must itself be a schema of this dialect.
    MetaSchema(Dialect),
    AllOf(Box<[NodeId]>),
    AnyOf(Box<[NodeId]>),
    OneOf(Box<[NodeId]>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    /// The schemas that apply if a property is present.
    Dependent(Box<[(Box<str>, NodeId)]>),
}

impl InPlace {
    /// The nodes that this can lead to without going deeper into the value.
    pub(crate) fn targets(&self) -> Vec<NodeId> {
        match self {
            Self::Reference(node) | Self::Not(node) => vec![*node],
            // The target is only known during a check, where the depth is limited.
            Self::DynamicReference(..) | Self::MetaSchema(_) => Vec::new(),
            Self::AllOf(nodes) | Self::AnyOf(nodes) | Self::OneOf(nodes) => nodes.to_vec(),
            Self::If {
                condition,
                then,
                otherwise,
            } => [Some(*condition), *then, *otherwise]
                .into_iter()
                .flatten()
                .collect(),
            Self::Dependent(nodes) => nodes.iter().map(|(_, node)| *node).collect(),
        }
    }

    /// Replaces every node by the result of `rename`.
    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        let each = |node: &mut NodeId| *node = rename(*node);
        match self {
            Self::Reference(node) | Self::Not(node) => each(node),
            Self::MetaSchema(_) | Self::DynamicReference(..) => {}
            Self::AllOf(nodes) | Self::AnyOf(nodes) | Self::OneOf(nodes) => {
                nodes.iter_mut().for_each(each);
            }
            Self::If {
                condition,
                then,
                otherwise,
            } => {
                [Some(condition), then.as_mut(), otherwise.as_mut()]
                    .into_iter()
                    .flatten()
                    .for_each(each);
            }
            Self::Dependent(nodes) => nodes.iter_mut().for_each(|(_, node)| each(node)),
        }
    }
}

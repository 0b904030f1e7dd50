//! Finds references that lead back to themselves for the same value. A schema that refers to itself for the
//! *members* of a value describes a tree, and checking it ends with the value; if it refers to itself for the
//! value itself, checking would never end.

use crate::node::{InPlace, Node, NodeId};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// A node that is part of a cycle, if there is one.
pub(super) fn find(nodes: &[Node]) -> Option<NodeId> {
    let mut visits = vec![Visit::New; nodes.len()];
    (0..nodes.len())
        .map(NodeId::new)
        .find_map(|start| search(nodes, start, &mut visits))
}

fn search(nodes: &[Node], start: NodeId, visits: &mut [Visit]) -> Option<NodeId> {
    let mut open = vec![start];
    while let Some(&node) = open.last() {
        match visits[node.position()] {
            Visit::New => {
                visits[node.position()] = Visit::Open;
                for target in nodes[node.position()]
                    .in_place
                    .iter()
                    .flat_map(InPlace::targets)
                {
                    match visits[target.position()] {
                        Visit::New => open.push(target),
                        Visit::Open => return Some(node),
                        Visit::Done => {}
                    }
                }
            }
            Visit::Open | Visit::Done => {
                visits[node.position()] = Visit::Done;
                open.pop();
            }
        }
    }
    None
}

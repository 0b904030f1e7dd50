//! Finds references that lead back to themselves on the same value. A schema that refers to itself
//! for the *members* of a value is a tree and ends with the value; one that does so for the value
//! itself never ends.

use crate::node::{InPlace, Node, NodeId};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// A node on a circle, if there is one.
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

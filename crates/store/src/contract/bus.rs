//! Tests for buses.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;

use crate::{
    JoinGuard,
    bus::{Bus, Delivery, NodeId, Recipient},
};

/// How long a bus may take to deliver one message: far longer than it needs.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Larger than any message that a bus sends in one piece, in bytes.
const LARGE: usize = 1024 * 1024;

/// Tests that a bus satisfies the contract of [`Bus`]. `open` returns a new connection to the same
/// bus each time, as from another machine.
///
/// # Panics
/// If the contract is violated, because this is a test.
pub async fn bus<B: Bus>(open: impl AsyncFn() -> B) {
    let (one, other) = (open().await, open().await);
    let (here, there, nowhere) = (NodeId::new(1), NodeId::new(2), NodeId::new(3));
    let (_here, mut to_here) = join(&one, here);
    let (leaving, mut to_there) = join(&other, there);
    one.ready(here).await;
    other.ready(there).await;
    let send = async |to, message: &[u8]| one.send(to, message.to_vec()).await.expect("it sends");

    assert_eq!(send(Recipient::Node(there), b"a").await, Delivery::Sent);
    assert_eq!(next(&mut to_there).await, b"a", "it arrives");
    assert_eq!(send(Recipient::Node(here), b"b").await, Delivery::Sent);
    assert_eq!(next(&mut to_here).await, b"b", "at the sender too");

    assert_eq!(send(Recipient::All, b"c").await, Delivery::Sent);
    assert_eq!(next(&mut to_here).await, b"c", "all get what is for all");
    assert_eq!(next(&mut to_there).await, b"c", "all get what is for all");

    let any_bytes: Vec<u8> = (0..=255).cycle().take(LARGE).collect();
    send(Recipient::Node(there), &any_bytes).await;
    assert_eq!(next(&mut to_there).await, any_bytes, "large or small");

    for number in 0..100_u8 {
        send(Recipient::Node(there), &[number]).await;
    }
    for number in 0..100_u8 {
        assert_eq!(next(&mut to_there).await, [number], "in order");
    }

    let unknown = async {
        while send(Recipient::Node(nowhere), b"d").await != Delivery::NoSuchNode {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, unknown)
        .await
        .expect("there never was such a node");
    assert!(!one.is_gone(there), "it is there");
    named(&one, there, Presence::Here).await;
    drop(leaving);
    other.left(there).await;
    let gone = async {
        while send(Recipient::Node(there), b"e").await != Delivery::NoSuchNode {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        while !one.is_gone(there) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, gone)
        .await
        .expect("a node that left is gone");
    assert!(!one.is_gone(here), "others are not");
    named(&one, there, Presence::Gone).await;
    named(&one, here, Presence::Here).await;
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Presence {
    Here,
    Gone,
}

/// Waits until a node is present or absent in the list of nodes.
async fn named(bus: &impl Bus, node: NodeId, presence: Presence) {
    let seen = async {
        while bus.nodes().contains(&node) != (presence == Presence::Here) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let seen = tokio::time::timeout(TIMEOUT, seen).await;
    assert!(seen.is_ok(), "{node:?} should be {presence:?}");
}

fn join(bus: &impl Bus, node: NodeId) -> (JoinGuard, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (take, taken) = mpsc::unbounded_channel();
    let inbox = move |message| drop(take.send(message));
    (bus.join(node, Arc::new(inbox)), taken)
}

async fn next(taken: &mut mpsc::UnboundedReceiver<Vec<u8>>) -> Vec<u8> {
    let next = tokio::time::timeout(TIMEOUT, taken.recv()).await;
    next.expect("it arrives in time")
        .expect("the inbox is open")
}

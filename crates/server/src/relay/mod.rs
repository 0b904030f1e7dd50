//! The interface for servers that forward requests to other servers: a gateway, a proxy, or a
//! server that is composed of others.
//!
//! A [`Relay`] gets every request first. It receives params and returns results as JSON text,
//! unparsed. The server handles everything else: sessions, batches, streams, headers, the guard.

mod client_channel;
#[cfg(feature = "http")]
mod replica_link;
mod seam;

pub use client_channel::ClientChannel;
#[cfg(feature = "http")]
pub use replica_link::ReplicaLink;
pub use seam::{
    OwnedRelayedRequest, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks, RelayedRequest,
};

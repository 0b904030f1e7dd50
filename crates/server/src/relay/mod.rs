//! The seam for servers whose answers come from elsewhere: a gateway, a proxy, a server that is
//! composed of others.
//!
//! A [`Relay`] is asked first for every request. Params and results pass as the text that they came
//! in; the server sees to everything around them: sessions, batches, streams, headers, the guard.

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

//! Hearing of changes: one stream in every era.
//!
//! A modern server is asked by `subscriptions/listen`, which a task of the stream keeps open
//! ([`subscriptions_listen`]). A session is told of changes by itself, and of single resources after
//! `resources/subscribe`; what a session is to keep is kept by a task of the connection
//! ([`standing`]). Whatever comes goes by way of the [`Listeners`] of the connection into the bounded
//! queue of each stream.

mod backoff;
mod change;
mod change_stream;
mod connection;
mod keeper;
mod listener;
mod listeners;
mod loss;
mod standing;
mod subscriptions_listen;
mod wish;

pub use change::{Change, Missed};
pub use change_stream::ChangeStream;
pub use wish::Listen;

pub(crate) use listeners::Listeners;
pub(crate) use standing::Standing;

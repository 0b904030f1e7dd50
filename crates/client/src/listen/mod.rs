//! Subscriptions to changes, with one API for both eras.
//!
//! A modern server is asked by `subscriptions/listen`, which a task of the stream keeps open
//! ([`subscriptions_listen`]). A session is told of changes by itself, and of single resources after
//! `resources/subscribe`; a task of the connection keeps it subscribed ([`reconcile`]). Whatever
//! comes goes by way of the connection's `ChangeQueues` into the bounded queue of each stream.

mod backoff;
mod change_stream;
mod connection;
mod reconcile;
mod subscriptions_listen;

pub use change_stream::ChangeStream;

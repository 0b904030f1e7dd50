//! Subscriptions to changes, with one API for both eras.
//!
//! A modern server gets a `subscriptions/listen` request, which a task of the stream keeps open
//! ([`subscriptions_listen`]). In a session, changes of lists are reported without a request, and
//! changes of single resources after `resources/subscribe`; a task of the connection keeps the session
//! subscribed ([`reconcile`]). All changes pass through the connection's `ChangeQueues` into the
//! bounded queue of each stream.

mod backoff;
mod change_stream;
mod connection;
mod reconcile;
mod subscriptions_listen;

pub use change_stream::ChangeStream;

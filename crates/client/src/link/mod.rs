//! An open connection: outgoing and incoming messages, and the state that its calls share.
//!
//! [`Link`] holds the parts. [`request`] sends one request and waits for its answer, over a pipe or, in
//! [`post`], over HTTP. [`inbound`] receives messages of the server, and [`serving`] answers its
//! requests. [`driver`] has the tasks of the connection.

mod asks;
mod canceller;
mod common_meta;
mod driver;
mod inbound;
mod initialize;
mod keep_alive;
mod late_log;
mod late_progress;
mod lifecycle;
mod loss;
mod offered;
mod outgoing;
mod own_tasks;
mod parts;
mod pipe;
#[cfg(feature = "http")]
mod post;
mod relay;
mod relayed_ask;
mod request;
mod serving;
mod span;
mod wire;

pub(crate) use asks::MAX_OPEN_ASKS;
pub use canceller::Canceller;
pub(crate) use driver::{Opened, open};
#[cfg(feature = "http")]
pub(crate) use inbound::Inbound;
pub(crate) use initialize::{Initialized, initialize};
pub(crate) use late_progress::LateProgress;
pub(crate) use outgoing::{Outgoing, split_meta};
pub(crate) use parts::Link;
pub use pipe::Pipe;
pub(crate) use relay::{RelayAttempt, RelayOutcome, WantedNotifications};
pub(crate) use request::{OnDrop, OnProgress};
pub(crate) use span::{in_span, span};

//! A client for any server of the Model Context Protocol.
//!
//! A [`Client`] holds the name of your application and the handlers for requests of servers.
//! [`Client::connect`] reaches a server, detects the revision that it speaks, and returns a
//! [`Connection`]. A connection calls tools, reads resources and gets prompts in the same way at every
//! revision.
//!
//! | to | use |
//! |---|---|
//! | call a tool | [`Connection::call`], then [`ToolOutput::parse`] |
//! | list | [`Connection::tools`], [`prompts`](Connection::prompts), [`resources`](Connection::resources), [`resource_templates`](Connection::resource_templates) |
//! | read, get, complete | [`Connection::read`], [`get`](Connection::get), [`complete`](Connection::complete) |
//! | use an extension | [`Connection::extension`], [`Client::declare`] |
//! | anything else | [`Connection::request`], [`request_raw`](Connection::request_raw) |
//! | subscribe to changes | [`Connection::listen`] |
//! | receive the log messages of a server | [`Connection::logs`], [`Client::log_level`], [`Client::on_log`] |
//! | receive all notifications | [`Connection::notifications`], [`Client::on_notification`] |
//! | keep results for a while | [`Cache`] |
//! | answer requests of servers: elicitation, sampling, roots | [`Answers`] |
//! | pass requests and answers on unchanged, as gateways do | [`Client::relaying`], [`Connection::relay`] |
//! | answer a server's questions later, or in another process | [`Connection::by_hand`], [`Connection::resume`] |
//!
//! With feature `http` a server may be at a URL: `client.connect("https://host/mcp")`, or an
//! `HttpTarget` with headers, credentials, a proxy or certificates. The client detects which transport
//! and which era the server speaks. `https` needs feature `tls`.
//!
//! Dropping the future of a call cancels the call and tells the server.

mod answer;
mod by_hand;
mod cache;
mod call;
mod client;
mod connect;
mod connection;
mod ends;
mod error;
mod future;
#[cfg(feature = "http")]
mod http;
#[cfg(not(feature = "http"))]
#[path = "no_http.rs"]
mod http;
mod link;
mod listen;
mod notifications;
mod peer;
mod pending;
mod profile;
mod relay;
mod relayed;
mod roots;
mod subscription;
mod tap;
mod task;
mod tool;
mod unneeded;
mod warnings;

pub use turnbuckle_protocol as protocol;
pub use turnbuckle_transport as transport;

pub use answer::{Answers, AskProgress, Refusal, ServerAsk};
pub use by_hand::{Answerable, ByHand, Pending, Round};
pub use cache::Cache;
pub use call::{
    ClientCall, ExtensionHandle, InputCompletion, List, ListStream, Listed, StartTask, Started,
    TaskHandle,
};
pub use client::Client;
#[cfg(feature = "http")]
pub use connect::HttpTarget;
pub use connect::{Connect, Dial, DialError, Target};
pub use connection::Connection;
pub use error::{CallError, ConnectError, Ending};
pub use link::{Canceller, Pipe};
pub use listen::ChangeStream;
pub use notifications::{LogStream, Logged, NotificationStream, ServerNotification};
pub use peer::Peer;
pub use profile::{AskRates, OutputCheck};
pub use relay::{RelayCall, RelayRequest};
pub use relayed::{Attribution, RelayAsk, RelayEvent, RelaySink};
pub use roots::{RootError, Roots};
pub use subscription::{Change, Listen, Missed};
pub use tap::{Direction, WireMessage};
pub use task::{TaskStatuses, TaskTicket};
#[cfg(feature = "http")]
pub use tool::ExcludedTool;
pub use tool::ToolOutput;
pub use turnbuckle_session::{DetectedRevision, Era, probe::ProbeFailure, requests::Overdue};
pub use turnbuckle_transport::KeepAlive;

/// What a [`ProbeFailure`] consists of: why no revision was found, and what was tried.
pub mod failure {
    pub use turnbuckle_session::probe::{Asked, Attempt, Outcome, ProbeRefusal, Reason, Step};
}

/// What a host shares with the client. Not for applications: it changes without notice.
#[doc(hidden)]
pub mod shared {
    pub use crate::call::Arguments;
}

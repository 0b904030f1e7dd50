//! Server-sent events as text: written by servers, parsed by clients.
//!
//! The format is that of the HTML standard, "Server-sent events". A JSON-RPC message is one event with
//! one line of data.
//!
//! ```
//! use turnbuckle_transport::http::sse::{Decoder, Frame};
//!
//! let mut stream = Vec::new();
//! Frame::of(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).with_id("7").append_to(&mut stream);
//!
//! let mut events = Vec::new();
//! Decoder::new().feed(&stream, &mut events)?;
//! assert_eq!(events[0].id.as_deref(), Some("7"));
//! # Ok::<(), turnbuckle_transport::http::sse::EventTooLarge>(())
//! ```

mod decoder;
mod frame;

use std::time::Duration;

pub use decoder::{Decoder, EventTooLarge, MAX_EVENT_BYTES};
pub use frame::{CONTENT_TYPE, Frame, KEEP_ALIVE};

/// One parsed event.
///
/// An event may only set an id or a waiting time; its data is then empty, and is not a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The event id, from which the stream can be resumed. An empty id resets it; `None` leaves it
    /// unchanged.
    pub id: Option<String>,
    /// The kind of event; `None` means `message`.
    pub event: Option<String>,
    /// The data, with line feeds between its lines.
    pub data: String,
    /// How long to wait before reconnecting after the stream has broken.
    pub retry: Option<Duration>,
}

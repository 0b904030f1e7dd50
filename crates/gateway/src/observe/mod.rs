//! Observing a gateway: counters, and the messages of recent requests.
//!
//! A [`Recorder`] is given to a gateway with [`Gateway::observe`](crate::Gateway::observe). It counts
//! requests by revision, server and caller, and keeps the newest requests with the messages of both hops:
//! what the client sent, what was sent to the server, and what came back. All of it is bounded. A gateway
//! without a recorder does none of this.

mod exchange;
mod histogram;
mod message;
mod record;
mod recorder;
mod series;
mod view;

pub use exchange::{ExchangeSummary, ExchangeView};
pub use message::{GatewaySide, MessageRole, MessageView};
pub use recorder::Recorder;
pub use series::{Period, SeriesView};
pub use view::{
    CallerCounts, CallerView, DenialView, Overview, RevisionPairView, ServerView, Traffic,
    WaitingView,
};

pub(crate) use record::{RecordEnd, RequestRecord};
pub(crate) use view::{WaitingQuestion, waiting_text};

//! Observes a gateway: counters, and the messages of recent requests.
//!
//! Give a [`Recorder`] to a gateway with [`Gateway::observe`](crate::Gateway::observe). It counts
//! requests by revision, server and caller, and keeps the newest requests with the messages of both
//! hops: the client's request, the request to the server, and the answers. All of this is bounded.
//! A gateway without a recorder records nothing.

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

//! A call in flight in whose middle a server may ask.

use std::sync::Arc;

use tokio::sync::mpsc;
use turnbuckle_client::{Attribution, RelayAsk, RelayEvent};

use super::{LaneHub, Turn};

/// A call in flight that may be asked. Dropping it ends that.
pub(crate) struct OpenCall {
    pub(super) hub: Arc<LaneHub>,
    pub(super) number: u64,
    pub(super) subject: String,
    pub(super) asks: mpsc::Receiver<Box<RelayAsk>>,
    pub(super) turn: Arc<Turn>,
    /// Whether the server has answered: it asks nothing more then.
    pub(super) is_answered: bool,
}

impl OpenCall {
    /// The next question that came without a stream.
    pub(crate) async fn ask(&mut self) -> RelayAsk {
        match self.asks.recv().await {
            Some(ask) => *ask,
            // The hub holds the other end for as long as this is there.
            None => std::future::pending().await,
        }
    }

    /// The turn of this call among those of its process.
    pub(crate) fn turn(&self) -> &Arc<Turn> {
        &self.turn
    }

    /// Notes what an event says of the call. A question that may belong to another caller is not given
    /// back: it is refused.
    pub(crate) fn note(&mut self, event: RelayEvent) -> Option<RelayEvent> {
        match event {
            RelayEvent::Ask(ask) => {
                let is_certain =
                    matches!(ask.attribution(), Attribution::Stream | Attribution::Task);
                if !is_certain && !self.hub.is_of(self.number) {
                    LaneHub::refuse(ask);
                    return None;
                }
                self.hub.remember(&self.subject);
                Some(RelayEvent::Ask(ask))
            }
            RelayEvent::Result(_) | RelayEvent::Error(_) | RelayEvent::Lost(_) => {
                self.is_answered = true;
                Some(event)
            }
            other => Some(other),
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.turn.end();
        self.hub.leave(self.number, self.is_answered);
    }
}

//! A call in flight during which the server may ask questions.

use std::sync::Arc;

use turnbuckle_client::{Attribution, RelayAsk, RelayEvent};

use super::{LaneHub, Turn, call_asks::CallAsks};

/// A call in flight during which the server may ask. Dropping it unregisters the call.
pub(crate) struct OpenCall {
    pub(super) hub: Arc<LaneHub>,
    pub(super) number: u64,
    pub(super) subject: Arc<str>,
    pub(super) asks: Arc<CallAsks>,
    pub(super) turn: Arc<Turn>,
    /// Whether it was unknown at the beginning of the call whether its tool asks.
    pub(super) is_new: bool,
    /// Whether the server has answered. Afterwards it asks nothing more.
    pub(super) is_answered: bool,
}

impl OpenCall {
    /// The next question that arrived without a stream.
    pub(crate) async fn ask(&mut self) -> RelayAsk {
        self.asks.next().await
    }

    /// The turn of this call among those of its process.
    pub(crate) fn turn(&self) -> &Arc<Turn> {
        &self.turn
    }

    /// Handles an event of the call. A question that can only be assigned by its time of arrival is
    /// not returned here: if it belongs to no other call, [`ask`](Self::ask) returns it.
    pub(crate) fn note(&mut self, event: RelayEvent) -> Option<RelayEvent> {
        match &event {
            RelayEvent::Ask(ask) => {
                self.is_new = false;
                if matches!(ask.attribution(), Attribution::Stream | Attribution::Task) {
                    return Some(event);
                }
            }
            RelayEvent::Result(_) => {
                self.is_answered = true;
                if self.is_new {
                    self.hub.was_quiet(&self.subject);
                }
            }
            RelayEvent::Error(_) | RelayEvent::Lost(_) => self.is_answered = true,
            _ => {}
        }
        if let RelayEvent::Ask(ask) = event {
            self.hub.route(Box::new(ask));
            return None;
        }
        Some(event)
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.turn.end();
        self.hub.leave(self.number, self.is_answered);
        self.asks.end();
    }
}

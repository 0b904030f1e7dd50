//! The task that owns a parked call.

use std::{sync::Arc, time::Duration};

use tokio::time::{self, Instant};
use turnbuckle_client::RelayEvent;
use turnbuckle_server::RelayReply;

use super::{
    parked_call::{OpenQuestion, ParkedCall},
    run::{admitted, failed},
};
use crate::{
    exchange::{call::Exchange, ear, upstream_call::UpstreamCall},
    operation::Running,
    translate::{Answer, Question, answer, expired, unavailable},
    upstream::OpenCall,
};

/// How long to wait for further questions, so that they are asked together.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// The longest time that a question waits for others.
const MAX_DEBOUNCE: Duration = Duration::from_millis(200);

/// How long a message waits for a client that does not read.
const TELL_WITHIN: Duration = Duration::from_secs(5);

/// The task that owns a parked call.
pub(super) struct Keeper {
    parked: Arc<ParkedCall>,
    exchange: Exchange,
    open: Option<OpenCall>,
    call: UpstreamCall,
    /// Counts the call as running until it ends.
    _running: Option<Arc<Running>>,
}

/// The result of handling an event.
enum Taken {
    Asked,
    Told,
    Ended(RelayReply),
}

/// Determines when the questions asked so far are sent to the client.
struct Debounce {
    at: Instant,
    at_last: Instant,
}

impl Debounce {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            at: now + DEBOUNCE,
            at_last: now + MAX_DEBOUNCE,
        }
    }

    fn again(self) -> Self {
        Self {
            at: (Instant::now() + DEBOUNCE).min(self.at_last),
            at_last: self.at_last,
        }
    }
}

impl Keeper {
    pub(super) fn new(
        parked: Arc<ParkedCall>,
        exchange: Exchange,
        open: Option<OpenCall>,
        call: UpstreamCall,
    ) -> Self {
        // The first request holds it until it is answered.
        let running = exchange.request.running.upgrade();
        Self {
            _running: running,
            parked,
            exchange,
            open,
            call,
        }
    }

    /// Runs the parked call until it is over.
    ///
    /// It borrows its state, because a future stores its arguments twice. The future lives as long
    /// as the client is asked, so temporary values are kept on the heap.
    pub(super) async fn keep(&mut self) {
        let mut debounce = Some(Debounce::new());
        let parked = Arc::clone(&self.parked);
        let outcome = loop {
            // Register before checking, so that no change is missed.
            let changed = parked.changed.notified();
            let publish_at = debounce.as_ref().map(|debounce| debounce.at);
            let answered_by = {
                let state = parked.state.lock();
                if state.is_given_up {
                    drop(state);
                    self.call.cancel("the client abandoned the call");
                    return self.give_up();
                }
                state.answered_by
            };
            let due = publish_at.into_iter().chain(answered_by).min();
            tokio::select! {
                // Fixed order, so that a simulation can replay every step. A server can send events
                // without end, so they come last.
                biased;
                // The call was given up, or the deadline for answers may have changed.
                () = changed => {}
                () = at(due) => {
                    if due == publish_at {
                        debounce = None;
                        self.publish();
                    } else if self.expire() {
                        self.call.cancel("the client did not answer in time");
                        break unavailable(parked.server.as_str(), "the client did not answer in time");
                    }
                }
                event = Exchange::next(&mut self.call, &mut self.open) => {
                    match Box::pin(self.take(event)).await {
                        Taken::Asked => {
                            debounce = Some(debounce.map_or_else(Debounce::new, Debounce::again));
                        }
                        Taken::Told => {}
                        Taken::Ended(outcome) => break outcome,
                    }
                }
            }
        };
        self.end(outcome);
    }

    /// Keeps the outcome, for a client that lost the answer and requests it again.
    fn end(&self, outcome: RelayReply) {
        let bytes = match &outcome {
            RelayReply::Result(result) => result.len(),
            RelayReply::Error(_, error) => error.raw().get().len(),
            _ => 0,
        };
        let context = &self.exchange.context;
        let number = self.parked.number;
        context.parked.keep(number, bytes, context.park_for);
        self.settle(outcome);
    }

    /// Drops the call without an outcome, because no client will request it.
    fn give_up(&self) {
        self.exchange.context.parked.remove(self.parked.number);
        self.settle(unavailable(
            self.parked.server.as_str(),
            "the client abandoned the call",
        ));
    }

    fn settle(&self, outcome: RelayReply) {
        let open = {
            let mut state = self.parked.state.lock();
            state.outcome = Some(outcome);
            state.answered_by = None;
            state.request = None;
            state.record = None;
            std::mem::take(&mut state.open)
        };
        // Open questions are never answered, because the call is over.
        drop(open);
        self.parked.has_changed();
    }

    async fn take(&mut self, event: RelayEvent) -> Taken {
        let (request, record) = {
            let state = self.parked.state.lock();
            (state.request.clone(), state.record.clone())
        };
        let event = if let Some(request) = request {
            let told = ear::hear(&request, event);
            match time::timeout(TELL_WITHIN, told).await {
                Ok(Some(event)) => event,
                Ok(None) | Err(_) => return Taken::Told,
            }
        } else {
            if let Some(record) = record {
                record.heard(&event);
            }
            event
        };
        match event {
            RelayEvent::Ask(ask) => match admitted(&self.exchange, ask) {
                Some(asked) => {
                    self.parked.state.lock().add(asked);
                    Taken::Asked
                }
                None => Taken::Told,
            },
            RelayEvent::Result(raw) => Taken::Ended(self.exchange.finish(&Answer::Result(raw))),
            RelayEvent::Error(raw) => Taken::Ended(failed(&self.exchange, raw)),
            RelayEvent::Lost(error) => Taken::Ended(self.exchange.finish(&Answer::Lost(error))),
            _ => Taken::Told,
        }
    }

    /// Publishes the open questions to the client.
    fn publish(&mut self) {
        let mut state = self.parked.state.lock();
        state.drop_withdrawn();
        if state.open.is_empty() {
            return;
        }
        // Until the client answers, the server asks nothing more in this call, so let other calls
        // have their turn.
        if let Some(turn) = &self.parked.turn {
            turn.give();
        }
        // The client already has the questions of this round; later ones are asked in the next round.
        if !state.is_published() {
            state.publish(Instant::now() + self.exchange.context.park_for);
        }
        drop(state);
        self.exchange.rest();
        self.parked.has_changed();
    }

    /// Answers the questions that the client did not answer in time. Returns false if an answer
    /// came at the last moment.
    fn expire(&self) -> bool {
        let open: Vec<_> = {
            let mut state = self.parked.state.lock();
            if state.answered_by.is_none_or(|by| by > Instant::now()) {
                return false;
            }
            state.answered_by = None;
            state.open.drain(..).collect()
        };
        for OpenQuestion { ask, .. } in open {
            match expired(&Question::of_ask(&ask)) {
                Ok(result) => ask.answer(&answer(&result, self.exchange.to())),
                Err(error) => ask.refuse(&error),
            }
        }
        true
    }
}

/// Waits until a time, or forever if there is none.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

//! A receiver that reports its calls to the test, and can answer.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use turnbuckle_transport::{Limits, LineFault, Outbox, Receive};

/// Longer than anything here takes on a busy machine; only failing tests wait for it.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Message(String),
    TooLong(usize),
    Unterminated(String),
    Closed,
}

type Answer = Box<dyn FnMut(&[u8], &Outbox) + Send>;

pub(crate) struct Recorder {
    events: UnboundedSender<Event>,
    outbox: Outbox,
    answer: Answer,
}

impl Recorder {
    /// Creates a recorder that sends no answers, and closes the outbox when the input has ended.
    pub(crate) fn new(outbox: &Outbox) -> (Self, Events) {
        Self::answering(outbox, |_, _| {})
    }

    pub(crate) fn echoing(outbox: &Outbox) -> (Self, Events) {
        Self::answering(outbox, |message, outbox| outbox.push(message))
    }

    pub(crate) fn answering(
        outbox: &Outbox,
        answer: impl FnMut(&[u8], &Outbox) + Send + 'static,
    ) -> (Self, Events) {
        let (events, receiver) = unbounded_channel();
        let recorder = Self {
            events,
            outbox: outbox.clone(),
            answer: Box::new(answer),
        };
        (recorder, Events(receiver))
    }
}

impl Receive for Recorder {
    fn receive(&mut self, message: &[u8]) {
        let _ = self.events.send(Event::Message(
            String::from_utf8_lossy(message).into_owned(),
        ));
        (self.answer)(message, &self.outbox);
    }

    fn receive_fault(&mut self, fault: LineFault<'_>) {
        let _ = self.events.send(match fault {
            LineFault::TooLong { head, .. } => Event::TooLong(head.len()),
            LineFault::Unterminated { rest } => {
                Event::Unterminated(String::from_utf8_lossy(rest).into_owned())
            }
            other => panic!("unknown fault {other}"),
        });
    }

    fn closed(&mut self) {
        let _ = self.events.send(Event::Closed);
        self.outbox.close();
    }
}

pub(crate) struct Events(UnboundedReceiver<Event>);

impl Events {
    pub(crate) async fn next(&mut self) -> Event {
        let event = tokio::time::timeout(TIMEOUT, self.0.recv()).await;
        event
            .expect("an event comes in time")
            .expect("the receiver was not dropped before")
    }

    /// Returns all further events, until the receiver is dropped.
    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = tokio::time::timeout(TIMEOUT, self.0.recv())
            .await
            .expect("in time")
        {
            events.push(event);
        }
        events
    }

    /// Returns the number of events so far.
    pub(crate) fn count_now(&mut self) -> usize {
        let mut count = 0;
        while self.0.try_recv().is_ok() {
            count += 1;
        }
        count
    }
}

pub(crate) fn message(text: &str) -> Event {
    Event::Message(text.to_owned())
}

/// Limits under which no batch is interrupted, however slow the machine is.
pub(crate) fn whole_batches() -> Limits {
    Limits::default().with_flush_after(Duration::from_hours(1))
}

//! The stream on which a client is notified that its resource has changed.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    guest::{Guest, deadline},
    history::Trouble,
    tally::{Fault, Kind},
    wire::Arrival,
};

/// How long an update may take.
const HEARD_WITHIN: Duration = Duration::from_secs(10);

/// How long a client waits before it opens the stream again.
const PAUSE: Duration = Duration::from_millis(50);

/// Longer than any run, because a stream may be quiet.
const STANDING: Duration = Duration::from_hours(24);

/// The updates that a client has received.
pub(super) struct Heard {
    updates: watch::Sender<u64>,
    is_open: watch::Sender<bool>,
}

impl Heard {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            updates: watch::Sender::new(0),
            is_open: watch::Sender::new(false),
        })
    }

    pub(super) fn open(&self) {
        self.is_open.send_replace(true);
    }

    pub(super) fn close(&self) {
        self.is_open.send_replace(false);
    }

    /// Handles a notification that a resource has changed, which must be the client's own.
    pub(super) fn take(&self, guest: &Guest, message: &Value) {
        if message["method"] != "notifications/resources/updated" {
            return;
        }
        if message["params"]["uri"] == guest.uri() {
            self.updates.send_modify(|updates| *updates += 1);
        } else {
            guest.fault(Fault::WrongCaller, &format!("told of {message}"));
        }
    }

    /// Changes the resource, and waits until the client is notified.
    pub(super) async fn update(&self, guest: &Guest, change: impl AsyncFnOnce() -> Option<()>) {
        let began = Instant::now();
        let mut is_open = self.is_open.subscribe();
        let opened = timeout(HEARD_WITHIN, is_open.wait_for(|is_open| *is_open));
        let is_opened = opened.await.is_ok();
        let mut updates = self.updates.subscribe();
        let before = *updates.borrow_and_update();
        if change().await.is_none() {
            return;
        }
        let heard = timeout(HEARD_WITHIN, updates.wait_for(|now| *now > before));
        if is_opened && heard.await.is_ok() {
            guest.run.tally.done(Kind::Update, guest.place);
        } else {
            guest.note(Kind::Update, &Trouble::Missed, began);
        }
    }
}

/// A stream that is kept open until this is dropped.
pub(super) struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Listening {
    pub(super) fn start(guest: &Arc<Guest>, heard: &Arc<Heard>) -> Self {
        let (guest, heard) = (Arc::clone(guest), Arc::clone(heard));
        Self(tokio::spawn(async move {
            loop {
                let trouble = match open(&guest).await {
                    Ok(stream) => read(&guest, &heard, stream).await,
                    Err(trouble) => trouble,
                };
                heard.close();
                guest.note(Kind::Update, &trouble, Instant::now());
                sleep(PAUSE).await;
            }
        }))
    }
}

async fn open(guest: &Guest) -> Result<Arrival, Trouble> {
    let deadline = deadline();
    let opened = if guest.is_modern() {
        let params = json!({ "notifications": { "resourceSubscriptions": [guest.uri()] } });
        let message = guest.request(guest.number(), "subscriptions/listen", params);
        guest.post(&message, deadline).await?
    } else {
        let accept = [("accept", "text/event-stream")];
        guest.send("GET", &accept, "", deadline).await?
    };
    match opened.status {
        200 => Ok(opened),
        404 => Err(Trouble::NoSession),
        status => Err(Trouble::Odd(format!("status {status} for a stream"))),
    }
}

/// Reads the stream until its end.
async fn read(guest: &Guest, heard: &Heard, mut stream: Arrival) -> Trouble {
    if !guest.is_modern() {
        heard.open();
    }
    let deadline = Instant::now() + STANDING;
    loop {
        let event = match stream.event(deadline).await {
            Ok(Some(event)) => event,
            Ok(None) => return Trouble::Broken,
            Err(trouble) => return trouble,
        };
        match event.message() {
            Ok(Some(message)) => {
                if message["method"] == "notifications/subscriptions/acknowledged" {
                    heard.open();
                }
                heard.take(guest, &message);
            }
            Ok(None) => {}
            Err(trouble) => return trouble,
        }
    }
}

//! Clients of 2024-11-05: one stream with all answers, and a URL for messages. The stream belongs to one
//! replica; posted messages arrive at any.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    exchange::Ended,
    guest::{Guest, deadline},
    history::Trouble,
    listening::Heard,
    random::Random,
    tally::{Fault, Kind},
    wire::Arrival,
    work::pause,
};

/// The path of the stream, under which the URL for messages is.
const STREAM: &str = "/mcp/sse";
const BASE: &str = "/mcp/";

/// Longer than any run, because a stream may be quiet.
const STANDING: Duration = Duration::from_hours(24);

/// How long to wait for the answer of a cancelled call, which must not come.
const NO_ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// Works until the run is over, with one stream after another.
pub(super) async fn work(guest: Arc<Guest>, mut random: Random) {
    let heard = Heard::new();
    let mut stream: Option<Stream> = None;
    while !guest.is_over() {
        pause(&mut random).await;
        if stream.as_ref().is_none_or(Stream::is_ended) {
            // The old stream reports that it is closed before the new one reports that it is open.
            drop(stream.take());
            let opened = guest.insist(Kind::Open, async || Stream::open(&guest, &heard).await);
            stream = opened.await;
            guest.done(Kind::Open, stream.as_ref().map(|_| ()));
        }
        let Some(stream) = &stream else { continue };
        let began = Instant::now();
        let outcome = match random.between(0, 99) {
            0..50 => stream.called(Kind::Call, "order", "").await,
            50..70 => {
                let suffix = format!(": {}", guest.name);
                stream.called(Kind::Ask, "sample", &suffix).await
            }
            70..85 => stream.cancelled().await,
            _ => {
                let updated = heard.update(&guest, async || {
                    stream
                        .called(Kind::Update, "touch", "")
                        .await
                        .ok()
                        .map(drop)
                });
                updated.await;
                continue;
            }
        };
        match outcome {
            Ok(kind) => guest.run.tally.done(kind, guest.place),
            Err((kind, trouble)) => guest.note(kind, &trouble, began),
        }
    }
}

/// An open stream, until it is dropped.
pub(super) struct Stream {
    guest: Arc<Guest>,
    path: String,
    reader: Arc<Reader>,
    reading: JoinHandle<()>,
}

/// The reader of the stream, with the requests that wait for answers.
struct Reader {
    guest: Arc<Guest>,
    heard: Arc<Heard>,
    expected: Mutex<Expected>,
    /// The number of the call that last reported progress.
    progress: watch::Sender<u64>,
    path: String,
}

#[derive(Default)]
struct Expected {
    waiting: HashMap<u64, oneshot::Sender<Value>>,
    /// The numbers of requests whose answer may come or not, because the client cancelled them.
    given_up: HashSet<u64>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.reading.abort();
        self.reader.heard.close();
    }
}

impl Stream {
    /// Opens a stream, initializes the session on it, and subscribes.
    pub(super) async fn open(guest: &Arc<Guest>, heard: &Arc<Heard>) -> Result<Self, Trouble> {
        let accept = [("accept", "text/event-stream")];
        let mut arrival = guest
            .send_to(STREAM, "GET", &accept, "", deadline())
            .await?;
        if arrival.status != 200 {
            return Err(Trouble::Odd(format!("status {}", arrival.status)));
        }
        let first = arrival.event(deadline()).await?.ok_or(Trouble::Broken)?;
        if first.name.as_deref() != Some("endpoint") {
            return Err(Trouble::Odd(format!("not an endpoint: {}", first.data)));
        }
        let path = format!("{BASE}{}", first.data);
        let reader = Arc::new(Reader {
            guest: Arc::clone(guest),
            heard: Arc::clone(heard),
            expected: Mutex::default(),
            progress: watch::Sender::new(0),
            path: path.clone(),
        });
        let stream = Self {
            guest: Arc::clone(guest),
            path,
            reading: tokio::spawn(Arc::clone(&reader).read(arrival)),
            reader,
        };
        stream.ask(&guest.initialize()).await?.result()?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        stream.post(&ready).await?;
        let params = json!({ "uri": guest.uri() });
        let subscribe = guest.request(guest.number(), "resources/subscribe", params);
        stream.ask(&subscribe).await?.result()?;
        heard.open();
        Ok(stream)
    }

    fn is_ended(&self) -> bool {
        self.reading.is_finished()
    }

    /// Calls a tool, and checks that the answer has its number and its caller.
    pub(super) async fn called(
        &self,
        kind: Kind,
        tool: &str,
        suffix: &str,
    ) -> Result<Kind, (Kind, Trouble)> {
        let number = self.guest.number();
        let answered = self.ask(&self.guest.call(tool, number)).await;
        let result = answered.and_then(Ended::result);
        let result = result.map_err(|trouble| (kind, trouble))?;
        let expected = format!("{}{suffix}", self.guest.said(tool, number));
        self.guest.hold(&result, &expected);
        Ok(kind)
    }

    /// Cancels a call after its first step. No answer may come.
    async fn cancelled(&self) -> Result<Kind, (Kind, Trouble)> {
        let kind = Kind::Cancel;
        self.try_cancel().await.map_err(|trouble| (kind, trouble))?;
        Ok(kind)
    }

    async fn try_cancel(&self) -> Result<(), Trouble> {
        let number = self.guest.number();
        let (sender, mut answer) = oneshot::channel();
        let mut progress = self.reader.progress.subscribe();
        self.reader.expect(number, sender);
        let sent = self.post(&self.guest.call("endless", number)).await;
        if let Err(trouble) = sent {
            self.reader.give_up(number);
            return Err(trouble);
        }
        let begun = timeout_at(deadline(), async {
            tokio::select! {
                _ = progress.wait_for(|last| *last == number) => Ok(()),
                answer = &mut answer => Err(answer),
            }
        });
        match begun.await {
            Ok(Ok(())) => {}
            Ok(Err(Ok(answer))) => return Err(Trouble::Odd(answer.to_string())),
            Ok(Err(Err(_))) => return Err(Trouble::Broken),
            Err(_) => return Err(Trouble::Hung),
        }
        let message = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": number, "reason": "enough" },
        });
        self.insist_on(&message).await?;
        if let Ok(Ok(answer)) = timeout(NO_ANSWER_WITHIN, answer).await {
            let problem = format!("an answer after it was cancelled: {answer}");
            self.guest.fault(Fault::Doubled, &problem);
        }
        Ok(())
    }

    /// Sends a request, and waits for its answer on the stream.
    async fn ask(&self, message: &Value) -> Result<Ended, Trouble> {
        let number = message["id"].as_u64().unwrap_or_default();
        let (sender, answer) = oneshot::channel();
        self.reader.expect(number, sender);
        if let Err(trouble) = self.post(message).await {
            self.reader.give_up(number);
            return Err(trouble);
        }
        match timeout_at(deadline(), answer).await {
            Ok(Ok(answer)) => Ok(Ended::Answer(answer)),
            Ok(Err(_)) => Err(Trouble::Broken),
            Err(_) => Err(Trouble::Hung),
        }
    }

    /// Posts a cancellation until it is accepted: without it the call would continue.
    async fn insist_on(&self, message: &Value) -> Result<(), Trouble> {
        let last = deadline();
        loop {
            let began = Instant::now();
            match self.post(message).await {
                Err(trouble @ (Trouble::Refused(_) | Trouble::Broken)) if began < last => {
                    self.guest.note(Kind::Cancel, &trouble, began);
                }
                taken => return taken,
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn post(&self, message: &Value) -> Result<(), Trouble> {
        match self.guest.post_to(&self.path, message).await {
            // The replica with the stream has ended, or was silent for so long that it counts as
            // ended. As the refusal says, the client opens another stream.
            Err(Trouble::NoSession) => {
                self.reading.abort();
                Err(Trouble::Told)
            }
            posted => posted,
        }
    }
}

impl Guest {
    async fn post_to(&self, path: &str, message: &Value) -> Result<(), Trouble> {
        let accept = [("accept", "application/json, text/event-stream")];
        let body = message.to_string();
        let taken = self.send_to(path, "POST", &accept, &body, deadline());
        match taken.await?.status {
            202 => Ok(()),
            404 => Err(Trouble::NoSession),
            status => Err(Trouble::Odd(format!("status {status} for {message}"))),
        }
    }
}

impl Reader {
    fn expect(&self, number: u64, sender: oneshot::Sender<Value>) {
        let mut expected = self.expected.lock().expect("nothing panics with it");
        expected.waiting.insert(number, sender);
    }

    fn give_up(&self, number: u64) {
        let mut expected = self.expected.lock().expect("nothing panics with it");
        expected.waiting.remove(&number);
        expected.given_up.insert(number);
    }

    async fn read(self: Arc<Self>, mut arrival: Arrival) {
        let deadline = Instant::now() + STANDING;
        let trouble = loop {
            match arrival.event(deadline).await {
                Ok(Some(event)) => match event.message() {
                    Ok(Some(message)) => self.take(message),
                    Ok(None) => {}
                    Err(trouble) => break trouble,
                },
                Ok(None) => break Trouble::Broken,
                Err(trouble) => break trouble,
            }
        };
        self.heard.close();
        self.guest.note(Kind::Open, &trouble, Instant::now());
        // Waiting requests learn that nothing more arrives.
        let mut expected = self.expected.lock().expect("nothing panics with it");
        expected.waiting.clear();
    }

    fn take(self: &Arc<Self>, message: Value) {
        let Some(method) = message["method"].as_str() else {
            return self.answer(message);
        };
        if let Some(id) = message.get("id") {
            let Some(answer) = self.guest.answer_to(method, &message["params"]) else {
                return;
            };
            let reply = json!({ "jsonrpc": "2.0", "id": id, "result": answer });
            tokio::spawn(Arc::clone(self).reply(reply));
        } else if method == "notifications/progress" {
            let token = message["params"]["progressToken"].as_u64();
            self.progress.send_replace(token.unwrap_or_default());
        } else {
            self.heard.take(&self.guest, &message);
        }
    }

    fn answer(&self, message: Value) {
        let number = message["id"].as_u64().unwrap_or_default();
        let mut expected = self.expected.lock().expect("nothing panics with it");
        if let Some(waiting) = expected.waiting.remove(&number) {
            // The client may have cancelled it in the meantime.
            let _ = waiting.send(message);
        } else if !expected.given_up.remove(&number) {
            drop(expected);
            let problem = format!("no request waits for {message}");
            self.guest.fault(Fault::Doubled, &problem);
        }
    }

    /// Answers a question through any replica, until the answer is accepted.
    async fn reply(self: Arc<Self>, reply: Value) {
        let last = deadline();
        while Instant::now() < last {
            let began = Instant::now();
            match self.guest.post_to(&self.path, &reply).await {
                // A call whose stream is gone needs no answer.
                Ok(()) | Err(Trouble::NoSession) => return,
                Err(trouble) => self.guest.note(Kind::Ask, &trouble, began),
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

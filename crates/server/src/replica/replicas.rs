//! This replica: its node id, its store, and the other replicas.

use std::{
    collections::HashSet,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use futures_core::future::BoxFuture;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use turnbuckle_base::{lock::Mutex, wall_clock};
use turnbuckle_protocol::{Revision, SubscriptionFilter};
use turnbuckle_session::round::{
    KeyRing,
    seal::{NONCE_BYTES, Nonce},
};
use turnbuckle_store::{
    JoinGuard, ReplicaStores,
    bus::{Bus, NodeId, Recipient},
    event::EventLog,
    limit::SharedLimits,
    session::Sessions,
};

use super::{
    Handshake, HandshakeRest, Message, OpenedId, Outcome, Place,
    calls::{Calls, MAX_TELLING},
    event_writer::EventWriter,
    handshake::SealedId,
    letter::{Content, Letter},
    seen::Seen,
};

/// How long a session lasts. A session id cannot be revoked once a client has it, so it must
/// expire. A client whose session has expired opens another one.
const SESSION_LIFE: Duration = Duration::from_hours(24);

/// How many messages of other replicas are handled at a time. Messages that wait for events of a
/// stream count for as long as they wait.
const MAX_AT_WORK: usize = 4096;

/// 64 KiB: decrypting and parsing a longer message of another replica may take milliseconds, so it is
/// done where it delays no other call.
const LONG_MESSAGE: usize = 64 * 1024;

/// How long to wait at the start until messages of other replicas arrive.
const READY_WITHIN: Duration = Duration::from_secs(5);

pub(super) const LETTER: &[u8] = b"letter";

/// Returns the current keys.
pub(crate) type Keys = Arc<dyn Fn() -> Arc<KeyRing> + Send + Sync>;

/// Whether the streams of calls can be resumed after their replica has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamLife {
    /// Streams end with their replica.
    Local,
    /// The events of streams are kept in the store that replicas share.
    Durable,
}

/// Handles messages of other replicas. Each HTTP service has its own sessions, so each is a
/// handler.
pub(crate) trait MessageHandler: Send + Sync {
    /// Handles a message. Returns `None` if the message does not concern this handler.
    fn take(self: Arc<Self>, message: &Message) -> Option<BoxFuture<'static, Outcome>>;
}

/// This replica, and its connection to the others.
pub(crate) struct Replicas {
    pub(crate) node: NodeId,
    pub(crate) sessions: Arc<dyn Sessions>,
    pub(crate) session_life: Duration,
    /// The store with the limits of callers, if the replicas count them together.
    pub(crate) limits: Option<Arc<dyn SharedLimits>>,
    pub(super) bus: Arc<dyn Bus>,
    pub(super) calls: Calls,
    keys: Keys,
    seen: Mutex<Seen>,
    handlers: Mutex<Vec<Weak<dyn MessageHandler>>>,
    own_handlers: Mutex<Vec<Arc<dyn MessageHandler>>>,
    next_place: AtomicU64,
    pub(super) at_work: Arc<Semaphore>,
    /// Limits how many long messages of other replicas are read at the same time.
    readers: Arc<Semaphore>,
    /// The calls of other replicas that are being handled.
    working: Mutex<HashSet<(NodeId, u64)>>,
    /// Limits how many messages to all are sent again.
    pub(super) telling: Arc<Semaphore>,
    joined: Mutex<Option<JoinGuard>>,
    pub(super) runtime: Handle,
    /// Writes the events of streams to the store, if they can be resumed after this replica has
    /// ended.
    pub(super) events: Option<EventWriter>,
    pub(super) event_log: Arc<dyn EventLog>,
}

impl Replicas {
    /// Joins the other replicas. Must be called inside a runtime.
    pub(crate) fn join(
        stores: &ReplicaStores,
        node: NodeId,
        streams: StreamLife,
        keys: Keys,
    ) -> Arc<Self> {
        let is_durable = streams == StreamLife::Durable;
        let replicas = Arc::new(Self {
            node,
            sessions: Arc::clone(&stores.sessions),
            session_life: SESSION_LIFE,
            limits: stores.limits.clone(),
            bus: Arc::clone(&stores.bus),
            calls: Calls::default(),
            keys,
            seen: Mutex::default(),
            handlers: Mutex::default(),
            own_handlers: Mutex::default(),
            next_place: AtomicU64::new(0),
            at_work: Arc::new(Semaphore::new(MAX_AT_WORK)),
            readers: Arc::new(Semaphore::new(1)),
            working: Mutex::default(),
            telling: Arc::new(Semaphore::new(MAX_TELLING)),
            joined: Mutex::default(),
            runtime: Handle::current(),
            events: is_durable.then(|| EventWriter::start(Arc::clone(&stores.events))),
            event_log: Arc::clone(&stores.events),
        });
        let inbox = Arc::downgrade(&replicas);
        let joined = replicas.bus.join(
            node,
            Arc::new(move |sealed| {
                if let Some(replicas) = inbox.upgrade() {
                    replicas.receive(sealed);
                }
            }),
        );
        *replicas.joined.lock() = Some(joined);
        replicas
    }

    /// Waits until messages of other replicas arrive, but only for a limited time.
    pub(crate) async fn ready(&self) {
        let ready = tokio::time::timeout(READY_WITHIN, self.bus.ready(self.node)).await;
        if ready.is_err() {
            tracing::warn!("no messages of other replicas can arrive yet: the bus is not open");
        }
    }

    /// Stops receiving messages, and reports that this replica has left.
    pub(crate) async fn leave(&self) {
        if let Some(events) = &self.events {
            events.flush().await;
        }
        let joined = self.joined.lock().take();
        drop(joined);
        self.bus.left(self.node).await;
    }

    /// Whether this replica receives no more messages.
    pub(super) fn has_left(&self) -> bool {
        self.joined.lock().is_none()
    }

    /// Adds a handler that handles messages.
    pub(crate) fn add(&self, handler: Weak<dyn MessageHandler>) {
        let mut handlers = self.handlers.lock();
        handlers.retain(|handler| handler.strong_count() > 0);
        handlers.push(handler);
    }

    /// Adds a handler that lives as long as this.
    pub(crate) fn add_own(&self, handler: Arc<dyn MessageHandler>) {
        self.add(Arc::downgrade(&handler));
        self.own_handlers.lock().push(handler);
    }

    /// Runs a future in a task of its own.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// The replicas that run, as far as this one knows.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        self.bus.nodes()
    }

    /// Whether a replica has been silent for so long that it counts as ended.
    pub(crate) fn is_gone(&self, node: NodeId) -> bool {
        self.bus.is_gone(node)
    }

    /// Returns a name that is unique among all replicas.
    pub(crate) fn new_key(&self) -> String {
        self.new_place().to_string()
    }

    /// Returns a place that was never used.
    pub(crate) fn new_place(&self) -> Place {
        Place {
            node: self.node,
            number: self.next_place.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Decrypts the id of a session that has not expired.
    pub(crate) fn open_id(&self, id: &str) -> Option<OpenedId> {
        let opened = OpenedId::open(&(self.keys)(), id)?;
        opened.handshake.time_left(self.session_life, now_ms())?;
        Some(opened)
    }

    /// Returns how long the session of a handshake lasts from now on.
    pub(crate) fn time_left(&self, handshake: &Handshake) -> Duration {
        let left = handshake.time_left(self.session_life, now_ms());
        left.unwrap_or_default()
    }

    /// Creates the data of a handshake that takes place now.
    pub(crate) fn handshake(
        revision: Revision,
        promised: &SubscriptionFilter,
        rest: HandshakeRest,
    ) -> Handshake {
        Handshake::new(revision, now_ms(), promised, rest)
    }

    /// Encrypts a handshake into a session id. Returns the id and the key of its session in stores.
    ///
    /// # Errors
    /// The message for the client.
    pub(crate) async fn make_id(&self, handshake: Handshake) -> Result<(String, String), String> {
        let nonces = [new_nonce()?, new_nonce()?];
        let SealedId { id, key, part } = handshake
            .seal(&(self.keys)(), nonces)
            .ok_or("the session id cannot be encrypted")?;
        if let Some(part) = part {
            let kept = self.sessions.keep_handshake(&key, part, self.session_life);
            kept.await.map_err(|error| {
                tracing::error!(%error, "a large handshake cannot be written to the shared store");
                "the store that replicas share cannot be reached: try again later"
            })?;
        }
        Ok((id, key))
    }

    /// Reads the part of a handshake that was too large for its id from the store.
    pub(crate) async fn handshake_part(&self, key: &str) -> Option<HandshakeRest> {
        match self.sessions.handshake(key).await {
            Ok(part) => HandshakeRest::open(&(self.keys)(), part?),
            Err(error) => {
                tracing::error!(%error, "a large handshake cannot be read from the shared store");
                None
            }
        }
    }

    /// Encrypts bytes for a purpose.
    pub(super) fn seal_for(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let sealed = (self.keys)().seal_bytes(purpose, bytes, new_nonce().ok()?);
        (!sealed.is_empty()).then_some(sealed)
    }

    /// Decrypts bytes that were encrypted for this purpose.
    pub(super) fn open_for(&self, purpose: &[u8], mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let (bytes, _) = (self.keys)().open_bytes(purpose, &mut sealed)?;
        Some(bytes)
    }

    /// Encrypts a letter.
    pub(super) fn seal(&self, letter: &Letter) -> Option<Vec<u8>> {
        self.seal_for(LETTER, &serde_json::to_vec(letter).ok()?)
    }

    /// Handles a message from the bus. It does not wait: a long message is read on a thread for blocking
    /// work.
    fn receive(self: Arc<Self>, sealed: Vec<u8>) {
        if sealed.len() <= LONG_MESSAGE {
            return self.read(sealed);
        }
        let runtime = self.runtime.clone();
        // Ends when the message is read.
        runtime.spawn(async move {
            let turn = Arc::clone(&self.readers).acquire_owned().await;
            let reading = tokio::task::spawn_blocking(move || {
                let _turn = turn.expect("the semaphore is never closed");
                self.read(sealed);
            });
            if let Err(error) = reading.await {
                tracing::error!(%error, "a long message of another replica was lost");
            }
        });
    }

    /// Decrypts and parses a message from the bus, and has it handled.
    fn read(self: Arc<Self>, mut sealed: Vec<u8>) {
        let Some((text, nonce)) = (self.keys)().open_bytes(LETTER, &mut sealed) else {
            tracing::debug!("a message on the bus was not sealed with our secret");
            return;
        };
        let Ok(letter) = serde_json::from_slice::<Letter>(&text) else {
            tracing::debug!("a message on the bus cannot be read");
            return;
        };
        let Some(from) = letter.from() else { return };
        let (call, until_ms) = (letter.call, letter.until_ms);
        let is_new = || self.seen.lock().is_new(nonce, until_ms, now_ms());
        match letter.content {
            Content::Answer(outcome) if is_new() => self.calls.answered(from, call, outcome),
            Content::AtWork if is_new() => self.calls.taken(call),
            // Messages to all also come back to their sender.
            Content::Message(message) if from != self.node => {
                // This comes before the message is recorded, because a dropped message may be sent
                // again.
                let Ok(permit) = Arc::clone(&self.at_work).try_acquire_owned() else {
                    tracing::warn!("too many messages of other replicas: a message was dropped");
                    return;
                };
                if is_new() {
                    self.work(from, call, until_ms, &message, permit);
                } else {
                    self.say_at_work(from, call, until_ms, permit);
                }
            }
            _ => {}
        }
    }

    /// Handles a message, and sends the answer if it is a call.
    fn work(
        self: Arc<Self>,
        from: NodeId,
        call: Option<u64>,
        until_ms: u64,
        message: &Message,
        permit: OwnedSemaphorePermit,
    ) {
        let at_work = call.map(|call| CallAtWork::begin(&self, from, call));
        let working = self.handle(message);
        let runtime = self.runtime.clone();
        // This task ends with the work, which has a deadline.
        runtime.spawn(async move {
            let outcome = working.await;
            drop(at_work);
            if call.is_some() {
                let letter = Letter::new(self.node, call, until_ms, Content::Answer(outcome));
                self.send_answer(from, &letter).await;
            }
            drop(permit);
        });
    }

    /// Answers a replica that sent a message again, if the message is being handled.
    fn say_at_work(
        self: Arc<Self>,
        from: NodeId,
        call: Option<u64>,
        until_ms: u64,
        permit: OwnedSemaphorePermit,
    ) {
        let Some(number) = call else { return };
        if !self.working.lock().contains(&(from, number)) {
            return;
        }
        let runtime = self.runtime.clone();
        // This task ends when the answer has been sent, or could not be sent.
        runtime.spawn(async move {
            let letter = Letter::new(self.node, call, until_ms, Content::AtWork);
            self.send(Recipient::Node(from), &letter).await;
            drop(permit);
        });
    }

    /// Passes a message to the handler that it concerns.
    pub(super) fn handle(&self, message: &Message) -> BoxFuture<'static, Outcome> {
        if let Message::Unknown = message {
            return Box::pin(std::future::ready(Outcome::Unknown));
        }
        let handlers: Vec<_> = self
            .handlers
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        let taken = handlers
            .into_iter()
            .find_map(|handler| handler.take(message));
        taken.unwrap_or_else(|| Box::pin(std::future::ready(Outcome::NotHere)))
    }
}

/// A call of another replica that is being handled.
struct CallAtWork {
    replicas: Arc<Replicas>,
    from: NodeId,
    call: u64,
}

impl CallAtWork {
    fn begin(replicas: &Arc<Replicas>, from: NodeId, call: u64) -> Self {
        replicas.working.lock().insert((from, call));
        Self {
            replicas: Arc::clone(replicas),
            from,
            call,
        }
    }
}

impl Drop for CallAtWork {
    fn drop(&mut self) {
        self.replicas.working.lock().remove(&(self.from, self.call));
    }
}

/// Returns random bytes for one encryption.
fn new_nonce() -> Result<Nonce, String> {
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(|error| {
        format!("could not get random bytes from the operating system: {error}")
    })?;
    Ok(nonce)
}

pub(super) fn now_ms() -> u64 {
    let now = wall_clock::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

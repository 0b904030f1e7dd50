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

/// How long a session lasts. Its id cannot be taken back once a client has it, so that it must come to
/// an end by itself; a client that is told so opens another session.
const SESSION_LIFE: Duration = Duration::from_hours(24);

/// Letters of others that are worked on at a time. Those that wait for events of a stream wait here
/// for as long.
const MAX_AT_WORK: usize = 4096;

/// 64 KiB: opening and reading a longer letter may take milliseconds, and is done where it delays nothing
/// else.
const LONG_LETTER: usize = 64 * 1024;

/// How long to wait at the start for messages of others to arrive.
const READY_WITHIN: Duration = Duration::from_secs(5);

pub(super) const LETTER: &[u8] = b"letter";

/// The keys as they are now.
pub(crate) type Keys = Arc<dyn Fn() -> Arc<KeyRing> + Send + Sync>;

/// Whether the streams of calls outlive their replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamLife {
    /// They end with it.
    Local,
    /// Their events are kept in the store that replicas share.
    Durable,
}

/// Takes what other replicas say. Each HTTP service has its own sessions, and so is a station.
pub(crate) trait Station: Send + Sync {
    /// Takes a message; `None` if it is about nothing here.
    fn take(self: Arc<Self>, message: &Message) -> Option<BoxFuture<'static, Outcome>>;
}

/// This replica among the others.
pub(crate) struct Replicas {
    pub(crate) node: NodeId,
    pub(crate) sessions: Arc<dyn Sessions>,
    pub(crate) session_life: Duration,
    /// Limits of callers, if the replicas count them together.
    pub(crate) limits: Option<Arc<dyn SharedLimits>>,
    pub(super) bus: Arc<dyn Bus>,
    pub(super) calls: Calls,
    keys: Keys,
    seen: Mutex<Seen>,
    stations: Mutex<Vec<Weak<dyn Station>>>,
    own_stations: Mutex<Vec<Arc<dyn Station>>>,
    next_place: AtomicU64,
    pub(super) at_work: Arc<Semaphore>,
    /// Long letters that are read at the same time.
    readers: Arc<Semaphore>,
    /// The calls of other replicas that are worked on.
    working: Mutex<HashSet<(NodeId, u64)>>,
    /// Messages for all that are sent again.
    pub(super) telling: Arc<Semaphore>,
    joined: Mutex<Option<JoinGuard>>,
    pub(super) runtime: Handle,
    /// Writes the events of streams down, if they outlive their replica.
    pub(super) events: Option<EventWriter>,
    pub(super) event_log: Arc<dyn EventLog>,
}

impl Replicas {
    /// Joins the others. Must be called inside a runtime.
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
            stations: Mutex::default(),
            own_stations: Mutex::default(),
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

    /// Waits until messages of others arrive, or for so long that they will have to come later.
    pub(crate) async fn ready(&self) {
        let ready = tokio::time::timeout(READY_WITHIN, self.bus.ready(self.node)).await;
        if ready.is_err() {
            tracing::warn!("no message of another replica can arrive yet: the bus is not open");
        }
    }

    /// Takes no more messages, and says that this replica is gone.
    pub(crate) async fn leave(&self) {
        if let Some(events) = &self.events {
            events.flush().await;
        }
        let joined = self.joined.lock().take();
        drop(joined);
        self.bus.left(self.node).await;
    }

    /// Whether this replica takes no more messages.
    pub(super) fn has_left(&self) -> bool {
        self.joined.lock().is_none()
    }

    /// Has messages handed to a station.
    pub(crate) fn add(&self, station: Weak<dyn Station>) {
        let mut stations = self.stations.lock();
        stations.retain(|station| station.strong_count() > 0);
        stations.push(station);
    }

    /// Has messages handed to a station that lives as long as this.
    pub(crate) fn add_own(&self, station: Arc<dyn Station>) {
        self.add(Arc::downgrade(&station));
        self.own_stations.lock().push(station);
    }

    /// Runs something beside the caller.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// The replicas that are there, as far as is known here.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        self.bus.nodes()
    }

    /// Whether a replica has been silent for so long that its work can be given up.
    pub(crate) fn is_gone(&self, node: NodeId) -> bool {
        self.bus.is_gone(node)
    }

    /// A name that no other replica uses, and this one once.
    pub(crate) fn new_key(&self) -> String {
        self.new_place().to_string()
    }

    /// A place that was never used.
    pub(crate) fn new_place(&self) -> Place {
        Place {
            node: self.node,
            number: self.next_place.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Opens the id of a session whose time is not over.
    pub(crate) fn open_id(&self, id: &str) -> Option<OpenedId> {
        let opened = OpenedId::open(&(self.keys)(), id)?;
        opened.handshake.time_left(self.session_life, now_ms())?;
        Some(opened)
    }

    /// How long the session of a handshake lasts from now on.
    pub(crate) fn time_left(&self, handshake: &Handshake) -> Duration {
        let left = handshake.time_left(self.session_life, now_ms());
        left.unwrap_or_default()
    }

    /// A handshake that takes place now.
    pub(crate) fn handshake(
        revision: Revision,
        promised: &SubscriptionFilter,
        rest: HandshakeRest,
    ) -> Handshake {
        Handshake::new(revision, now_ms(), promised, rest)
    }

    /// Makes an id of a handshake, and gives the name under which stores know its session.
    ///
    /// # Errors
    /// What to tell the client.
    pub(crate) async fn make_id(&self, handshake: Handshake) -> Result<(String, String), String> {
        let nonces = [new_nonce()?, new_nonce()?];
        let SealedId { id, key, part } = handshake
            .seal(&(self.keys)(), nonces)
            .ok_or("there is no cipher to make a session id with")?;
        if let Some(part) = part {
            let kept = self.sessions.keep_handshake(&key, part, self.session_life);
            kept.await.map_err(|error| {
                tracing::error!(%error, "a large handshake cannot be kept");
                "the store that replicas share cannot be reached: try again later"
            })?;
        }
        Ok((id, key))
    }

    /// The part of a handshake that was too large for its id.
    pub(crate) async fn handshake_part(&self, key: &str) -> Option<HandshakeRest> {
        match self.sessions.handshake(key).await {
            Ok(part) => HandshakeRest::open(&(self.keys)(), part?),
            Err(error) => {
                tracing::error!(%error, "a large handshake cannot be read");
                None
            }
        }
    }

    /// Seals bytes for a purpose.
    pub(super) fn seal_for(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let sealed = (self.keys)().seal_bytes(purpose, bytes, new_nonce().ok()?);
        (!sealed.is_empty()).then_some(sealed)
    }

    /// Opens what was sealed for a purpose.
    pub(super) fn open_for(&self, purpose: &[u8], mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let (bytes, _) = (self.keys)().open_bytes(purpose, &mut sealed)?;
        Some(bytes)
    }

    /// Seals a letter.
    pub(super) fn seal(&self, letter: &Letter) -> Option<Vec<u8>> {
        self.seal_for(LETTER, &serde_json::to_vec(letter).ok()?)
    }

    /// Takes what came over the bus. It does not wait: a long letter is read on a thread for blocking
    /// work.
    fn receive(self: Arc<Self>, sealed: Vec<u8>) {
        if sealed.len() <= LONG_LETTER {
            return self.read(sealed);
        }
        let runtime = self.runtime.clone();
        // Ends when the letter is read.
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

    /// Opens a letter, and does what it says.
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
            // What is for all comes back to the one who sent it.
            Content::Message(message) if from != self.node => {
                // Before it is noted that the message came: one that is dropped may come again.
                let Ok(permit) = Arc::clone(&self.at_work).try_acquire_owned() else {
                    tracing::warn!("too many messages of other replicas: one was dropped");
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

    /// Has a message worked on, and sends its answer if it is a call.
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
        // Ends with the work, which has a deadline.
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

    /// Tells a replica that sent a message again whether it is worked on.
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
        // Ends when it is sent, or could not be.
        runtime.spawn(async move {
            let letter = Letter::new(self.node, call, until_ms, Content::AtWork);
            self.send(Recipient::Node(from), &letter).await;
            drop(permit);
        });
    }

    /// Hands a message to the station that it is about.
    pub(super) fn handle(&self, message: &Message) -> BoxFuture<'static, Outcome> {
        if let Message::Unknown = message {
            return Box::pin(std::future::ready(Outcome::Unknown));
        }
        let stations: Vec<_> = self
            .stations
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        let taken = stations
            .into_iter()
            .find_map(|station| station.take(message));
        taken.unwrap_or_else(|| Box::pin(std::future::ready(Outcome::NotHere)))
    }
}

/// A call of another replica that is worked on.
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

/// Random bytes that are used for one box.
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

//! One session with a server, and its log level and subscriptions.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{Connection, RelayEvent, RelayRequest};
use turnbuckle_protocol::{
    LoggingLevel, Revision,
    envelope::{Edit, Raw},
};

use super::{
    LaneHub,
    processes::{ProcessPlace, ProcessPlaces},
};

/// How long a server may take to confirm a log level.
const LEVEL_WITHIN: Duration = Duration::from_secs(10);

/// One session with a server. For a modern server it is one connection, because there are no sessions.
pub(crate) struct Lane {
    pub(crate) connection: Connection,
    pub(crate) hub: Arc<LaneHub>,
    /// The most verbose log level that was requested.
    level: tokio::sync::Mutex<Option<LoggingLevel>>,
    in_use: AtomicUsize,
    last_used: Mutex<Instant>,
    /// Closed with the session. Followers of resources in the session wait for this.
    followers: watch::Sender<()>,
    /// Its number among the sessions of this process.
    pub(crate) number: u64,
    /// The places that its process occupies.
    places: Mutex<Vec<ProcessPlace>>,
    /// Whether its server was replaced or removed.
    is_retired: AtomicBool,
    spare: Mutex<Spare>,
}

/// Users of the lane that do not need it if a call does.
#[derive(Default)]
struct Spare {
    count: usize,
    /// A reference to the lane itself, which keeps it open.
    lane: Option<Arc<Lane>>,
}

/// A use of a lane by a call, which keeps the lane open.
pub(crate) struct LaneUse(Arc<Lane>);

impl std::ops::Deref for LaneUse {
    type Target = Arc<Lane>;

    fn deref(&self) -> &Arc<Lane> {
        &self.0
    }
}

impl Drop for LaneUse {
    fn drop(&mut self) {
        *self.0.last_used.lock() = Instant::now();
        self.0.in_use.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Keeps a lane open until its place is needed for another lane.
pub(crate) struct SpareUse(Weak<Lane>);

impl SpareUse {
    /// The lane, if it is still open.
    pub(crate) fn lane(&self) -> Option<Arc<Lane>> {
        self.0.upgrade().filter(|lane| !lane.is_over())
    }
}

impl Drop for SpareUse {
    fn drop(&mut self) {
        let Some(lane) = self.0.upgrade() else { return };
        let let_go = {
            let mut spare = lane.spare.lock();
            spare.count -= 1;
            let is_last = spare.count == 0;
            spare.lane.take_if(|_| is_last)
        };
        drop(let_go);
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.free_places_at_end();
    }
}

impl Lane {
    pub(crate) fn new(
        number: u64,
        connection: Connection,
        hub: Arc<LaneHub>,
        places: Vec<ProcessPlace>,
    ) -> Self {
        if connection.uses_http_sse() {
            hub.set_pipe();
        }
        Self {
            connection,
            hub,
            level: tokio::sync::Mutex::default(),
            in_use: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            followers: watch::Sender::new(()),
            number,
            places: Mutex::new(places),
            is_retired: AtomicBool::new(false),
            spare: Mutex::default(),
        }
    }

    /// Marks the session as retired, because its server was replaced or removed. New requests no
    /// longer find it.
    pub(super) fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }

    /// Whether new requests can no longer use it.
    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_closed() || self.is_retired.load(Ordering::Relaxed)
    }

    /// Releases the places of a process whose connection is closed, even if the session is still
    /// referenced.
    pub(super) fn free_places_if_closed(&self) {
        if self.connection.is_closed() {
            self.free_places_at_end();
        }
    }

    /// Releases the places when the process has ended. It may run for a while after its connection
    /// is closed.
    fn free_places_at_end(&self) {
        let mut places = std::mem::take(&mut *self.places.lock());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if places.is_empty() {
            return;
        }
        places.iter_mut().for_each(ProcessPlace::ends);
        let connection = self.connection.clone();
        runtime.spawn(async move {
            connection.close().await;
            drop(places);
        });
    }

    pub(crate) fn enter(self: &Arc<Self>) -> LaneUse {
        self.in_use.fetch_add(1, Ordering::AcqRel);
        LaneUse(Arc::clone(self))
    }

    /// Keeps the lane open without using it: it ends when a place for another process is needed.
    pub(crate) fn enter_spare(self: &Arc<Self>) -> SpareUse {
        let mut spare = self.spare.lock();
        spare.count += 1;
        spare.lane = Some(Arc::clone(self));
        SpareUse(Arc::downgrade(self))
    }

    /// Takes the reference that keeps the lane open for users that do not need it.
    pub(super) fn take_spare(&self) -> Option<Arc<Lane>> {
        self.spare.lock().lane.take()
    }

    /// Whether its process occupies one of these places.
    pub(super) fn has_place_of(&self, places: &Arc<ProcessPlaces>) -> bool {
        let own = self.places.lock();
        own.iter().any(|place| place.is_of(places))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.connection.server().revision()
    }

    /// Waits until the session ends. The returned future does not keep the session open, so the
    /// session can still be closed for the calls of others.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut ended = self.followers.subscribe();
        async move { while ended.changed().await.is_ok() {} }
    }

    /// Whether anything waits for its end.
    pub(crate) fn is_followed(&self) -> bool {
        self.followers.receiver_count() > 0
    }

    /// How long no call has used it; `None` while a call uses it.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        let is_idle = self.in_use.load(Ordering::Acquire) == 0;
        is_idle.then(|| self.last_used.lock().elapsed())
    }

    /// Lets a legacy server send log messages of this severity and above (G13). The level only
    /// becomes more verbose; messages that a call did not request are dropped here.
    pub(crate) async fn want_level(&self, level: LoggingLevel) {
        let can = self.connection.server().capabilities();
        if self.revision().is_modern() || can.is_some_and(|can| can.logging.is_none()) {
            return;
        }
        let mut now = self.level.lock().await;
        if now.is_some_and(|now| now <= level) {
            return;
        }
        let level_text = serde_json::json!(level).to_string();
        let params = Edit::new(Raw::EMPTY_OBJECT).set(&["level"], level_text);
        let request = RelayRequest::new("logging/setLevel", params.finish().ok());
        let Ok(mut call) = self.connection.relay(request.with_deadline(LEVEL_WITHIN)) else {
            return;
        };
        loop {
            match call.next().await {
                RelayEvent::Result(_) => *now = Some(level),
                RelayEvent::Error(_) | RelayEvent::Lost(_) => {}
                _ => continue,
            }
            return;
        }
    }
}

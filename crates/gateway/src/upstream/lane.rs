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

/// How long a server may take to note a log level.
const LEVEL_WITHIN: Duration = Duration::from_secs(10);

/// One session with a server; for a modern server one connection, which has no session.
pub(crate) struct Lane {
    pub(crate) connection: Connection,
    pub(crate) hub: Arc<LaneHub>,
    /// The mildest log messages that were asked for.
    level: tokio::sync::Mutex<Option<LoggingLevel>>,
    in_use: AtomicUsize,
    last_used: Mutex<Instant>,
    /// Closed with the session. Those who follow resources in it wait for that.
    followers: watch::Sender<()>,
    /// Its number among the sessions of this process.
    pub(crate) number: u64,
    /// The places that its process takes.
    places: Mutex<Vec<ProcessPlace>>,
    /// Whether its server was replaced or removed.
    is_retired: AtomicBool,
    spare: Mutex<Spare>,
}

/// Those who use the lane only while no call needs it.
#[derive(Default)]
struct Spare {
    count: usize,
    /// The lane itself, which is kept open by this.
    lane: Option<Arc<Lane>>,
}

/// A call on a lane, which keeps the lane open.
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

/// Keeps a lane open until its place is needed for another.
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

    /// Its server was replaced or removed: no request finds it any more.
    pub(super) fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }

    /// Whether no request can use it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_closed() || self.is_retired.load(Ordering::Relaxed)
    }

    /// Gives back the places of a process that is over, though something may still hold the session.
    pub(super) fn free_places_if_closed(&self) {
        if self.connection.is_closed() {
            self.free_places_at_end();
        }
    }

    /// Gives back the places when the process has ended. It may go on for a while after its connection is
    /// closed.
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

    /// Keeps it open, and not in use: it ends when a place for another process is needed.
    pub(crate) fn enter_spare(self: &Arc<Self>) -> SpareUse {
        let mut spare = self.spare.lock();
        spare.count += 1;
        spare.lane = Some(Arc::clone(self));
        SpareUse(Arc::downgrade(self))
    }

    /// What keeps it open for those who can do without it.
    pub(super) fn take_spare(&self) -> Option<Arc<Lane>> {
        self.spare.lock().lane.take()
    }

    /// Whether its process takes one of these places.
    pub(super) fn has_place_of(&self, places: &Arc<ProcessPlaces>) -> bool {
        let own = self.places.lock();
        own.iter().any(|place| place.is_of(places))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.connection.server().revision()
    }

    /// Follows it: waits until it is kept no longer. A follower does not keep it open, so that it makes
    /// room for the calls of others.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut ended = self.followers.subscribe();
        async move { while ended.changed().await.is_ok() {} }
    }

    /// Whether something waits for its end.
    pub(crate) fn is_followed(&self) -> bool {
        self.followers.receiver_count() > 0
    }

    /// For how long no call has used it; `None` while one does.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        let is_idle = self.in_use.load(Ordering::Acquire) == 0;
        is_idle.then(|| self.last_used.lock().elapsed())
    }

    /// Has a legacy server send log messages of this severity and above (G13). Levels only become more
    /// verbose: what a call did not ask for is dropped here.
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

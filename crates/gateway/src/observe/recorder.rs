//! The recorder: counters and the most recent requests.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::Revision;
use turnbuckle_server::RelayedRequest;
use turnbuckle_session::round::RequestDigest;

use super::{
    exchange::{ExchangeSummary, ExchangeView},
    histogram::Histogram,
    record::{Beginning, RequestRecord},
    series::{Period, Series},
    view::{
        CallerView, DenialView, RevisionPairView, ServerView, Traffic, WaitingQuestion, WaitingView,
    },
};

/// How many requests are kept.
const MAX_EXCHANGES: usize = 1_000;

/// 16 MiB of messages. If messages are large, fewer requests are kept.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How many callers are counted. Clients choose their names, so the caller with the oldest last
/// request is dropped in favour of a new one.
const MAX_CALLERS: usize = 500;

/// How many different denials are kept.
const MAX_DENIALS: usize = 200;

/// The longest name of a client that is kept.
const MAX_CLIENT: usize = 80;

/// How many times a small chart shows.
const RECENT: usize = 24;

/// Records the requests and messages that pass through a gateway, and counts them. Give it to
/// [`Gateway::observe`](crate::Gateway::observe). It keeps the newest 1,000 requests with up to 16
/// MiB of messages.
pub struct Recorder {
    own: Weak<Self>,
    began: Instant,
    counts: Mutex<Counts>,
    kept: Mutex<Kept>,
    bytes: AtomicUsize,
    waiting: Mutex<(u64, BTreeMap<u64, WaitingQuestion>)>,
}

#[derive(Default)]
struct Kept {
    next: u64,
    records: VecDeque<Arc<RequestRecord>>,
    /// Requests that were answered with questions, to recognise their retries.
    asked: VecDeque<(RequestDigest, u64)>,
}

struct Counts {
    series: Series,
    cells: BTreeMap<(Revision, Revision), (u64, u64)>,
    callers: HashMap<CallerKey, CallerCount>,
    servers: HashMap<String, ServerCount>,
    denials: VecDeque<DenialView>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct CallerKey {
    caller: Option<String>,
    client: Option<String>,
    revision: Revision,
}

struct CallerCount {
    calls: u64,
    asked: u64,
    last: Instant,
}

#[derive(Default)]
struct ServerCount {
    calls: u64,
    errors: u64,
    times: Histogram,
    recent: VecDeque<f64>,
    restarts: u64,
    failures: u64,
    is_failed: bool,
    retry_at: Option<Instant>,
}

/// The outcome of a request.
pub(super) struct Ended {
    pub(super) took: Duration,
    pub(super) is_asked: bool,
}

/// Marks a question as waiting until it is dropped.
pub(crate) struct WaitingGuard {
    recorder: Arc<Recorder>,
    number: u64,
}

impl Drop for WaitingGuard {
    fn drop(&mut self) {
        self.recorder.waiting.lock().1.remove(&self.number);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Recorder")
            .field("newest", &self.newest())
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// Makes an empty recorder.
    pub fn new() -> Arc<Self> {
        let began = Instant::now();
        Arc::new_cyclic(|own| Self {
            own: own.clone(),
            began,
            counts: Mutex::new(Counts {
                series: Series::new(began),
                cells: BTreeMap::new(),
                callers: HashMap::new(),
                servers: HashMap::new(),
                denials: VecDeque::new(),
            }),
            kept: Mutex::default(),
            bytes: AtomicUsize::new(0),
            waiting: Mutex::default(),
        })
    }

    /// When the recording began.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// The number of the newest request; 0 before the first one. Pass it to
    /// [`exchanges`](Self::exchanges) to get later requests.
    pub fn newest(&self) -> u64 {
        self.kept.lock().next
    }

    /// Begins the record of a request.
    pub(crate) fn begin(&self, request: &RelayedRequest<'_>) -> Option<Arc<RequestRecord>> {
        let own = self.own.upgrade()?;
        let client = request.client_info().map(|info| {
            let mut text = format!("{} {}", info.name, info.version);
            let end = (0..=MAX_CLIENT.min(text.len()))
                .rev()
                .find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or_default());
            text
        });
        let is_retry =
            request.revision().is_modern() && request.members().get("requestState").is_some();
        let digest = is_retry.then(|| RequestDigest::of(request.method(), request.members()));
        let mut kept = self.kept.lock();
        kept.next += 1;
        let beginning = Beginning {
            number: kept.next,
            time: now(),
            continues: digest.and_then(|digest| kept.take_asked(digest)),
        };
        let record = Arc::new(RequestRecord::new(own, request, client, &beginning));
        kept.records.push_back(Arc::clone(&record));
        while kept.records.len() > MAX_EXCHANGES
            || (self.bytes() > MAX_BYTES && kept.records.len() > 1)
        {
            let Some(old) = kept.records.pop_front() else {
                break;
            };
            self.forget(&old);
        }
        drop(kept);
        record.came(request.params());
        Some(record)
    }

    /// The size of the kept messages, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn grew(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Drops a request and its messages.
    pub(super) fn forget(&self, record: &RequestRecord) {
        self.bytes.fetch_sub(record.forget(), Ordering::Relaxed);
    }

    /// Counts a request that was sent to a server of this revision.
    pub(super) fn sent(&self, from: Revision, to: Revision) {
        self.counts.lock().cells.entry((from, to)).or_default().0 += 1;
    }

    /// Counts questions of a server to its client.
    pub(super) fn asked(&self, record: &RequestRecord, to: Option<Revision>, questions: u32) {
        let questions = u64::from(questions);
        let mut counts = self.counts.lock();
        if let Some(to) = to {
            counts.cells.entry((record.from, to)).or_default().1 += questions;
        }
        counts.caller(record).asked += questions;
    }

    /// Counts an answer of a server.
    pub(super) fn answered(&self, server: &str, took: Duration, is_error: bool) {
        let mut counts = self.counts.lock();
        let count = counts.server(server);
        count.calls += 1;
        count.errors += u64::from(is_error);
        count.times.add(took);
        count.recent.push_back(took.as_secs_f64() * 1e3);
        if count.recent.len() > RECENT {
            count.recent.pop_front();
        }
    }

    pub(super) fn ended(&self, record: &RequestRecord, ended: &Ended) {
        let now = Instant::now();
        {
            let mut counts = self.counts.lock();
            counts.series.request(now, ended.took);
            let caller = counts.caller(record);
            caller.calls += 1;
            caller.last = now;
        }
        if ended.is_asked
            && let Some(digest) = record.digest.get()
        {
            let mut kept = self.kept.lock();
            kept.asked.push_back((*digest, record.number));
            if kept.asked.len() > MAX_EXCHANGES {
                kept.asked.pop_front();
            }
        }
    }

    /// Counts a request that was denied or limited before it was served.
    pub(crate) fn denied(&self, name: &str, caller: Option<&str>, reason: String) {
        let mut counts = self.counts.lock();
        counts.series.denied(Instant::now());
        let same = |known: &DenialView| {
            known.name == name && known.caller.as_deref() == caller && known.reason == reason
        };
        let known = counts.denials.iter().position(same);
        let known = known.and_then(|index| counts.denials.remove(index));
        counts.denials.push_front(DenialView {
            name: name.to_owned(),
            caller: caller.map(str::to_owned),
            reason,
            count: known.map_or(0, |known| known.count) + 1,
            time: now(),
        });
        counts.denials.truncate(MAX_DENIALS);
    }

    /// Records that a server is ready.
    pub(crate) fn server_ready(&self, server: &str) {
        let mut counts = self.counts.lock();
        let count = counts.server(server);
        count.restarts += u64::from(std::mem::take(&mut count.is_failed));
        count.retry_at = None;
    }

    /// Records that a server failed, and when it is restarted.
    pub(crate) fn server_failed(&self, server: &str, retry_after: Option<Duration>) {
        let mut counts = self.counts.lock();
        let count = counts.server(server);
        count.failures += 1;
        count.is_failed = true;
        count.retry_at = retry_after.and_then(|after| Instant::now().checked_add(after));
    }

    /// Drops the counters of a removed server.
    pub(crate) fn server_removed(&self, server: &str) {
        self.counts.lock().servers.remove(server);
    }

    pub(super) fn waits(self: &Arc<Self>, waiting: WaitingQuestion) -> WaitingGuard {
        let mut all = self.waiting.lock();
        all.0 += 1;
        let number = all.0;
        all.1.insert(number, waiting);
        drop(all);
        WaitingGuard {
            recorder: Arc::clone(self),
            number,
        }
    }

    /// The questions that clients with sessions are being asked.
    pub(crate) fn waiting(&self, now: Instant) -> Vec<WaitingView> {
        let all = self.waiting.lock();
        all.1
            .values()
            .map(|waiting| waiting.clone().view(now))
            .collect()
    }

    /// Adds the counters of a server to its view.
    pub(crate) fn fill(&self, view: &mut ServerView, now: Instant) {
        let mut counts = self.counts.lock();
        let Some(count) = counts.servers.get_mut(&view.id) else {
            return;
        };
        view.calls = count.calls;
        view.errors = count.errors;
        view.p50 = count.times.percentile(0.5);
        view.recent = count.recent.iter().copied().collect();
        view.restarts = count.restarts;
        view.failures = count.failures;
        let left = count.retry_at.map(|at| at.saturating_duration_since(now));
        view.retry_in = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    }

    /// Returns the counters: requests over this period, calls by revision, callers and denials.
    pub fn traffic(&self, period: Period) -> Traffic {
        let now = Instant::now();
        let newest = self.newest();
        let mut counts = self.counts.lock();
        let series = counts.series.view(period, now);
        let cells = counts.cells.iter();
        let cells = cells.map(|((from, to), (calls, asked))| RevisionPairView {
            from: *from,
            to: *to,
            calls: *calls,
            asked: *asked,
        });
        let callers = counts.callers.iter().map(|(key, count)| {
            let ago = now.saturating_duration_since(count.last);
            CallerView {
                caller: key.caller.clone(),
                client: key.client.clone(),
                revision: key.revision,
                calls: count.calls,
                asked: count.asked,
                ago: u64::try_from(ago.as_millis()).unwrap_or(u64::MAX),
            }
        });
        let mut callers: Vec<CallerView> = callers.collect();
        callers.sort_by_key(|caller| caller.ago);
        Traffic {
            series,
            cells: cells.collect(),
            callers,
            denials: counts.denials.iter().cloned().collect(),
            newest,
        }
    }

    /// The kept requests after this number, oldest first. If there are more than `limit`, the
    /// newest ones are returned.
    pub fn exchanges(&self, after: u64, limit: usize) -> Vec<ExchangeSummary> {
        let kept = self.kept.lock();
        let wanted = kept.records.iter().filter(|record| record.number > after);
        let wanted: Vec<_> = wanted.rev().take(limit).cloned().collect();
        drop(kept);
        wanted.iter().rev().map(|record| record.summary()).collect()
    }

    /// A request with its messages, or `None` if it is no longer kept.
    pub fn exchange(&self, number: u64) -> Option<ExchangeView> {
        let kept = self.kept.lock();
        let found = kept.records.iter().find(|record| record.number == number);
        let found = found.cloned();
        drop(kept);
        found.map(|record| record.view())
    }
}

impl Kept {
    /// Finds and removes the request that was answered with questions and is now retried.
    fn take_asked(&mut self, digest: RequestDigest) -> Option<u64> {
        let found = self.asked.iter().rposition(|(other, _)| *other == digest)?;
        self.asked.remove(found).map(|(_, number)| number)
    }
}

impl Counts {
    fn caller(&mut self, record: &RequestRecord) -> &mut CallerCount {
        let key = CallerKey {
            caller: record.caller.clone(),
            client: record.client.clone(),
            revision: record.from,
        };
        if self.callers.len() >= MAX_CALLERS && !self.callers.contains_key(&key) {
            let oldest = self.callers.iter().min_by_key(|(_, count)| count.last);
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|key| self.callers.remove(&key));
        }
        self.callers.entry(key).or_insert_with(|| CallerCount {
            calls: 0,
            asked: 0,
            last: Instant::now(),
        })
    }

    fn server(&mut self, id: &str) -> &mut ServerCount {
        if !self.servers.contains_key(id) {
            self.servers.insert(id.to_owned(), ServerCount::default());
        }
        self.servers.entry(id.to_owned()).or_default()
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

//! The state of the inspector.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, OnceLock},
};

use serde::Serialize;
use serde_json::json;
use tokio::task::AbortHandle;
use turnbuckle::{Connection, client::Roots, protocol::Root};
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_command_line::target::Options;

use super::{
    app_page::AppPages,
    ask::{Ask, OpenAsk},
    clock,
    configured::FileView,
    events::EventLog,
    exchange::Exchange,
    gateway::GatewayPage,
    offer::Offer,
    raw::Raw,
    server::{Entry, View},
    wire::WireLog,
};

/// How many exchanges are kept: as many as the page lists.
const MAX_EXCHANGES: usize = 200;

/// How many log lines are kept for a page that is opened again.
const MAX_LOGS: usize = 1_000;

/// How many bytes of params and results are kept; the oldest are removed first.
const MAX_EXCHANGE_BYTES: usize = 64 * 1024 * 1024;

/// The largest lists that are part of the first snapshot, in bytes. The page requests longer lists separately,
/// so that it opens without waiting for them.
const MAX_TOLD_BYTES: usize = 256 * 1024;

/// Servers, exchanges and questions, and the events about them.
pub struct Inspector {
    state: Mutex<State>,
    pub(super) events: Arc<EventLog>,
    pub(super) wire: Arc<WireLog>,
    pub(super) options: Options,
    pub(super) apps: AppPages,
    /// The roots that servers may work in.
    pub(super) roots: Roots,
    /// The config files that were read.
    pub(super) files: Mutex<Vec<FileView>>,
    /// The task that watches files for changes.
    pub(super) watching: Mutex<Option<AbortHandle>>,
    /// Servers that are connected when the page is opened.
    pub(super) waiting: Mutex<Vec<String>>,
    /// The gateway that the page shows.
    pub(super) gateway: OnceLock<GatewayPage>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) servers: Vec<Entry>,
    pub(super) server_count: u64,
    pub(super) exchanges: VecDeque<Exchange>,
    pub(super) exchange_count: u64,
    pub(super) running: BTreeMap<u64, AbortHandle>,
    pub(super) asks: BTreeMap<String, OpenAsk>,
    pub(super) ask_count: u64,
    logs: VecDeque<Raw>,
}

/// The state that a page starts with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot {
    version: &'static str,
    /// The number of the newest event that is included.
    event: u64,
    servers: Vec<View>,
    /// The lists of servers, by their ids, if they are known and short.
    offers: BTreeMap<String, Raw>,
    exchanges: Vec<Exchange>,
    /// All open questions, including those that cannot be assigned to an exchange.
    asks: Vec<Ask>,
    /// The newest log lines of servers.
    logs: Vec<Raw>,
    roots: Vec<Root>,
    files: Vec<FileView>,
    /// Whether there is a gateway to show.
    has_gateway: bool,
}

impl Inspector {
    /// Creates an inspector without servers; `options` say how to connect to those that are added.
    pub fn new(options: Options) -> Arc<Self> {
        let events = Arc::new(EventLog::default());
        Arc::new(Self {
            state: Mutex::default(),
            wire: Arc::new(WireLog::new(events.clone())),
            events,
            options,
            apps: AppPages::default(),
            roots: Vec::<Root>::new().into(),
            files: Mutex::default(),
            watching: Mutex::default(),
            waiting: Mutex::default(),
            gateway: OnceLock::new(),
        })
    }

    /// Shows a gateway on the page. Does nothing if the page shows one already.
    pub fn show_gateway(&self, gateway: GatewayPage) {
        let _ = self.gateway.set(gateway);
    }

    /// Connects to a server only when the page is opened.
    pub fn connect_when_looked_at(&self, id: String) {
        self.waiting.lock().push(id);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        // Read first: later events may be sent twice to the page, but none is lost.
        let event = self.events.last();
        let offers = self.small_offers();
        let state = self.lock();
        Snapshot {
            version: env!("CARGO_PKG_VERSION"),
            event,
            servers: state
                .servers
                .iter()
                .map(|entry| entry.view(&self.options))
                .collect(),
            offers,
            exchanges: state.exchanges.iter().rev().cloned().collect(),
            asks: state.asks.values().map(|open| open.ask.clone()).collect(),
            logs: state.logs.iter().cloned().collect(),
            roots: self.roots.list(),
            files: self.files.lock().clone(),
            has_gateway: self.gateway.get().is_some(),
        }
    }

    /// Adds a log line of a server.
    pub(super) fn logged(&self, line: &impl Serialize) {
        let line = Raw::of(line);
        let mut state = self.lock();
        state.logs.push_back(line.clone());
        if state.logs.len() > MAX_LOGS {
            state.logs.pop_front();
        }
        drop(state);
        self.events.publish("log", &line);
    }

    /// Adds a note about a server to its log.
    pub(super) fn note(&self, server: &str, words: &str) {
        self.logged(&json!({
            "server": server,
            "level": "notice",
            "logger": "turnbuckle",
            "data": words,
            "time": clock::now(),
        }));
    }

    /// Replaces the roots that servers may work in. Sessions are notified.
    pub fn share_roots(&self, roots: Vec<Root>) {
        self.events.publish("roots", &roots);
        self.roots.replace(roots);
    }

    /// Changes an exchange and publishes it; does nothing if it is over.
    pub(super) fn change(&self, n: u64, change: impl FnOnce(&mut Exchange)) {
        let mut state = self.lock();
        let mut each = state.exchanges.iter_mut();
        let Some(exchange) = each.find(|exchange| exchange.n == n && !exchange.is_over()) else {
            return;
        };
        change(exchange);
        let is_over = exchange.is_over();
        // Published under the lock, so that events have the order of the changes.
        self.events.publish("exchange", &*exchange);
        if is_over {
            self.wire.end_exchange(n);
            state.running.remove(&n);
        }
        state.forget_old();
    }

    pub(super) fn view(&self, id: &str) -> Option<View> {
        self.lock()
            .server(id)
            .map(|entry| entry.view(&self.options))
    }

    pub(super) fn connection(&self, id: &str) -> Option<Connection> {
        self.lock().server(id)?.connection.clone()
    }

    /// Changes a server, and publishes it. Only for the task that connects it: a task that was replaced may
    /// run a moment longer, and its changes concern the old connection.
    pub(super) fn change_server(&self, id: &str, change: impl FnOnce(&mut Entry)) {
        let mut state = self.lock();
        let Some(entry) = state.server(id).filter(|entry| entry.is_worked_on_here()) else {
            return;
        };
        change(entry);
        drop(state);
        self.tell_of(id);
    }

    pub(super) fn tell_of(&self, id: &str) {
        // Published under the lock, so that events have the order of the changes.
        if let Some(entry) = self.lock().server(id) {
            self.events.publish("server", &entry.view(&self.options));
        }
    }

    /// The lists of a server: the known ones, unless `is_fresh` asks to read them again. `None` if it was never
    /// connected.
    pub(super) async fn offer(&self, id: &str, is_fresh: bool) -> Option<Arc<Offer>> {
        let turn = self.lock().server(id)?.reading.clone();
        // Concurrent requests share one read.
        let _reading = turn.lock().await;
        let Some(connection) = self.connection(id) else {
            // After it was stopped or failed, its last lists can still be viewed.
            return self.known_offer(id);
        };
        if !is_fresh && let Some(known) = self.known_offer(id) {
            return Some(known);
        }
        let offer = Arc::new(Offer::ask(&connection).await);
        if let Some(entry) = self.lock().server(id)
            // Lists of another connection, or from before a change, are not kept.
            && Arc::ptr_eq(&entry.reading, &turn)
        {
            entry.offer = Some(offer.clone());
        }
        Some(offer)
    }

    /// The known lists of servers that are short enough for the snapshot.
    pub(super) fn small_offers(&self) -> BTreeMap<String, Raw> {
        let state = self.lock();
        let known = state
            .servers
            .iter()
            .filter_map(|entry| Some((&entry.id, entry.offer.as_deref()?)));
        known
            .filter(|(_, offer)| offer.size() <= MAX_TOLD_BYTES)
            .map(|(id, offer)| (id.clone(), Raw::of(offer)))
            .collect()
    }

    pub(super) fn known_offer(&self, id: &str) -> Option<Arc<Offer>> {
        self.lock().server(id)?.offer.clone()
    }

    /// Ends everything: cancels exchanges, closes connections, and ends their processes.
    pub async fn end(&self) {
        let (running, connections) = {
            let mut state = self.lock();
            let running = std::mem::take(&mut state.running);
            let servers = state.servers.iter_mut();
            let connections: Vec<_> = servers.filter_map(Entry::take_connection).collect();
            (running, connections)
        };
        if let Some(watching) = self.watching.lock().take() {
            watching.abort();
        }
        for running in running.into_values() {
            running.abort();
        }
        let mut closing = tokio::task::JoinSet::new();
        for connection in connections {
            closing.spawn(async move { connection.close().await });
        }
        closing.join_all().await;
        self.events.close();
    }
}

impl State {
    /// Removes the oldest exchanges that are over.
    pub(super) fn forget_old(&mut self) {
        let mut bytes: usize = self.exchanges.iter().map(Exchange::size).sum();
        while self.exchanges.len() > MAX_EXCHANGES || bytes > MAX_EXCHANGE_BYTES {
            // The newest one is kept, because the user is probably looking at it.
            let old = self.exchanges.len().saturating_sub(1);
            let index = self.exchanges.iter().take(old).position(Exchange::is_over);
            let Some(gone) = index.and_then(|index| self.exchanges.remove(index)) else {
                return;
            };
            bytes -= gone.size();
        }
    }

    /// The task of an exchange, with its connection.
    pub(super) fn task_of(&mut self, n: u64) -> Option<(Connection, String)> {
        let exchange = self.exchanges.iter().find(|exchange| exchange.n == n)?;
        let (id, server) = (exchange.task_id.clone()?, exchange.server.clone());
        Some((self.server(&server)?.connection.clone()?, id))
    }

    pub(super) fn server(&mut self, id: &str) -> Option<&mut Entry> {
        self.servers.iter_mut().find(|server| server.id == id)
    }
}

//! All that the inspector holds, and the rules for keeping it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde::Serialize;
use tokio::{sync::oneshot, task::AbortHandle};
use turnbuckle::Connection;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_command_line::target::Options;

use super::{
    app::Apps,
    ask::{Ask, MAX_ASKS, OpenAsk, Reply},
    call,
    events::EventLog,
    exchange::{Exchange, Status},
    raw::Raw,
    server::{Entry, View},
    task,
    wire::WireLog,
};

/// 200 exchanges: as many as the page lists.
const MAX_EXCHANGES: usize = 200;

/// 1,000 lines of logs: what a page that is opened again shows.
const MAX_LOGS: usize = 1_000;

/// 64 MiB of params and results: of large ones the newest are kept.
const MAX_EXCHANGE_BYTES: usize = 64 * 1024 * 1024;

/// Servers, exchanges and asks, with what is told of them.
pub struct Inspector {
    state: Mutex<State>,
    pub(super) events: Arc<EventLog>,
    pub(super) wire: Arc<WireLog>,
    pub(super) options: Options,
    pub(super) apps: Apps,
    /// Servers that are connected to when somebody opens the page.
    waiting: Mutex<Vec<String>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) servers: Vec<Entry>,
    pub(super) server_count: u64,
    pub(super) exchanges: VecDeque<Exchange>,
    pub(super) exchange_count: u64,
    pub(super) running: BTreeMap<u64, AbortHandle>,
    asks: BTreeMap<String, OpenAsk>,
    ask_count: u64,
    logs: VecDeque<Raw>,
}

/// What a page needs to begin with.
#[derive(Serialize)]
pub(super) struct Snapshot {
    version: &'static str,
    /// The newest event that is part of this.
    event: u64,
    servers: Vec<View>,
    /// What they offer, by their ids, where that is known and short.
    offers: BTreeMap<String, Raw>,
    exchanges: Vec<Exchange>,
    /// What is waited for, also where nothing says by which exchange.
    asks: Vec<Ask>,
    /// What servers logged last.
    logs: Vec<Raw>,
}

impl Inspector {
    /// An inspector without servers; `options` say how to connect to those that are added.
    pub fn new(options: Options) -> Arc<Self> {
        let events = Arc::new(EventLog::default());
        Arc::new(Self {
            state: Mutex::default(),
            wire: Arc::new(WireLog::new(events.clone())),
            events,
            options,
            apps: Apps::default(),
            waiting: Mutex::default(),
        })
    }

    /// Connects to a server as soon as somebody opens the page, and not before.
    pub fn connect_when_looked_at(&self, id: String) {
        self.waiting.lock().push(id);
    }

    /// Somebody opened the page.
    pub(super) fn is_looked_at(self: &Arc<Self>) {
        let ids = std::mem::take(&mut *self.waiting.lock());
        for id in ids {
            self.connect(&id);
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        // Taken first: what happens from here on may be told twice, and is never lost.
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
        }
    }

    /// A server logged something.
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

    /// Changes an exchange and tells of it; does nothing when it is over.
    pub(super) fn change(&self, n: u64, change: impl FnOnce(&mut Exchange)) {
        let mut state = self.lock();
        let mut each = state.exchanges.iter_mut();
        let Some(exchange) = each.find(|exchange| exchange.n == n && !exchange.is_over()) else {
            return;
        };
        change(exchange);
        let is_over = exchange.is_over();
        // Under the lock: of two changes the later is told later.
        self.events.publish("exchange", &*exchange);
        if is_over {
            state.running.remove(&n);
        }
        state.forget_old();
    }

    /// Gives an exchange up; dropping its future tells the server. `false` if there is none.
    pub(super) fn cancel(&self, n: u64) -> bool {
        let (running, task) = {
            let mut state = self.lock();
            let Some(running) = state.running.remove(&n) else {
                return false;
            };
            (running, state.task_of(n))
        };
        running.abort();
        // tasks: no request is under way between two looks at a task, so it has to be named.
        if let Some((connection, id)) = task {
            tokio::spawn(call::for_exchange(n, task::cancel(connection, id)));
        }
        self.change(n, |exchange| exchange.end(Status::Cancelled));
        true
    }

    /// The exchange that a question of a session belongs to, if that can be told.
    pub(super) fn only_running(&self, server: &str) -> Option<u64> {
        let state = self.lock();
        let mut running = state
            .exchanges
            .iter()
            .filter(|exchange| exchange.server == server && !exchange.is_over());
        let only = running.next()?;
        running.next().is_none().then_some(only.n)
    }

    /// Puts a question to the page; `None` if there are too many.
    pub(super) fn open_ask(&self, mut ask: Ask, tell: oneshot::Sender<Reply>) -> Option<String> {
        let mut state = self.lock();
        if state.asks.len() >= MAX_ASKS {
            return None;
        }
        state.ask_count += 1;
        ask.id = format!("a{}", state.ask_count);
        let id = ask.id.clone();
        let shown = ask.clone();
        state.asks.insert(id.clone(), OpenAsk { ask, tell });
        drop(state);
        self.events.publish("ask", &shown);
        if let Some(n) = shown.exchange {
            self.change(n, |exchange| {
                exchange.status = Status::Asked;
                exchange.asks.push(shown);
            });
        }
        Some(id)
    }

    /// The question of this id, as long as it is open.
    pub(super) fn asked(&self, id: &str) -> Option<Ask> {
        self.lock().asks.get(id).map(|open| open.ask.clone())
    }

    /// Hands an answer over. `false` if nobody waits for it.
    pub(super) fn answer_ask(&self, id: &str, reply: Reply) -> bool {
        let open = self.lock().asks.remove(id);
        let Some(OpenAsk { ask, tell }) = open else {
            return false;
        };
        // First: whoever gets the reply may end the exchange at once, and it would end with the question open.
        self.ask_is_gone(&ask);
        tell.send(reply).is_ok()
    }

    /// A question was withdrawn, or answered already.
    pub(super) fn forget_ask(&self, id: &str) {
        let open = self.lock().asks.remove(id);
        if let Some(open) = open {
            self.ask_is_gone(&open.ask);
        }
    }

    fn ask_is_gone(&self, ask: &Ask) {
        #[derive(Serialize)]
        struct Gone<'a> {
            id: &'a str,
        }
        self.events.publish("ask-gone", &Gone { id: &ask.id });
        if let Some(n) = ask.exchange {
            self.change(n, |exchange| {
                exchange.asks.retain(|other| other.id != ask.id);
                if exchange.asks.is_empty() {
                    exchange.status = Status::Running;
                }
            });
        }
    }

    /// Ends everything: exchanges are cancelled, connections closed, processes with them.
    pub async fn end(&self) {
        let (running, connections) = {
            let mut state = self.lock();
            let running = std::mem::take(&mut state.running);
            let servers = state.servers.iter_mut();
            let connections: Vec<_> = servers.filter_map(Entry::take_connection).collect();
            (running, connections)
        };
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
    /// Forgets the oldest exchanges that are over.
    pub(super) fn forget_old(&mut self) {
        let mut bytes: usize = self.exchanges.iter().map(Exchange::size).sum();
        while self.exchanges.len() > MAX_EXCHANGES || bytes > MAX_EXCHANGE_BYTES {
            // The newest is what somebody looks at.
            let old = self.exchanges.len().saturating_sub(1);
            let index = self.exchanges.iter().take(old).position(Exchange::is_over);
            let Some(gone) = index.and_then(|index| self.exchanges.remove(index)) else {
                return;
            };
            bytes -= gone.size();
        }
    }

    /// The task that an exchange became, and the connection that it is known at.
    fn task_of(&mut self, n: u64) -> Option<(Connection, String)> {
        let exchange = self.exchanges.iter().find(|exchange| exchange.n == n)?;
        let (id, server) = (exchange.task_id.clone()?, exchange.server.clone());
        Some((self.server(&server)?.connection.clone()?, id))
    }

    pub(super) fn server(&mut self, id: &str) -> Option<&mut Entry> {
        self.servers.iter_mut().find(|server| server.id == id)
    }
}

//! One server of the inspector: where it is, how far the connection is.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use serde::{Deserialize, Serialize};
use tokio::task::AbortHandle;
use turnbuckle::{Connection, Revision, auth::client::OAuth};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    shell,
    target::{self, EraName, Options, Server},
};
use turnbuckle_host::config::Launch;

use super::{
    Inspector, client, clock, equivalent::Shell, offer::Offer, problem::Problem, raw::Raw,
};

/// 50 lines of what a process printed: enough to see why it failed.
const STDERR_LINES: usize = 50;

/// 64 servers: each may be a process.
const MAX_SERVERS: usize = 64;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Closed,
    Connecting,
    Open,
    Failed,
}

/// What a connection is held to.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Pin {
    pub(super) revision: Option<Revision>,
    pub(super) era: Option<EraName>,
}

impl Pin {
    /// What the command line says.
    pub(super) fn of(options: &Options) -> Self {
        Self {
            revision: options.revision,
            era: options.era,
        }
    }

    pub(super) fn says_something(self) -> bool {
        self.revision.is_some() || self.era.is_some()
    }
}

/// How a server came to be known.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Where from, as a person would say it.
    pub(super) from: String,
    /// What a command line calls it, if it has a name there.
    pub(super) word: Option<String>,
}

impl Origin {
    /// It was given whole: as a URL or as a command.
    pub fn given(from: &str) -> Self {
        Self {
            from: from.to_owned(),
            word: None,
        }
    }

    /// It is in a config file, under this name.
    pub fn configured(from: impl Into<String>, word: &str) -> Self {
        Self {
            from: from.into(),
            word: Some(word.to_owned()),
        }
    }
}

/// A server.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) origin: Origin,
    pub(super) server: Arc<Server>,
    pub(super) stage: Stage,
    pub(super) error: Option<Problem>,
    pub(super) connection: Option<Connection>,
    pub(super) pin: Pin,
    pub(super) latency: Option<f64>,
    pub(super) offer: Option<Arc<Offer>>,
    /// Held by who reads the offer; another one for each connection.
    pub(super) reading: Arc<tokio::sync::Mutex<()>>,
    pub(super) oauth: Option<OAuth>,
    pub(super) may_sign_in: Arc<AtomicBool>,
    /// Connects, and then looks after the connection.
    pub(super) work: Option<AbortHandle>,
    pub(super) listening: Option<AbortHandle>,
}

/// A server as the page shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    id: String,
    name: String,
    target: String,
    source: String,
    status: Stage,
    error: Option<Problem>,
    revision: Option<Revision>,
    era: Option<&'static str>,
    transport: Option<&'static str>,
    #[serde(serialize_with = "clock::plain_or_none")]
    latency_ms: Option<f64>,
    info: Option<Raw>,
    capabilities: Option<Raw>,
    instructions: Option<String>,
    stderr: Vec<String>,
    shell: Shell,
}

impl Entry {
    pub(super) fn view(&self, options: &Options) -> View {
        let connection = self.connection.as_ref();
        let peer = connection.map(Connection::server);
        let revision = peer.map(turnbuckle::client::Peer::revision);
        let lines = connection
            .and_then(Connection::stderr)
            .map(turnbuckle::transport::StderrLog::lines);
        let lines = lines.unwrap_or_default();
        let skipped = lines.len().saturating_sub(STDERR_LINES);
        View {
            id: self.id.clone(),
            name: self.name.clone(),
            target: shown(&self.server.shown),
            source: self.origin.from.clone(),
            status: self.stage,
            error: self.error.clone(),
            revision,
            era: revision.map(|revision| {
                if revision.is_modern() {
                    "modern"
                } else {
                    "legacy"
                }
            }),
            transport: connection.map(|connection| self.transport(connection)),
            latency_ms: self.latency,
            info: peer.and_then(|peer| peer.implementation()).map(Raw::of),
            capabilities: peer.and_then(|peer| peer.capabilities()).map(Raw::of),
            instructions: peer.and_then(|peer| peer.instructions()).map(str::to_owned),
            stderr: lines
                .into_iter()
                .skip(skipped)
                .map(|line| line.text)
                .collect(),
            shell: Shell::of(options, self),
        }
    }

    /// Takes the connection out, to be closed, and ends what looks after it.
    pub(super) fn take_connection(&mut self) -> Option<Connection> {
        for task in [self.work.take(), self.listening.take()]
            .into_iter()
            .flatten()
        {
            task.abort();
        }
        self.offer = None;
        self.connection.take()
    }

    fn transport(&self, connection: &Connection) -> &'static str {
        match &self.server.launch {
            Launch::Command { .. } => "stdio",
            Launch::Remote(_) if connection.is_answered_by_events() => "HTTP+SSE",
            Launch::Remote(_) => "Streamable HTTP",
        }
    }
}

impl Inspector {
    /// Adds a server; it is not connected to yet.
    pub fn add(&self, server: Server, origin: Origin) -> Outcome<String> {
        let mut state = self.lock();
        if state.servers.len() >= MAX_SERVERS {
            return Err(Failed::usage(format!(
                "there are {MAX_SERVERS} servers already; remove one"
            )));
        }
        state.server_count += 1;
        let id = format!("s{}", state.server_count);
        state.servers.push(Entry {
            id: id.clone(),
            name: server.name.clone(),
            origin,
            server: Arc::new(server),
            stage: Stage::Closed,
            error: None,
            connection: None,
            pin: Pin::of(&self.options),
            latency: None,
            offer: None,
            reading: Arc::default(),
            oauth: None,
            may_sign_in: Arc::default(),
            work: None,
            listening: None,
        });
        drop(state);
        self.tell_of(&id);
        Ok(id)
    }

    /// Adds a server by what a person typed: a URL, a name from a config file, or a command line.
    pub(super) fn add_typed(&self, text: &str, name: Option<String>) -> Outcome<String> {
        let words =
            shell::split(text).ok_or_else(|| Failed::usage("a quotation mark is not closed"))?;
        let config: Option<&PathBuf> = self.options.config.as_ref();
        let given = || Origin::given("the page");
        let (mut server, origin) = match &*words {
            [] => return Err(Failed::usage("no server was named")),
            [one] => match target::find(one, config) {
                Ok(server) if one.contains("://") => (server, given()),
                Ok(server) => (server, Origin::configured("config file", one)),
                // A program without arguments.
                Err(_) if is_program(one) => (target::split(&[], &words, config)?.0, given()),
                Err(failed) => return Err(failed),
            },
            _ => (target::split(&[], &words, config)?.0, given()),
        };
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            server.name = name;
        }
        self.add(server, origin)
    }

    /// Connects, anew if it was connected. `None` if there is no such server.
    pub fn connect(self: &Arc<Self>, id: &str) -> Option<()> {
        self.connect_pinned(id, None)
    }

    pub(super) fn connect_pinned(self: &Arc<Self>, id: &str, pin: Option<Pin>) -> Option<()> {
        let mut state = self.lock();
        let entry = state.server(id)?;
        let old = entry.take_connection();
        entry.stage = Stage::Connecting;
        entry.error = None;
        entry.pin = pin.unwrap_or(entry.pin);
        let plan = client::Plan::of(entry);
        let work = tokio::spawn(plan.run(self.clone(), old));
        entry.work = Some(work.abort_handle());
        drop(state);
        self.tell_of(id);
        Some(())
    }

    /// Closes a connection, and tells of it at once.
    pub(super) fn close(&self, id: &str) -> Option<()> {
        let mut state = self.lock();
        let entry = state.server(id)?;
        let connection = entry.take_connection();
        entry.stage = Stage::Closed;
        entry.error = None;
        drop(state);
        self.tell_of(id);
        if let Some(connection) = connection {
            tokio::spawn(async move { connection.close().await });
        }
        Some(())
    }

    pub(super) fn remove(&self, id: &str) -> Option<()> {
        #[derive(Serialize)]
        struct Gone<'a> {
            id: &'a str,
        }
        self.close(id)?;
        self.lock().servers.retain(|server| server.id != id);
        self.events.publish("server-gone", &Gone { id });
        Some(())
    }

    pub(super) fn view(&self, id: &str) -> Option<View> {
        self.lock()
            .server(id)
            .map(|entry| entry.view(&self.options))
    }

    pub(super) fn connection(&self, id: &str) -> Option<Connection> {
        self.lock().server(id)?.connection.clone()
    }

    /// Changes a server, and tells of it.
    pub(super) fn change_server(&self, id: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.lock().server(id) {
            change(entry);
        }
        self.tell_of(id);
    }

    fn tell_of(&self, id: &str) {
        // Under the lock: of two changes the later is told later.
        if let Some(entry) = self.lock().server(id) {
            self.events.publish("server", &entry.view(&self.options));
        }
    }
}

/// Where a server is, as a person would write it. The query of a URL may hold a secret.
pub(super) fn shown(launch: &Launch) -> String {
    match launch {
        Launch::Command {
            program, arguments, ..
        } => {
            let words = std::iter::once(program).chain(arguments);
            shell::line(words.map(String::as_str))
        }
        Launch::Remote(remote) => {
            let url = remote.url.split(['?', '#']).next().unwrap_or_default();
            match url.split_once("://") {
                Some((scheme, rest)) => {
                    let (host, path) = rest.split_once('/').map_or((rest, ""), |parts| parts);
                    let host = host.rsplit('@').next().unwrap_or_default();
                    format!("{scheme}://{host}/{path}")
                }
                None => url.to_owned(),
            }
        }
    }
}

/// Whether a word is a program that could be started.
fn is_program(word: &str) -> bool {
    if word.contains('/') {
        return std::path::Path::new(word).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(word).is_file())
}

//! One server of the inspector: its address, and the state of its connection.

use std::sync::{Arc, atomic::AtomicBool};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::AbortHandle;
use turnbuckle::{Connection, Revision, auth::client::OAuth, transport::StderrLog};
use turnbuckle_command_line::target::{self, Options, Server};
use turnbuckle_host::config::Launch;

use super::{
    clock,
    configured::{Blocked, Configured, InputView, Resolved},
    equivalent::Shell,
    offer::Offer,
    origin::{Origin, Pin, shown},
    problem::Problem,
    raw::Raw,
};

/// How many lines of a process's stderr are kept: as many as the page shows at once.
const STDERR_LINES: usize = 500;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Closed,
    Connecting,
    Open,
    Failed,
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
    /// What its program has printed on stderr since the last start.
    pub(super) stderr: StderrLog,
    pub(super) pin: Pin,
    pub(super) latency: Option<f64>,
    /// The name and version that it last reported.
    pub(super) info: Option<Raw>,
    pub(super) offer: Option<Arc<Offer>>,
    /// Locked while its lists are read; a new one for each connection.
    pub(super) reading: Arc<tokio::sync::Mutex<()>>,
    pub(super) oauth: Option<OAuth>,
    pub(super) may_sign_in: Arc<AtomicBool>,
    /// The task that connects, and then monitors the connection.
    pub(super) work: Option<AbortHandle>,
    pub(super) listening: Option<AbortHandle>,
    /// Its entry in a config file or in the page's form.
    pub(super) configured: Option<Configured>,
    pub(super) inputs: Vec<InputView>,
    /// Why it cannot be connected to.
    pub(super) blocked: Option<Blocked>,
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
    /// Whether the server is connected but did not answer the last time.
    is_down: bool,
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
    /// The number after that of the last line of stderr.
    stderr_end: u64,
    inputs: Vec<InputView>,
    blocked: Option<Blocked>,
    is_program: bool,
    /// Whether the program does not exist.
    is_missing: bool,
    /// How it is started or reached, for a file of saved calls: without secrets.
    launch: Value,
    shell: Shell,
}

impl Entry {
    pub(super) fn view(&self, options: &Options) -> View {
        let connection = self.connection.as_ref();
        let peer = connection.map(Connection::server);
        let revision = peer.map(turnbuckle::client::Peer::revision);
        let lines = self.stderr.lines();
        let skipped = lines.len().saturating_sub(STDERR_LINES);
        View {
            id: self.id.clone(),
            name: self.name.clone(),
            target: shown(&self.server.shown),
            source: self.origin.from.clone(),
            status: self.stage,
            is_down: self.stage == Stage::Open && connection.is_some_and(Connection::is_closed),
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
            info: self.info.clone(),
            capabilities: peer.and_then(|peer| peer.capabilities()).map(Raw::of),
            instructions: peer.and_then(|peer| peer.instructions()).map(str::to_owned),
            stderr_end: lines.last().map_or(0, |line| line.number + 1),
            inputs: self.inputs.clone(),
            blocked: self.blocked.clone(),
            is_program: matches!(self.server.launch, Launch::Command { .. }),
            is_missing: self.is_missing(),
            launch: self.launch(),
            stderr: lines
                .into_iter()
                .skip(skipped)
                .map(|line| line.text)
                .collect(),
            shell: self.shell(options),
        }
    }

    /// Applies the current config entry; an open connection is not changed.
    pub(super) fn resolve(&mut self, resolved: Resolved) {
        let mut server = resolved.server;
        server.name.clone_from(&self.server.name);
        self.server = Arc::new(server);
        self.inputs = resolved.inputs;
        self.blocked = resolved.blocked;
    }

    fn is_missing(&self) -> bool {
        match &self.server.launch {
            Launch::Command {
                program, folder, ..
            } => self.blocked.is_none() && !target::is_program(program, folder.as_deref()),
            Launch::Remote(_) => false,
        }
    }

    /// The server in the format of a file of saved calls. Values of variables are left to the environment.
    fn launch(&self) -> Value {
        if let Some(word) = &self.origin.word {
            return json!({ "name": word });
        }
        match &self.server.shown {
            Launch::Remote(_) => json!({ "url": shown(&self.server.shown) }),
            Launch::Command {
                program,
                arguments,
                environment,
                folder,
            } => {
                let mut launch = json!({ "command": program, "args": arguments });
                if !environment.is_empty() {
                    let names = environment.iter().map(|(name, _)| name);
                    let pairs = names.map(|name| (name.clone(), format!("${{{name}}}").into()));
                    launch["env"] = Value::Object(pairs.collect());
                }
                if let Some(folder) = folder {
                    launch["cwd"] = folder.to_string_lossy().into();
                }
                launch
            }
        }
    }

    /// The common parts of every command line for it.
    pub(super) fn shell(&self, options: &Options) -> Shell {
        Shell::of(options, self.pin, &self.origin, &self.server.shown)
    }

    /// Whether the current tokio task is the one that connects this server.
    pub(super) fn is_worked_on_here(&self) -> bool {
        let here = tokio::task::try_id();
        here.is_some() && self.work.as_ref().map(AbortHandle::id) == here
    }

    /// Removes the connection, to be closed, and ends the tasks that monitor it.
    pub(super) fn take_connection(&mut self) -> Option<Connection> {
        for task in [self.work.take(), self.listening.take()]
            .into_iter()
            .flatten()
        {
            task.abort();
        }
        self.connection.take()
    }

    fn transport(&self, connection: &Connection) -> &'static str {
        match &self.server.launch {
            Launch::Command { .. } => "stdio",
            Launch::Remote(_) if connection.uses_http_sse() => "HTTP+SSE",
            Launch::Remote(_) => "Streamable HTTP",
        }
    }
}

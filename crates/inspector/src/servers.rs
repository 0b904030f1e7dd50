//! Adding, closing and removing servers.

use std::sync::Arc;

use serde_json::json;
use turnbuckle::transport::StderrLog;
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    shell,
    target::{self, Lookup, Server},
    trust::Consent,
};
use turnbuckle_host::config::Launch;

use super::{
    configured::{Blocked, Configured, Resolved},
    inspector::{Inspector, State},
    origin::{Origin, Pin},
    server::{Entry, Stage},
};

impl State {
    /// A name that no other server has, because URLs of the page contain names of servers.
    fn free_name(&self, wanted: &str) -> String {
        let is_free = |name: &String| self.servers.iter().all(|other| other.name != *name);
        let numbered = (2..).map(|number| format!("{wanted} {number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(is_free).unwrap_or_default()
    }
}

/// The name of a server in URLs: if only its URL is known, the name of its host.
fn short_name(server: &Server) -> String {
    match &server.launch {
        Launch::Remote(remote) if server.name == target::without_query(&remote.url) => {
            let rest = remote.url.split_once("://").map_or("", |(_, rest)| rest);
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if host.is_empty() {
                server.name.clone()
            } else {
                host.to_owned()
            }
        }
        _ => server.name.clone(),
    }
}

/// How many servers there may be: each may be a process.
pub(super) const MAX_SERVERS: usize = 64;

impl Inspector {
    /// Whether one more can be added.
    pub(super) fn has_room(&self) -> bool {
        self.lock().servers.len() < MAX_SERVERS
    }

    /// Adds a server; it is not connected to yet.
    pub fn add(&self, server: Server, origin: Origin) -> Outcome<String> {
        let resolved = Resolved {
            server,
            blocked: None,
            inputs: Vec::new(),
        };
        self.add_entry(resolved, origin, None)
    }

    /// Adds a server from a config file or the page's form.
    pub(super) fn add_entry(
        &self,
        resolved: Resolved,
        origin: Origin,
        configured: Option<Configured>,
    ) -> Outcome<String> {
        let Resolved {
            server,
            blocked,
            inputs,
        } = resolved;
        let mut state = self.lock();
        if state.servers.len() >= MAX_SERVERS {
            return Err(Failed::usage(format!(
                "server limit ({MAX_SERVERS}) reached; remove one"
            )));
        }
        state.server_count += 1;
        let id = format!("s{}", state.server_count);
        let name = state.free_name(&short_name(&server));
        state.servers.push(Entry {
            id: id.clone(),
            name,
            origin,
            server: Arc::new(server),
            stage: Stage::Closed,
            error: None,
            connection: None,
            stderr: StderrLog::default(),
            pin: Pin::of(&self.options),
            latency: None,
            info: None,
            offer: None,
            reading: Arc::default(),
            oauth: None,
            may_sign_in: Arc::default(),
            work: None,
            listening: None,
            configured,
            inputs,
            blocked,
        });
        drop(state);
        self.tell_of(&id);
        Ok(id)
    }

    /// Adds a server from what the user typed: a URL, a name from a config file, or a command line.
    pub(super) fn add_typed(&self, text: &str, name: Option<String>) -> Outcome<String> {
        let words =
            shell::split(text).ok_or_else(|| Failed::usage("a quotation mark is not closed"))?;
        // The page cannot ask at the terminal.
        let lookup = match self.options.lookup() {
            given @ Lookup {
                consent: Consent::Given,
                ..
            } => given,
            _ => self.options.silent_lookup(),
        };
        let given = || Origin::given("the page");
        let (mut server, origin) = match &*words {
            [] => return Err(Failed::usage("no server was named")),
            [one] => match target::find(one, lookup) {
                Ok(server) if one.contains("://") => (server, given()),
                Ok(server) => (server, Origin::configured("config file", one)),
                // A program without arguments.
                Err(_) if target::is_program(one, None) => {
                    (target::split(&[], &words, lookup)?.0, given())
                }
                Err(failed) => return Err(failed),
            },
            _ => (target::split(&[], &words, lookup)?.0, given()),
        };
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            server.name = name;
        }
        self.add(server, origin)
    }

    /// Why a server cannot be connected to, if so.
    pub(super) fn blocked(&self, id: &str) -> Option<Blocked> {
        self.lock().server(id)?.blocked.clone()
    }

    /// Closes a connection, and publishes this at once.
    pub(super) fn close(self: &Arc<Self>, id: &str) -> Option<()> {
        let mut state = self.lock();
        let entry = state.server(id)?;
        let connection = entry.take_connection();
        entry.stage = Stage::Closed;
        entry.error = None;
        drop(state);
        self.tell_of(id);
        if let Some(connection) = connection {
            let (inspector, id) = (self.clone(), id.to_owned());
            tokio::spawn(async move {
                connection.close().await;
                // Publishes what it printed at its end.
                inspector.tell_of(&id);
            });
        }
        Some(())
    }

    pub(super) fn remove(self: &Arc<Self>, id: &str) -> Option<()> {
        self.close(id)?;
        self.lock().servers.retain(|server| server.id != id);
        self.events.publish("server-gone", &json!({ "id": id }));
        Some(())
    }
}

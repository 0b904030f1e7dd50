//! Prints the states of servers, a line for each change.

use std::{collections::HashMap, sync::Arc, time::Instant};

use turnbuckle::host::{ServerId, ServerState};
use turnbuckle_base::lock::Mutex;
use turnbuckle_command_line::{
    control::{log_text, tell},
    style::Style,
};

/// Reports servers that become ready or fail, each failure once.
#[derive(Clone)]
pub(super) struct Lines {
    /// When the servers that are starting began to start.
    began: Arc<Mutex<HashMap<String, Instant>>>,
    said: Arc<Mutex<HashMap<String, String>>>,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            began: Arc::default(),
            said: Arc::default(),
        }
    }

    /// Reports a state, unless it was reported already.
    pub(super) fn tell(&self, server: &ServerId, state: &ServerState) {
        if matches!(state, ServerState::Removed) {
            // A server of the same name may start again, and is reported then.
            self.said.lock().remove(&server.to_string());
            self.began.lock().remove(&server.to_string());
            return;
        }
        if matches!(state, ServerState::Starting) {
            self.began.lock().insert(server.to_string(), Instant::now());
        }
        let Some((mark, said)) = words(state) else {
            return;
        };
        let mut known = self.said.lock();
        let before = known.insert(server.to_string(), said.clone());
        if before.as_deref() == Some(&*said) {
            return;
        }
        let began = self.began.lock().remove(&server.to_string());
        let time = began.map(|began| {
            let waited = began.elapsed().as_millis();
            Style::Dim.err(&format!("  {waited} ms"))
        });
        let time = time.unwrap_or_default();
        tell(&format!("{mark} {server}  {said}{time}"));
    }
}

/// A word for a state, and its details.
fn words(state: &ServerState) -> Option<(&'static str, String)> {
    match state {
        ServerState::Ready(ready) => {
            let named = ready.implementation.as_ref();
            let name = named.map_or_else(String::new, |it| {
                format!("  {} {}", log_text(&it.name), log_text(&it.version))
            });
            Some(("ready  ", format!("{}{name}", ready.revision)))
        }
        ServerState::Restarting { failure, .. } | ServerState::Failed { failure, .. } => {
            Some(("failed ", log_text(&failure.reason)))
        }
        ServerState::Disabled => Some(("off    ", "disabled in its config file".to_owned())),
        _ => None,
    }
}

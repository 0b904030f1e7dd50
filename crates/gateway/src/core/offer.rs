//! The combined capabilities of all servers of a gateway.

use turnbuckle_host::ServerState;
use turnbuckle_protocol::{JsonObject, ServerCapabilities, ServerTasksCapability, TASKS_EXTENSION};
use turnbuckle_server::{Caller, RelayOffer};

use super::Core;
use crate::{gateways, lock::LockKind, routes::Kind};

impl Core {
    /// The combined capabilities of all servers.
    pub(super) fn offer(&self, caller: &Caller) -> RelayOffer {
        let members = self.members();
        let routes = self.routes();
        let mut all = ServerCapabilities::default();
        let mut is_known = true;
        let mut instructions = Vec::new();
        for member in &members {
            match member.upstream.state() {
                ServerState::Ready(ready) => {
                    if let Some(can) = &ready.capabilities {
                        add(&mut all, can, members.len() == 1, caller);
                    } else {
                        is_known = false;
                    }
                    let is_withheld = self
                        .lock
                        .get()
                        .is_some_and(|lock| member.is_withheld(lock, LockKind::Instructions, ""));
                    if let Some(text) = &ready.instructions
                        && !is_withheld
                    {
                        instructions.push((member.id.to_string(), text.clone()));
                    }
                }
                ServerState::Starting | ServerState::Restarting { .. } | ServerState::Idle => {
                    is_known = false;
                }
                _ => {}
            }
        }
        if !is_known || routes.has_any(Kind::Tools) {
            all.tools.get_or_insert_default();
        }
        if !is_known || routes.has_any(Kind::Prompts) {
            all.prompts.get_or_insert_default();
        }
        if !is_known || routes.has_any(Kind::Resources) || routes.has_any(Kind::Templates) {
            let resources = all.resources.get_or_insert_default();
            if !is_known {
                resources.subscribe = Some(true);
            }
        }
        if !is_known {
            all.logging.get_or_insert_default();
            all.completions.get_or_insert_default();
        }
        // A gateway always supports list notifications, because servers come and go.
        if let Some(tools) = &mut all.tools {
            tools.list_changed = Some(true);
        }
        if let Some(prompts) = &mut all.prompts {
            prompts.list_changed = Some(true);
        }
        if let Some(resources) = &mut all.resources {
            resources.list_changed = Some(true);
        }
        self.common.gateway.declare(&mut all);
        let offer = RelayOffer::new(all);
        match &*instructions {
            [] => offer,
            [(_, one)] if members.len() == 1 => offer.with_instructions(one),
            several => {
                let parts: Vec<String> = several
                    .iter()
                    .map(|(server, text)| format!("# {server}\n\n{text}"))
                    .collect();
                offer.with_instructions(parts.join("\n\n"))
            }
        }
    }
}

/// Adds the capabilities of one server. Extensions are passed on only if there is a single server.
fn add(all: &mut ServerCapabilities, one: &ServerCapabilities, is_only: bool, caller: &Caller) {
    fn present(all: &mut Option<JsonObject>, one: Option<&JsonObject>) {
        if let Some(one) = one {
            all.get_or_insert_with(|| one.clone());
        }
    }
    present(&mut all.logging, one.logging.as_ref());
    present(&mut all.completions, one.completions.as_ref());
    if one.tools.is_some() {
        all.tools.get_or_insert_default();
    }
    if one.prompts.is_some() {
        all.prompts.get_or_insert_default();
    }
    if let Some(resources) = &one.resources {
        let all = all.resources.get_or_insert_default();
        if resources.subscribe == Some(true) {
            all.subscribe = Some(true);
        }
    }
    if is_only {
        all.extensions.clone_from(&one.extensions);
        all.experimental.clone_from(&one.experimental);
        gateways::without_declaration(&mut all.experimental);
    }
    add_tasks(all, one, caller);
}

/// Adds tasks in the form of both eras, whichever era the server belongs to (G18, G31): sessions
/// have a capability for them, and modern clients an extension.
fn add_tasks(all: &mut ServerCapabilities, one: &ServerCapabilities, caller: &Caller) {
    let of_calls = |tasks: &ServerTasksCapability| {
        let requests = tasks.requests.as_ref();
        let tools = requests.and_then(|requests| requests.tools.as_ref());
        tools.is_some_and(|tools| tools.call.is_some())
    };
    let has_extension = |can: &ServerCapabilities| {
        let extensions = can.extensions.as_ref();
        extensions.is_some_and(|all| all.contains_key(TASKS_EXTENSION))
    };
    if !one.tasks.as_ref().is_some_and(of_calls) && !has_extension(one) {
        return;
    }
    all.tasks.get_or_insert_with(|| tool_calls(caller));
    let extensions = all.extensions.get_or_insert_default();
    extensions
        .entry(TASKS_EXTENSION.to_owned())
        .or_insert_with(|| JsonObject::new().into());
}

/// The tasks capability for tool calls, in the form of sessions.
fn tool_calls(caller: &Caller) -> ServerTasksCapability {
    let yes = || Some(JsonObject::new());
    let mut capability = ServerTasksCapability::default();
    // tasks: a server that cannot distinguish its callers MUST NOT list their tasks.
    capability.list = yes().filter(|_| caller.is_identified());
    capability.cancel = yes();
    let requests = capability.requests.get_or_insert_default();
    requests.tools.get_or_insert_default().call = yes();
    capability
}

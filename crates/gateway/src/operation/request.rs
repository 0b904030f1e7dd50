//! The parts of a request that policies, logs and metrics use.

use std::borrow::Cow;

use turnbuckle_protocol::{envelope::Members, method::ListKind};
use turnbuckle_server::{Caller, RelayedRequest};

/// The kind of an entry, to which patterns and rules apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A tool, by its name in the gateway.
    #[default]
    Tool,
    /// A prompt, by its name in the gateway.
    Prompt,
    /// A resource or a template, by its URI.
    Resource,
}

impl EntryKind {
    /// The kind of the entries in this list.
    pub(crate) fn of(list: ListKind) -> Self {
        match list {
            ListKind::Tools => Self::Tool,
            ListKind::Prompts => Self::Prompt,
            _ => Self::Resource,
        }
    }

    /// The word for the kind: `tool`, `prompt` or `resource`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }
}

/// The method and the entry of a request.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) method: &'static str,
    pub(super) subject: Option<(EntryKind, String)>,
    pub(super) caller: Caller,
}

impl About {
    pub(super) fn new(request: &RelayedRequest<'_>) -> Self {
        Self {
            method: known(request.method()),
            subject: subject(request.method(), request.members()),
            caller: request.caller().clone(),
        }
    }

    /// The name or the URI.
    pub(super) fn name(&self) -> Option<&str> {
        self.subject.as_ref().map(|(_, name)| name.as_str())
    }
}

/// The methods that are counted by name. Clients can send any method, so all others share one name.
const METHODS: [&str; 15] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/update",
    "tasks/cancel",
];

fn known(method: &str) -> &'static str {
    let known = METHODS.into_iter().find(|known| *known == method);
    known.unwrap_or("other")
}

/// The entry that a request names.
pub(super) fn subject(method: &str, params: &Members<'_>) -> Option<(EntryKind, String)> {
    let text = |name| params.text(name).map(Cow::into_owned);
    Some(match method {
        "tools/call" => (EntryKind::Tool, text("name")?),
        "prompts/get" => (EntryKind::Prompt, text("name")?),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            (EntryKind::Resource, text("uri")?)
        }
        "completion/complete" => {
            let reference = params.get("ref")?;
            let part = |name| {
                reference
                    .member(name)
                    .and_then(turnbuckle_protocol::envelope::text_of)
            };
            match part("name") {
                Some(name) => (EntryKind::Prompt, name.into_owned()),
                None => (EntryKind::Resource, part("uri")?.into_owned()),
            }
        }
        _ => return None,
    })
}

/// Whether another replica of the gateway requests a task for one of its own clients. That replica
/// counts and logs the client's request.
#[cfg(feature = "http")]
pub(crate) fn is_task_request_of_replica(request: &RelayedRequest<'_>) -> bool {
    request.method().starts_with("tasks/") && request.client_channel().is_from_replica()
}

#[cfg(not(feature = "http"))]
pub(crate) fn is_task_request_of_replica(_: &RelayedRequest<'_>) -> bool {
    false
}

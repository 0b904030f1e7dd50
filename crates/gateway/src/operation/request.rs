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
        "completion/complete" => completed(params)?,
        _ => return None,
    })
}

/// The entry of a completion. `None` if servers could disagree about which entry the reference names.
fn completed(params: &Members<'_>) -> Option<(EntryKind, String)> {
    // `Members` refuses duplicates.
    let reference = Members::of(params.get("ref")?)?;
    let (kind, member, other) = match &*reference.text("type")? {
        "ref/prompt" => (EntryKind::Prompt, "name", "uri"),
        "ref/resource" => (EntryKind::Resource, "uri", "name"),
        _ => return None,
    };
    if reference.get(other).is_some() {
        return None;
    }
    Some((kind, reference.text(member)?.into_owned()))
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

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::envelope::Raw;

    use super::*;

    fn completed(reference: &str) -> Option<(EntryKind, String)> {
        let params = format!(r#"{{"ref":{reference}}}"#);
        let raw: &serde_json::value::RawValue = serde_json::from_str(&params).expect("JSON");
        let members = Members::of(Raw::from(raw)).expect("an object");
        subject("completion/complete", &members)
    }

    #[test]
    fn a_completion_is_of_the_entry_that_its_type_names() {
        let prompt = completed(r#"{"type":"ref/prompt","name":"a","title":"b"}"#);
        assert_eq!(prompt, Some((EntryKind::Prompt, "a".to_owned())));
        let resource = completed(r#"{"uri":"a://{b}","type":"ref/resource"}"#);
        assert_eq!(resource, Some((EntryKind::Resource, "a://{b}".to_owned())));
    }

    /// Otherwise a rule could judge one entry, and the server could complete another.
    #[test]
    fn a_reference_that_servers_may_read_differently_names_nothing() {
        for reference in [
            r#"{"type":"ref/resource","name":"a","uri":"b://c"}"#,
            r#"{"type":"ref/prompt","name":"a","uri":"b://c"}"#,
            r#"{"type":"ref/prompt","name":"a","name":"b"}"#,
            r#"{"type":"ref/prompt","type":"ref/resource","uri":"b://c"}"#,
            r#"{"type":"ref/resource","name":"a"}"#,
            r#"{"type":"ref/other","name":"a"}"#,
            r#"{"name":"a"}"#,
            r#""a""#,
        ] {
            assert_eq!(completed(reference), None, "{reference}");
        }
    }
}

//! The parts of a request that policies, logs and metrics use.

use std::borrow::Cow;

use turnbuckle_protocol::{envelope::Members, method::ListKind};
use turnbuckle_server::{Caller, Reject, RelayedRequest};

use crate::spelling;

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
    pub(super) subject: Result<Option<(EntryKind, String)>, Unnamed>,
    pub(super) caller: Caller,
}

impl About {
    pub(super) fn new(request: &RelayedRequest<'_>) -> Self {
        let subject = named_entry(request.method(), request.members());
        Self {
            method: known(request.method()),
            subject: subject.map(|entry| entry.map(|(kind, name)| (kind, name.into_owned()))),
            caller: request.caller().clone(),
        }
    }

    /// The kind and the name, or the URI.
    pub(super) fn entry(&self) -> Option<(EntryKind, &str)> {
        let (kind, name) = self.subject.as_ref().ok()?.as_ref()?;
        Some((*kind, name))
    }

    /// The name or the URI.
    pub(super) fn name(&self) -> Option<&str> {
        self.entry().map(|(_, name)| name)
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

/// The error for a request that does not say in one way which entry it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unnamed(&'static str);

impl From<Unnamed> for Reject {
    fn from(Unnamed(said): Unnamed) -> Self {
        Self::invalid_params(said)
    }
}

/// Refuses a request that a server could read as another one than the gateway does. No server may get such a request,
/// also without a policy: the lock has to know the entry, and the only server gets the params unchanged.
pub(crate) fn check_readable(request: &RelayedRequest<'_>) -> Result<(), Reject> {
    let named = named_entry(request.method(), request.members());
    readable(request, named.as_ref()).map(|_| ())
}

/// The entry that a readable request names, which was looked up before. The error is that of [`check_readable`].
pub(super) fn readable<'a, T>(
    request: &RelayedRequest<'_>,
    named: Result<&'a Option<T>, &Unnamed>,
) -> Result<&'a Option<T>, Reject> {
    spelling::check_method(request.method())?;
    spelling::check(request.members())?;
    named.map_err(|unnamed| Reject::from(*unnamed))
}

/// The entry that a request names; `None` for a method that names no entry.
///
/// # Errors
///
/// The name is missing or is not a string of Unicode characters, or servers could disagree about
/// which entry a reference names. No server may get such a request: policies and the lock cannot
/// judge it, but a lenient server might find an entry for it.
fn named_entry<'a>(
    method: &str,
    params: &Members<'a>,
) -> Result<Option<(EntryKind, Cow<'a, str>)>, Unnamed> {
    let name = || {
        let name = params.text("name");
        name.ok_or(Unnamed("`params.name` must be a string"))
    };
    Ok(Some(match method {
        "tools/call" => (EntryKind::Tool, name()?),
        "prompts/get" => (EntryKind::Prompt, name()?),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            let uri = params.text("uri");
            let uri = uri.ok_or(Unnamed("`params.uri` must be a string"))?;
            (EntryKind::Resource, uri)
        }
        "completion/complete" => completed(params).ok_or(Unnamed(
            "`params.ref` must be a `ref/prompt` with a `name`, or a `ref/resource` with a `uri`",
        ))?,
        _ => return Ok(None),
    }))
}

/// The entry of a completion. `None` if servers could disagree about which entry the reference names.
fn completed<'a>(params: &Members<'a>) -> Option<(EntryKind, Cow<'a, str>)> {
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
    Some((kind, reference.text(member)?))
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

    /// The entry that a request names; `None` if the request is refused.
    fn entry(method: &str, params: &str) -> Option<(EntryKind, String)> {
        let raw: &serde_json::value::RawValue = serde_json::from_str(params).expect("JSON");
        let members = Members::of(Raw::from(raw)).expect("an object");
        let entry = named_entry(method, &members).ok()?;
        let (kind, name) = entry.expect("the method names an entry");
        Some((kind, name.into_owned()))
    }

    fn completed(reference: &str) -> Option<(EntryKind, String)> {
        entry("completion/complete", &format!(r#"{{"ref":{reference}}}"#))
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
            r#"{"type":"ref/prompt","name":["a"]}"#,
            r#"{"type":"ref/resource","uri":"b://c\ud800"}"#,
            r#""a""#,
        ] {
            assert_eq!(completed(reference), None, "{reference}");
        }
    }

    /// Otherwise no rule would judge the request, and a lenient server could find an entry for it.
    #[test]
    fn a_name_that_is_not_text_names_nothing() {
        for (method, member) in [
            ("tools/call", "name"),
            ("prompts/get", "name"),
            ("resources/read", "uri"),
            ("resources/subscribe", "uri"),
            ("resources/unsubscribe", "uri"),
        ] {
            let named = |value: &str| entry(method, &format!(r#"{{"{member}":{value}}}"#));
            assert!(named(r#""a\ud83d\ude00""#).is_some(), "{method}");
            for value in [r#"["a"]"#, r#"{"a":1}"#, "1", "null", r#""a\ud800""#] {
                assert_eq!(named(value), None, "{method} {value}");
            }
            assert_eq!(entry(method, "{}"), None, "{method}");
        }
    }
}

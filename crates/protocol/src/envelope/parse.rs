//! Parses messages.

use serde::de::IgnoredAny;

use super::{
    Frame, IdRef, Malformed, MalformedKind, Message, Notification, Raw, Request, Response,
    members::{MAX_MEMBERS, Params},
    scan::{NotJson, Scanner},
    text_of,
};

/// The limit on messages in a batch: as many as requests that may be in progress at once.
const MAX_BATCH: usize = 1024;

/// The error for a message with too many nodes.
const TOO_MANY_NODES: &str = "the message has more JSON nodes (values and names, with more for \
    each list and object) than the limit allows: send less at once, or raise \
    `Limits::max_json_nodes`";

/// Parses one frame.
///
/// ```
/// use turnbuckle_protocol::envelope::{Frame, Message, parse};
///
/// let frame = parse(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).unwrap();
/// let Frame::One(Message::Request(request)) = frame else { panic!() };
/// assert_eq!(request.method, "ping");
/// ```
///
/// # Errors
/// [`Malformed`] says what is wrong, and which error to answer with, if any.
pub fn parse(bytes: &[u8]) -> Result<Frame<'_>, Malformed<'_>> {
    parse_within(bytes, usize::MAX).map(|(frame, _)| frame)
}

/// Parses one frame with at most `max_nodes` nodes, and returns how many it has.
///
/// Nodes measure the memory of the values in a message, about eighty bytes each. They are counted
/// before any value is built: a value is one node, a string one more, a list with elements three more,
/// an object with members four more, and the name of a member is one.
///
/// ```
/// use turnbuckle_protocol::envelope::{MalformedKind, parse_within};
///
/// let message = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":[{},{}]}}"#;
/// let (_, nodes) = parse_within(message, 100).unwrap();
/// assert!(nodes < 20);
/// let error = parse_within(message, 10).unwrap_err();
/// assert_eq!(error.kind, MalformedKind::TooManyNodes);
/// ```
///
/// # Errors
/// Those of [`parse`], and [`MalformedKind::TooManyNodes`].
pub fn parse_within(bytes: &[u8], max_nodes: usize) -> Result<(Frame<'_>, usize), Malformed<'_>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| not_json(format!("the message is not UTF-8: {error}")))?;
    let mut scanner = Scanner::new(text).with_limit(max_nodes);
    match scanner.peek() {
        Some(b'{') => {
            let (draft, nodes) = object(scanner)?;
            Ok((Frame::One(draft.finish()?), nodes))
        }
        Some(b'[') => batch(scanner),
        _ => Err(scalar(scanner)),
    }
}

/// Parses one element of a batch, or any message that is already known to be JSON.
pub fn parse_member<'a>(raw: impl Into<Raw<'a>>) -> Result<Message<'a>, Malformed<'a>> {
    let raw: Raw<'a> = raw.into();
    let scanner = Scanner::new(raw.get());
    if raw.is_object() {
        object(scanner)?.0.finish()
    } else {
        Err(not_an_object())
    }
}

/// Parses the members of a message, and returns them with the number of nodes.
fn object(mut scanner: Scanner<'_>) -> Result<(Draft<'_>, usize), Malformed<'_>> {
    let mut draft = Draft::default();
    let walked = scanner.members(|scanner, name| draft.take(scanner, &name));
    if walked.and_then(|()| scanner.end()).is_ok() {
        return Ok((draft, scanner.nodes()));
    }
    let mut malformed: Malformed<'_> = broken(&scanner);
    if scanner.is_over() {
        // Most peers write the id before the params, which are the large part.
        malformed.id = draft.id.and_then(IdRef::from_raw);
    }
    Err(malformed)
}

fn batch(mut scanner: Scanner<'_>) -> Result<(Frame<'_>, usize), Malformed<'_>> {
    let mut elements = Vec::new();
    let walked = scanner.elements(|element| {
        // A longer batch is refused; the rest must still be valid JSON.
        if elements.len() <= MAX_BATCH {
            elements.push(element);
        }
    });
    if let Err(NotJson) = walked.and_then(|()| scanner.end()) {
        return Err(broken(&scanner));
    }
    match elements.len() {
        0 => Err(not_a_request("the batch is empty")),
        1..=MAX_BATCH => {
            let members = elements.into_iter().map(parse_member).collect();
            Ok((Frame::Batch(members), scanner.nodes()))
        }
        _ => Err(not_a_request(&format!(
            "a batch may have at most {MAX_BATCH} messages; send the rest in another batch"
        ))),
    }
}

fn scalar(mut scanner: Scanner<'_>) -> Malformed<'static> {
    match scanner.value().and_then(|_| scanner.end()) {
        Ok(()) => not_an_object(),
        Err(NotJson) => broken(&scanner),
    }
}

/// Parses the message with serde, to find out what is wrong and where.
#[cold]
fn broken(scanner: &Scanner<'_>) -> Malformed<'static> {
    if scanner.is_over() {
        return Malformed::new(MalformedKind::TooManyNodes, None, TOO_MANY_NODES);
    }
    let error = serde_json::from_str::<IgnoredAny>(scanner.text()).err();
    not_json(error.map_or_else(
        || "the name of a member is not valid text".into(),
        |error| error.to_string(),
    ))
}

fn not_json(message: String) -> Malformed<'static> {
    Malformed::new(MalformedKind::NotJson, None, message)
}

fn not_an_object() -> Malformed<'static> {
    not_a_request("a message must be a JSON object")
}

fn not_a_request(message: &str) -> Malformed<'static> {
    Malformed::new(MalformedKind::NotARequest, None, message)
}

/// The members of the envelope, not checked yet.
#[derive(Default)]
struct Draft<'a> {
    version: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    method: Option<Raw<'a>>,
    params: Option<Params<'a>>,
    result: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    duplicate: Option<&'static str>,
    /// Whether there are members that no message has.
    has_others: bool,
}

impl<'a> Draft<'a> {
    /// Records one member.
    fn take(&mut self, scanner: &mut Scanner<'a>, name: &str) -> Result<(), NotJson> {
        let (slot, name) = match name {
            "jsonrpc" => (&mut self.version, "jsonrpc"),
            "id" => (&mut self.id, "id"),
            "method" => (&mut self.method, "method"),
            "result" => (&mut self.result, "result"),
            "error" => (&mut self.error, "error"),
            "params" => {
                if self.params.replace(Params::read(scanner)?).is_some() {
                    self.duplicate = Some("params");
                }
                return Ok(());
            }
            _ => {
                self.has_others = true;
                return scanner.value().map(drop);
            }
        };
        if slot.replace(scanner.value()?).is_some() {
            self.duplicate = Some(name);
        }
        Ok(())
    }

    fn finish(self) -> Result<Message<'a>, Malformed<'a>> {
        let id = self.id.and_then(IdRef::from_raw);
        if self.method.is_none() && (self.result.is_some() || self.error.is_some()) {
            return self.finish_response(id);
        }
        let Some(method) = self.method.and_then(text_of) else {
            return self.finish_without_method(id);
        };
        let kind = if self.id.is_none() {
            MalformedKind::NoAnswer
        } else {
            MalformedKind::NotARequest
        };
        let refuse = |message: &str| Err(Malformed::new(kind, id.clone(), message));
        if let Some(name) = self.duplicate {
            return refuse(&format!("duplicate member `{name}`"));
        }
        if !self.has_version() {
            return refuse(r#"member `jsonrpc` must be "2.0""#);
        }
        if self.result.is_some() || self.error.is_some() {
            return refuse("a request must not have `result` or `error`");
        }
        if self.id.is_some() && id.is_none() {
            return refuse("member `id` must be a string or an integer");
        }
        let params = match self.params {
            None => super::Members::default(),
            Some(Params::Object(members)) => members,
            Some(Params::NotAnObject) => {
                return bad_params(id, "`params` must be an object".into());
            }
            Some(Params::TooMany) => {
                let problem = format!("`params` may have at most {MAX_MEMBERS} members");
                return bad_params(id, problem);
            }
            Some(Params::Duplicate(name)) => {
                return bad_params(id, format!("duplicate member `{name}` in `params`"));
            }
        };
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification(Notification { method, params }),
        })
    }

    fn has_version(&self) -> bool {
        self.version
            .is_some_and(|version| version.get() == r#""2.0""#)
    }

    /// Handles a message whose method is not a string. Some libraries write every possible member of a
    /// message, with `null` for those that it does not have, and others leave out a result that is
    /// `null`.
    #[cold]
    fn finish_without_method(self, id: Option<IdRef<'a>>) -> Result<Message<'a>, Malformed<'a>> {
        let has_method = self.method.is_some_and(|method| !method.is_null());
        let has_outcome = self.result.is_some() || self.error.is_some();
        if !has_method && has_outcome {
            return self.finish_response(id);
        }
        let has_params = match &self.params {
            None => false,
            Some(Params::Object(members)) => members.raw().is_some(),
            Some(_) => true,
        };
        let is_named = self.version.is_some() || !self.has_others;
        let kind = if !has_method && !has_params && id.is_some() && is_named {
            MalformedKind::NoOutcome
        } else if self.id.is_none() && self.method.is_some() {
            MalformedKind::NoAnswer
        } else {
            MalformedKind::NotARequest
        };
        let message = if let Some(name) = self.duplicate {
            &format!("duplicate member `{name}`")
        } else if !self.has_version() {
            r#"member `jsonrpc` must be "2.0""#
        } else if kind == MalformedKind::NoOutcome {
            "the message has neither `method` nor `result` nor `error`"
        } else if has_method {
            "member `method` must be a string"
        } else {
            "member `method` is missing"
        };
        Err(Malformed::new(kind, id, message))
    }

    fn finish_response(self, id: Option<IdRef<'a>>) -> Result<Message<'a>, Malformed<'a>> {
        // Log objects of programs may have an `id` and an `error`, and are not responses.
        let id = id.filter(|_| self.version.is_some() || !self.has_others);
        let refuse =
            |message: &str| Err(Malformed::new(MalformedKind::NoAnswer, id.clone(), message));
        if let Some(name) = self.duplicate {
            return refuse(&format!("duplicate member `{name}` in a response"));
        }
        if !self.has_version() {
            return refuse(r#"member `jsonrpc` of a response must be "2.0""#);
        }
        // Some libraries write both members, one of them as `null`.
        let (result, error) = match (self.result, self.error) {
            (Some(result), Some(error)) if error.is_null() => (Some(result), None),
            (Some(result), Some(error)) if result.is_null() => (None, Some(error)),
            both => both,
        };
        let outcome = match (result, error) {
            (Some(result), None) if id.is_some() => Ok(result),
            (None, Some(error)) => Err(error),
            (Some(_), Some(_)) => {
                return refuse("a response must not have both `result` and `error`");
            }
            _ => return refuse("a response with a `result` must carry the id of a request"),
        };
        Ok(Message::Response(Response { id, outcome }))
    }
}

fn bad_params(id: Option<IdRef<'_>>, message: String) -> Result<Message<'_>, Malformed<'_>> {
    let kind = if id.is_some() {
        MalformedKind::BadParams
    } else {
        MalformedKind::NoAnswer
    };
    Err(Malformed::new(kind, id, message))
}

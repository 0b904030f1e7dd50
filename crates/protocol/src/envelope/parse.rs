//! Bytes to messages.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Frame, IdRef, Malformed, MalformedKind, Message, Notification, Request, Response,
    members::Params, text_of,
};

/// The most messages that a batch may hold: as many as may be in flight at once.
const MAX_BATCH: usize = 1024;

/// Reads one frame.
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
/// [`Malformed`] says what is wrong and, where the protocol has an answer to it, which.
pub fn parse(bytes: &[u8]) -> Result<Frame<'_>, Malformed<'_>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| not_json(format!("the message is not UTF-8: {error}")))?;
    match serde_json::from_str(text).map_err(|error| not_json(error.to_string()))? {
        Top::Object(draft) => draft.finish().map(Frame::One),
        Top::Array(elements) if elements.is_empty() => Err(not_a_request("the batch is empty")),
        Top::Array(elements) if elements.len() > MAX_BATCH => Err(not_a_request(
            "the batch has more messages than may be sent at once",
        )),
        Top::Array(elements) => Ok(Frame::Batch(
            elements.into_iter().map(parse_member).collect(),
        )),
        Top::Scalar => Err(not_a_request("a message is a JSON object")),
    }
}

/// Reads one element of a batch, or any message that is already known to be JSON.
pub fn parse_member(raw: &RawValue) -> Result<Message<'_>, Malformed<'_>> {
    match serde_json::from_str(raw.get()).map_err(|error| not_json(error.to_string()))? {
        Top::Object(draft) => draft.finish(),
        Top::Array(_) | Top::Scalar => Err(not_a_request("a message is a JSON object")),
    }
}

fn not_json(message: String) -> Malformed<'static> {
    Malformed::new(MalformedKind::NotJson, None, message)
}

fn not_a_request(message: &str) -> Malformed<'static> {
    Malformed::new(MalformedKind::NotARequest, None, message)
}

enum Top<'a> {
    Object(Box<Draft<'a>>),
    Array(Vec<&'a RawValue>),
    Scalar,
}

/// The members of the envelope as they came, before anyone judges them.
#[derive(Default)]
struct Draft<'a> {
    version: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<Params<'a>>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    duplicate: Option<&'static str>,
}

impl<'a> Draft<'a> {
    fn finish(self) -> Result<Message<'a>, Malformed<'a>> {
        let id = self.id.and_then(IdRef::from_raw);
        if self.method.is_none() && (self.result.is_some() || self.error.is_some()) {
            return self.finish_response(id);
        }
        let kind = if self.id.is_none() && self.method.is_some() {
            MalformedKind::NoAnswer
        } else {
            MalformedKind::NotARequest
        };
        let refuse = |message: &str| Err(Malformed::new(kind, id.clone(), message));
        if let Some(name) = self.duplicate {
            return refuse(&format!("member `{name}` stands twice"));
        }
        if self
            .version
            .is_none_or(|version| version.get() != r#""2.0""#)
        {
            return refuse(r#"member `jsonrpc` must be "2.0""#);
        }
        let Some(method) = self.method else {
            return refuse("member `method` is missing");
        };
        let Some(method) = text_of(method) else {
            return refuse("member `method` must be a string");
        };
        if self.result.is_some() || self.error.is_some() {
            return refuse("a request carries no `result` and no `error`");
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
            Some(Params::TooMany) => return bad_params(id, "`params` has too many members".into()),
            Some(Params::Duplicate(name)) => {
                return bad_params(id, format!("member `{name}` of `params` stands twice"));
            }
        };
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification(Notification { method, params }),
        })
    }

    fn finish_response(self, id: Option<IdRef<'a>>) -> Result<Message<'a>, Malformed<'a>> {
        let refuse =
            |message: &str| Err(Malformed::new(MalformedKind::NoAnswer, id.clone(), message));
        if let Some(name) = self.duplicate {
            return refuse(&format!("member `{name}` of a response stands twice"));
        }
        if self
            .version
            .is_none_or(|version| version.get() != r#""2.0""#)
        {
            return refuse(r#"member `jsonrpc` of a response must be "2.0""#);
        }
        let outcome = match (self.result, self.error) {
            (Some(result), None) if id.is_some() => Ok(result),
            (None, Some(error)) => Err(error),
            (Some(_), Some(_)) => return refuse("a response carries both `result` and `error`"),
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

impl<'de: 'a, 'a> Deserialize<'de> for Top<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut draft = Box::<Draft<'de>>::default();
        while let Some(member) = map.next_key()? {
            let (slot, name) = match member {
                Member::Version => (&mut draft.version, "jsonrpc"),
                Member::Id => (&mut draft.id, "id"),
                Member::Method => (&mut draft.method, "method"),
                Member::Result => (&mut draft.result, "result"),
                Member::Error => (&mut draft.error, "error"),
                Member::Params => {
                    if draft.params.replace(map.next_value()?).is_some() {
                        draft.duplicate = Some("params");
                    }
                    continue;
                }
                Member::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                draft.duplicate = Some(name);
            }
        }
        Ok(Top::Object(draft))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() <= MAX_BATCH {
            match seq.next_element()? {
                Some(element) => elements.push(element),
                None => return Ok(Top::Array(elements)),
            }
        }
        // Refused already, but the rest must still be JSON.
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Top::Array(elements))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Top::Scalar)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Top::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Top::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Top::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Top::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Top::Scalar)
    }
}

enum Member {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
    Unknown,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;

        impl de::Visitor<'_> for MemberVisitor {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Member, E> {
                Ok(match name {
                    "jsonrpc" => Member::Version,
                    "id" => Member::Id,
                    "method" => Member::Method,
                    "params" => Member::Params,
                    "result" => Member::Result,
                    "error" => Member::Error,
                    _ => Member::Unknown,
                })
            }
        }

        deserializer.deserialize_str(MemberVisitor)
    }
}

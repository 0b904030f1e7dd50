//! Trace context: the distributed trace that a message belongs to, in the W3C formats.
//!
//! `_meta` carries it under three keys without a prefix: `traceparent`, `tracestate` and `baggage`. A
//! value with an invalid format is ignored, because a broken trace must not break a call.

use std::{fmt, str::FromStr};

use serde_json::Value;

use crate::{
    Meta,
    envelope::{RequestMeta, text_of},
    meta::key,
};

/// The limit on bytes of a `tracestate` that are passed on. The format requires at least 512.
pub const MAX_STATE_BYTES: usize = 512;
/// The limit on members of a `tracestate`, from its format.
const MAX_STATE_MEMBERS: usize = 32;
/// The limit on bytes of a `baggage`, from its format.
pub const MAX_BAGGAGE_BYTES: usize = 8192;

/// The trace that a message belongs to. At least one of its three parts is present.
///
/// ```
/// use turnbuckle_protocol::{Meta, TraceContext};
///
/// let meta = Meta::new()
///     .with("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
///     .with("tracestate", "vendor=1");
/// let context = TraceContext::of(&meta).unwrap();
/// assert!(context.parent().unwrap().is_sampled());
/// assert_eq!(context.state(), Some("vendor=1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    parent: Option<TraceParent>,
    state: Option<Box<str>>,
    baggage: Option<Box<str>>,
}

impl TraceContext {
    /// Creates a context from its parts; `None` if every part is missing or invalid.
    pub fn new(
        parent: Option<TraceParent>,
        state: Option<&str>,
        baggage: Option<&str>,
    ) -> Option<Self> {
        // trace-context: without a valid parent, the state must be ignored.
        let state = state.filter(|state| parent.is_some() && is_state(state));
        let context = Self {
            parent,
            state: state.map(Into::into),
            baggage: baggage.filter(|text| is_baggage(text)).map(Into::into),
        };
        (context.parent.is_some() || context.baggage.is_some()).then_some(context)
    }

    /// Reads the trace context in `_meta`.
    pub fn of(meta: &Meta) -> Option<Self> {
        let text = |key| meta.value(key).and_then(Value::as_str);
        let parent = text(key::TRACEPARENT).and_then(|text| text.parse().ok());
        Self::new(parent, text(key::TRACESTATE), text(key::BAGGAGE))
    }

    /// Reads the trace context in the `_meta` of a request.
    pub fn of_request(meta: &RequestMeta<'_>) -> Option<Self> {
        let parent = meta.traceparent.and_then(text_of);
        let parent = parent.and_then(|text| text.parse().ok());
        let state = meta.tracestate.and_then(text_of);
        let baggage = meta.baggage.and_then(text_of);
        Self::new(parent, state.as_deref(), baggage.as_deref())
    }

    /// Returns the span that the message comes from.
    pub fn parent(&self) -> Option<TraceParent> {
        self.parent
    }

    /// Returns `tracestate`: data of tracing vendors.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns `baggage`: data of applications. It comes from the peer, so trust it no more than the
    /// peer.
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }

    /// Returns the keys of `_meta` and their values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, String)> {
        let parent = self.parent.map(|parent| parent.to_string());
        let state = self.state.as_deref().map(str::to_owned);
        let baggage = self.baggage.as_deref().map(str::to_owned);
        [
            (key::TRACEPARENT, parent),
            (key::TRACESTATE, state),
            (key::BAGGAGE, baggage),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
    }

    /// Writes the context into `_meta`, unless `_meta` already has a `traceparent`.
    pub fn add_to(&self, meta: &mut Meta) {
        if meta.value(key::TRACEPARENT).is_some() {
            return;
        }
        for (key, value) in self.entries() {
            meta.0.entry(key).or_insert_with(|| value.into());
        }
    }
}

/// A `traceparent`: the trace, the span in it, and whether the span is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceParent {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    flags: u8,
}

/// The error for an invalid `traceparent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a valid `traceparent`: it has a version, a trace id, a span id and flags, as in `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`"
)]
pub struct BadTraceParent;

/// The flag of a span that its sender records.
const SAMPLED: u8 = 0x01;

impl TraceParent {
    /// Creates a parent from its parts; `None` if an id consists of zeroes only, which the format
    /// forbids.
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], flags: u8) -> Option<Self> {
        let is_valid = trace_id != [0; 16] && span_id != [0; 8];
        is_valid.then_some(Self {
            trace_id,
            span_id,
            flags,
        })
    }

    /// Returns the id of the trace.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// Returns the id of the span.
    pub fn span_id(&self) -> [u8; 8] {
        self.span_id
    }

    /// Returns the flags.
    pub fn flags(&self) -> u8 {
        self.flags
    }

    /// Returns whether the sender records the span.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

impl FromStr for TraceParent {
    type Err = BadTraceParent;

    fn from_str(text: &str) -> Result<Self, BadTraceParent> {
        let mut parts = text.split('-');
        let mut next = || parts.next().ok_or(BadTraceParent);
        let [version] = hex::<1>(next()?)?;
        let trace_id = hex::<16>(next()?)?;
        let span_id = hex::<8>(next()?)?;
        let [flags] = hex::<1>(next()?)?;
        // trace-context: version ff is forbidden, version 00 ends here, and later ones may have more
        // parts.
        if version == 0xff || version == 0 && parts.next().is_some() {
            return Err(BadTraceParent);
        }
        // Unknown flags of later versions must not be passed on.
        let flags = if version == 0 { flags } else { flags & SAMPLED };
        Self::new(trace_id, span_id, flags).ok_or(BadTraceParent)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trace_id = u128::from_be_bytes(self.trace_id);
        let span_id = u64::from_be_bytes(self.span_id);
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{:02x}", self.flags)
    }
}

/// Parses hexadecimal digits, which must be lower-case and exactly `2 * N`.
fn hex<const N: usize>(text: &str) -> Result<[u8; N], BadTraceParent> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return Err(BadTraceParent);
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let &[high, low] = pair else {
            return Err(BadTraceParent);
        };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Ok(bytes)
}

fn digit(byte: u8) -> Result<u8, BadTraceParent> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(BadTraceParent),
    }
}

/// trace-context: a list of at most 32 `key=value`, in printable ASCII.
fn is_state(text: &str) -> bool {
    let members = text.split(',').map(str::trim);
    text.len() <= MAX_STATE_BYTES
        && members.clone().count() <= MAX_STATE_MEMBERS
        && members.clone().any(|member| !member.is_empty())
        && members.into_iter().all(|member| {
            member.is_empty()
                || member
                    .split_once('=')
                    .is_some_and(|(key, value)| is_state_key(key) && is_state_value(value))
        })
}

fn is_state_key(key: &str) -> bool {
    let is_plain = |byte: u8| {
        byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || matches!(byte, b'_' | b'-' | b'*' | b'/' | b'@')
    };
    key.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && key.len() <= 256
        && key.bytes().all(is_plain)
}

fn is_state_value(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= 256
        && value
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~') && byte != b'=')
}

/// baggage: a list of `key=value` with properties, in printable ASCII.
fn is_baggage(text: &str) -> bool {
    let is_member = |member: &str| {
        let pair = member.split(';').next().unwrap_or_default();
        pair.split_once('=')
            .is_some_and(|(key, _)| !key.trim().is_empty())
    };
    text.len() <= MAX_BAGGAGE_BYTES
        && text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && text.split(',').all(is_member)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_is_read_and_written() {
        let parent: TraceParent = GOOD.parse().unwrap();
        assert_eq!(parent.to_string(), GOOD);
        assert!(parent.is_sampled());
        let later: TraceParent = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-09-what"
            .parse()
            .unwrap();
        assert_eq!(
            later.to_string(),
            GOOD,
            "a later version is passed on as ours"
        );
    }

    // rule: J14
    // trace-context, "traceparent header": invalid values MUST be ignored.
    #[test]
    fn a_malformed_trace_parent_is_ignored() {
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
            "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-äf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(text.parse::<TraceParent>(), Err(BadTraceParent), "{text}");
        }
    }

    #[test]
    fn a_state_without_a_parent_means_nothing() {
        let meta = Meta::new()
            .with(key::TRACEPARENT, "nonsense")
            .with(key::TRACESTATE, "a=1");
        assert_eq!(TraceContext::of(&meta), None);
        let meta = meta.with(key::BAGGAGE, "user=7;secret,tenant=a");
        let context = TraceContext::of(&meta).unwrap();
        assert_eq!(context.parent(), None);
        assert_eq!(context.state(), None);
        assert_eq!(context.baggage(), Some("user=7;secret,tenant=a"));
    }

    // rule: J14
    #[test]
    fn malformed_state_and_baggage_are_dropped() {
        let parent = GOOD.parse().ok();
        let long = "a=1,".repeat(200);
        for state in ["", ",", "A=1", "a", "a=", "a=é", "a=b=c", &long] {
            let context = TraceContext::new(parent, Some(state), None).unwrap();
            assert_eq!(context.state(), None, "{state}");
        }
        for state in ["a=1", "a=1,b@c=2", " a=1 , , 0x/y=z "] {
            let context = TraceContext::new(parent, Some(state), None).unwrap();
            assert_eq!(context.state(), Some(state));
        }
        let heavy = format!("a={}", "x".repeat(MAX_BAGGAGE_BYTES));
        for baggage in ["", "a", "=1", "a=1,,b=2", "a=ü", "a=1\r\nb: 2", &heavy] {
            assert_eq!(
                TraceContext::new(None, None, Some(baggage)),
                None,
                "{baggage}"
            );
        }
    }

    #[test]
    fn what_is_there_already_stays() {
        let other = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00";
        let context = TraceContext::new(GOOD.parse().ok(), Some("a=1"), None).unwrap();
        let mut meta = Meta::new().with(key::TRACEPARENT, other);
        context.add_to(&mut meta);
        assert_eq!(meta, Meta::new().with(key::TRACEPARENT, other));
        let mut empty = Meta::new();
        context.add_to(&mut empty);
        assert_eq!(TraceContext::of(&empty), Some(context));
    }

    #[test]
    fn a_request_is_read_without_a_map() {
        let text = format!(r#"{{"progressToken":1,"traceparent":"{GOOD}","baggage":"a=1"}}"#);
        let raw: &serde_json::value::RawValue = serde_json::from_str(&text).unwrap();
        let meta = RequestMeta::from_raw(raw).unwrap();
        let context = TraceContext::of_request(&meta).unwrap();
        assert_eq!(context.parent().unwrap().to_string(), GOOD);
        assert_eq!(context.baggage(), Some("a=1"));
        let none: &serde_json::value::RawValue =
            serde_json::from_str(r#"{"traceparent":7}"#).unwrap();
        assert_eq!(
            TraceContext::of_request(&RequestMeta::from_raw(none).unwrap()),
            None
        );
    }
}

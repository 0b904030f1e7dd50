//! Serialises requests: the caller's params, and the `_meta` of the connection.
//!
//! A modern request repeats version, capabilities and name of the client. They are serialised once for
//! each connection (a [`CommonMeta`]) and copied in front of the params, which are serialised directly
//! into the queue of outgoing bytes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{Meta, TraceContext, envelope::IdRef, meta::key};

use super::{canceller::Canceller, common_meta::CommonMeta};

/// A request to be sent, without its params.
pub(crate) struct Outgoing<'a> {
    /// The method.
    pub(crate) method: &'a str,
    /// The caller's own `_meta`.
    pub(crate) meta: Option<&'a Meta>,
    /// Whether to ask for progress. The token is the request id, which is unique.
    pub(crate) progress: bool,
    /// The canceller, if any.
    pub(crate) canceller: Option<&'a Canceller>,
}

impl<'a> Outgoing<'a> {
    /// Creates a request with no options.
    pub(crate) fn plain(method: &'a str) -> Self {
        Self {
            method,
            meta: None,
            progress: false,
            canceller: None,
        }
    }

    /// Appends the whole message. After an error the caller must remove the bytes that were already
    /// appended.
    pub(super) fn write<P: Serialize + ?Sized>(
        &self,
        out: &mut Vec<u8>,
        id: &IdRef<'_>,
        common: &CommonMeta,
        params: &P,
    ) -> Result<(), serde_json::Error> {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        id.write(out);
        out.extend_from_slice(br#","method":"#);
        serde_json::to_writer(&mut *out, self.method)?;
        let before = out.len();
        out.extend_from_slice(br#","params":{"_meta":{"#);
        let open = out.len();
        self.write_meta(out, id, common)?;
        if out.len() == open {
            out.truncate(before);
            write_params(out, params)?;
        } else {
            out.push(b'}');
            join_params(out, params)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn write_meta(
        &self,
        out: &mut Vec<u8>,
        id: &IdRef<'_>,
        common: &CommonMeta,
    ) -> Result<(), serde_json::Error> {
        out.extend_from_slice(common.members.as_bytes());
        if let Some(level) = common.log_level
            && !self.says(key::LOG_LEVEL)
        {
            write_member(out, key::LOG_LEVEL, &level)?;
        }
        if self.progress {
            comma(out);
            out.extend_from_slice(br#""progressToken":"#);
            id.write(out);
        }
        for (name, value) in self.meta.into_iter().flat_map(|meta| &meta.0) {
            if is_ours(name, common) {
                continue;
            }
            write_member(out, name, value)?;
        }
        self.write_trace(out)
    }

    /// Whether the caller has set this key of `_meta`.
    fn says(&self, name: &str) -> bool {
        self.meta.is_some_and(|meta| meta.value(name).is_some())
    }

    /// Writes the current trace context, unless the caller has set another.
    fn write_trace(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        if self.says(key::TRACEPARENT) {
            return Ok(());
        }
        let context = turnbuckle_telemetry::current();
        for (name, value) in context.iter().flat_map(TraceContext::entries) {
            if !self.says(name) {
                write_member(out, name, &value)?;
            }
        }
        Ok(())
    }
}

/// Whether only the connection may set this key: a second value would contradict the first, a modern
/// key would make a legacy request modern, and a progress token of the caller could be that of another
/// request.
fn is_ours(name: &str, common: &CommonMeta) -> bool {
    match name {
        key::PROGRESS_TOKEN
        | key::PROTOCOL_VERSION
        | key::CLIENT_CAPABILITIES
        | key::CLIENT_INFO => true,
        key::LOG_LEVEL => common.members.is_empty(),
        _ => false,
    }
}

fn write_member<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    name: &str,
    value: &T,
) -> Result<(), serde_json::Error> {
    comma(out);
    serde_json::to_writer(&mut *out, name)?;
    out.push(b':');
    serde_json::to_writer(out, value)
}

fn comma(out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
}

/// Appends `,"params":…`, or nothing if there are no params: JSON-RPC does not allow `null` there.
fn write_params<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    params: &P,
) -> Result<(), serde_json::Error> {
    let before = out.len();
    out.extend_from_slice(br#","params":"#);
    let start = out.len();
    serde_json::to_writer(&mut *out, params)?;
    match out[start] {
        b'{' => Ok(()),
        b'n' => {
            out.truncate(before);
            Ok(())
        }
        _ => Err(not_an_object()),
    }
}

/// Writes the members of `params` into the object that `out` has begun, and closes it.
fn join_params<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    params: &P,
) -> Result<(), serde_json::Error> {
    let start = out.len();
    serde_json::to_writer(&mut *out, params)?;
    match &out[start..] {
        b"{}" | b"null" => {
            out.truncate(start);
            out.push(b'}');
            Ok(())
        }
        [b'{', ..] => {
            out[start] = b',';
            Ok(())
        }
        _ => Err(not_an_object()),
    }
}

fn not_an_object() -> serde_json::Error {
    serde::ser::Error::custom("the params of a request are an object")
}

/// Removes `_meta` from params that the caller wrote, so that it is merged instead of written twice.
pub(crate) fn split_meta(
    params: Box<RawValue>,
) -> Result<(Option<Meta>, Box<RawValue>), serde_json::Error> {
    if !params.get().contains("\"_meta\"") {
        return Ok((None, params));
    }
    // The other members are copied unchanged, so that numbers do not lose digits.
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(params.get())?;
    let Some(meta) = members.remove("_meta") else {
        return Ok((None, params));
    };
    let meta = serde_json::from_str(meta.get())?;
    let rest = serde_json::value::to_raw_value(&members)?;
    Ok((meta, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use turnbuckle_protocol::{Implementation, LoggingLevel, Revision};

    use super::*;
    use crate::profile::{Profile, TaskSupport};

    fn modern() -> CommonMeta {
        let mut profile = Profile::from(Implementation::new("app", "1"));
        profile.settings.tasks = TaskSupport::Off;
        CommonMeta::new(Revision::LATEST, &profile, None)
    }

    fn written(outgoing: &Outgoing<'_>, common: &CommonMeta, params: &Value) -> Value {
        let mut out = Vec::new();
        outgoing
            .write(&mut out, &IdRef::Int(7), common, params)
            .unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_legacy_request_says_nothing_about_the_client() {
        assert_eq!(
            written(
                &Outgoing::plain("tools/list"),
                &CommonMeta::default(),
                &json!({"cursor": "a"})
            ),
            json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"cursor": "a"}})
        );
        assert_eq!(
            written(
                &Outgoing::plain("ping"),
                &CommonMeta::default(),
                &Value::Null
            ),
            json!({"jsonrpc": "2.0", "id": 7, "method": "ping"})
        );
    }

    // rule: M1
    // basic, `_meta`: every modern request MUST carry version and capabilities.
    #[test]
    fn a_modern_request_says_it_all_whatever_its_params() {
        let expected = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "app", "version": "1"},
        });
        for params in [
            Value::Null,
            json!({}),
            json!({"name": "x", "arguments": {}}),
        ] {
            let message = written(&Outgoing::plain("m"), &modern(), &params);
            assert_eq!(message["params"]["_meta"], expected, "{params}");
            let mut rest = message["params"].clone();
            rest.as_object_mut().unwrap().remove("_meta");
            let plain = if params.is_null() { json!({}) } else { params };
            assert_eq!(rest, plain);
        }
    }

    // rule: J10
    #[test]
    fn the_callers_meta_is_kept_but_not_what_the_connection_decides() {
        let meta = Meta::new()
            .with("traceparent", "00-aa")
            .with(key::PROTOCOL_VERSION, "1999-01-01")
            .with(key::PROGRESS_TOKEN, 99);
        let outgoing = Outgoing {
            method: "m",
            meta: Some(&meta),
            progress: true,
            canceller: None,
        };
        let legacy = written(&outgoing, &CommonMeta::default(), &json!({"a": 1}));
        assert_eq!(
            legacy["params"],
            json!({"_meta": {"progressToken": 7, "traceparent": "00-aa"}, "a": 1})
        );
        let modern = written(&outgoing, &modern(), &Value::Null);
        assert_eq!(
            modern["params"]["_meta"][key::PROTOCOL_VERSION],
            "2026-07-28"
        );
        assert_eq!(modern["params"]["_meta"]["traceparent"], "00-aa");
    }

    #[test]
    fn the_level_of_a_request_comes_before_that_of_the_connection() {
        let common = CommonMeta {
            log_level: Some(LoggingLevel::Error),
            ..modern()
        };
        let level = |meta: Option<&Meta>, common: &CommonMeta| {
            let outgoing = Outgoing {
                meta,
                ..Outgoing::plain("m")
            };
            written(&outgoing, common, &Value::Null)["params"]["_meta"][key::LOG_LEVEL].clone()
        };
        let own = Meta::new().with_log_level(LoggingLevel::Debug);
        assert_eq!(level(None, &common), "error");
        assert_eq!(level(Some(&own), &common), "debug");
        assert_eq!(level(Some(&own), &CommonMeta::default()), Value::Null);
    }

    #[test]
    fn params_that_are_no_object_are_refused() {
        for params in [json!([1]), json!("x"), json!(1)] {
            for common in [CommonMeta::default(), modern()] {
                let mut out = Vec::new();
                assert!(
                    Outgoing::plain("m")
                        .write(&mut out, &IdRef::Int(1), &common, &params)
                        .is_err()
                );
            }
        }
    }

    #[test]
    fn meta_is_taken_out_of_foreign_params_without_touching_the_rest() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let (meta, rest) = split_meta(raw(r#"{"n":1.0e2,"_meta":{"a":1}}"#)).unwrap();
        assert_eq!(meta, Some(Meta::new().with("a", 1)));
        assert_eq!(rest.get(), r#"{"n":1.0e2}"#);
        let inner = r#"{"arguments":{"_meta":{}}}"#;
        let (meta, rest) = split_meta(raw(inner)).unwrap();
        assert_eq!((meta, rest.get()), (None, inner));
    }
}

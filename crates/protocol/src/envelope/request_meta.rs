//! The part of a request's `_meta` that the protocol itself reads, borrowed.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{IdRef, text::Text, text_of};

/// What `params._meta` of a request says to the protocol. Everything else stays in the raw text.
#[derive(Clone, Debug, Default)]
pub struct RequestMeta<'a> {
    /// `progressToken`, unparsed.
    pub progress_token: Option<&'a RawValue>,
    /// `io.modelcontextprotocol/protocolVersion`, unparsed. Its presence makes a request modern.
    pub protocol_version: Option<&'a RawValue>,
    /// `io.modelcontextprotocol/clientCapabilities`, unparsed.
    pub client_capabilities: Option<&'a RawValue>,
    /// `io.modelcontextprotocol/clientInfo`, unparsed.
    pub client_info: Option<&'a RawValue>,
    /// `io.modelcontextprotocol/logLevel`, unparsed.
    pub log_level: Option<&'a RawValue>,
    /// `traceparent`, unparsed.
    pub traceparent: Option<&'a RawValue>,
    /// `tracestate`, unparsed.
    pub tracestate: Option<&'a RawValue>,
    /// `baggage`, unparsed.
    pub baggage: Option<&'a RawValue>,
    /// The whole `_meta` object.
    pub raw: Option<&'a RawValue>,
}

impl<'a> RequestMeta<'a> {
    /// Reads `_meta`; `None` if it is not an object.
    pub fn from_raw(raw: &'a RawValue) -> Option<Self> {
        let mut meta: Self = serde_json::from_str(raw.get()).ok()?;
        meta.raw = Some(raw);
        Some(meta)
    }

    /// The progress token, if it is a string or an integer.
    pub fn token(&self) -> Option<IdRef<'a>> {
        self.progress_token.and_then(IdRef::from_raw)
    }

    /// Whether it says anything about a trace.
    pub fn has_trace(&self) -> bool {
        self.traceparent.is_some() || self.baggage.is_some()
    }

    /// The protocol version, if it is a string.
    pub fn version(&self) -> Option<Cow<'a, str>> {
        self.protocol_version.and_then(text_of)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RequestMeta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetaVisitor;

        impl<'de> Visitor<'de> for MetaVisitor {
            type Value = RequestMeta<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut meta = RequestMeta::default();
                while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
                    let slot = match key.strip_prefix("io.modelcontextprotocol/") {
                        Some("protocolVersion") => &mut meta.protocol_version,
                        Some("clientCapabilities") => &mut meta.client_capabilities,
                        Some("clientInfo") => &mut meta.client_info,
                        Some("logLevel") => &mut meta.log_level,
                        None if key == "progressToken" => &mut meta.progress_token,
                        None if key == "traceparent" => &mut meta.traceparent,
                        None if key == "tracestate" => &mut meta.tracestate,
                        None if key == "baggage" => &mut meta.baggage,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *slot = Some(map.next_value()?);
                }
                Ok(meta)
            }
        }

        deserializer.deserialize_map(MetaVisitor)
    }
}

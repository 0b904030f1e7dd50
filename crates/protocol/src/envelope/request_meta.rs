//! The members of a request's `_meta` that the protocol uses, borrowed.

use std::borrow::Cow;

use super::{
    IdRef, Raw,
    scan::{NotJson, Scanner},
    text_of,
};

/// The members of `params._meta` that the protocol uses. All others stay unparsed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestMeta<'a> {
    /// `progressToken`, unparsed.
    pub progress_token: Option<Raw<'a>>,
    /// `io.modelcontextprotocol/protocolVersion`, unparsed. Its presence makes a request modern.
    pub protocol_version: Option<Raw<'a>>,
    /// `io.modelcontextprotocol/clientCapabilities`, unparsed.
    pub client_capabilities: Option<Raw<'a>>,
    /// `io.modelcontextprotocol/clientInfo`, unparsed.
    pub client_info: Option<Raw<'a>>,
    /// `io.modelcontextprotocol/logLevel`, unparsed.
    pub log_level: Option<Raw<'a>>,
    /// `traceparent`, unparsed.
    pub traceparent: Option<Raw<'a>>,
    /// `tracestate`, unparsed.
    pub tracestate: Option<Raw<'a>>,
    /// `baggage`, unparsed.
    pub baggage: Option<Raw<'a>>,
    /// The whole `_meta` object.
    pub raw: Option<Raw<'a>>,
}

impl<'a> RequestMeta<'a> {
    /// Parses `_meta`. Returns `None` if it is not an object.
    pub fn from_raw(raw: impl Into<Raw<'a>>) -> Option<Self> {
        let raw: Raw<'a> = raw.into();
        let mut meta = Self::read(&mut Scanner::new(raw.get())).ok()?;
        meta.raw = Some(raw);
        Some(meta)
    }

    /// Scans an object that is a `_meta`.
    pub(super) fn read(scanner: &mut Scanner<'a>) -> Result<Self, NotJson> {
        let mut meta = Self::default();
        scanner.members(|scanner, name| {
            let value = scanner.value()?;
            if let Some(slot) = meta.slot(&name) {
                *slot = Some(value);
            }
            Ok(())
        })?;
        Ok(meta)
    }

    fn slot(&mut self, name: &str) -> Option<&mut Option<Raw<'a>>> {
        Some(match name.strip_prefix("io.modelcontextprotocol/") {
            Some("protocolVersion") => &mut self.protocol_version,
            Some("clientCapabilities") => &mut self.client_capabilities,
            Some("clientInfo") => &mut self.client_info,
            Some("logLevel") => &mut self.log_level,
            None if name == "progressToken" => &mut self.progress_token,
            None if name == "traceparent" => &mut self.traceparent,
            None if name == "tracestate" => &mut self.tracestate,
            None if name == "baggage" => &mut self.baggage,
            _ => return None,
        })
    }

    /// Returns the progress token, if it is a string or an integer.
    pub fn token(&self) -> Option<IdRef<'a>> {
        self.progress_token.and_then(IdRef::from_raw)
    }

    /// Returns whether `_meta` has a trace context.
    pub fn has_trace(&self) -> bool {
        self.traceparent.is_some() || self.baggage.is_some()
    }

    /// Returns the protocol version, if it is a string.
    pub fn version(&self) -> Option<Cow<'a, str>> {
        self.protocol_version.and_then(text_of)
    }
}

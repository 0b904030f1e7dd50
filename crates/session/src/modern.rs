//! Checks that a modern request has all required metadata.

use serde_json::{Value, json};
use turnbuckle_protocol::{
    Revision,
    error::code,
    meta::key::{CLIENT_CAPABILITIES, PROTOCOL_VERSION},
};

use crate::{Era, negotiate::dates};

/// The metadata that every accepted modern request has. `C` is the client's capabilities, in the form
/// in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modern<C> {
    /// The revision to serve the request at.
    pub revision: Revision,
    /// The capabilities of the client for this request.
    pub capabilities: C,
}

impl<C> Modern<C> {
    /// Checks the metadata of a request: first its version, then its capabilities.
    ///
    /// `supported` is the list of revisions in the server's `server/discover` result. It may contain
    /// legacy revisions, but those cannot be used without a handshake.
    ///
    /// ```
    /// use turnbuckle_protocol::Revision;
    /// use turnbuckle_session::Modern;
    ///
    /// let request = Modern::check(Some("2026-07-28"), Some("{}"), Revision::ALL)?;
    /// assert_eq!(request.revision, Revision::V2026_07_28);
    ///
    /// let refused = Modern::check(Some("1900-01-01"), Some("{}"), Revision::ALL).unwrap_err();
    /// assert_eq!(refused.code(), -32022);
    /// # Ok::<(), turnbuckle_session::modern::Rejection>(())
    /// ```
    ///
    /// # Errors
    /// [`Rejection`], with the code and data for the answer.
    pub fn check(
        version: Option<&str>,
        capabilities: Option<C>,
        supported: &[Revision],
    ) -> Result<Self, Rejection> {
        match (version, capabilities) {
            (None, None) => Err(Rejection::Incomplete {
                missing: Missing::Both,
            }),
            (None, Some(_)) => Err(Rejection::Incomplete {
                missing: Missing::ProtocolVersion,
            }),
            (Some(version), capabilities) => {
                let revision = spoken(version, supported)?;
                let capabilities = capabilities.ok_or(Rejection::Incomplete {
                    missing: Missing::ClientCapabilities,
                })?;
                Ok(Self {
                    revision,
                    capabilities,
                })
            }
        }
    }
}

fn spoken(version: &str, supported: &[Revision]) -> Result<Revision, Rejection> {
    Revision::from_date(version)
        .filter(|revision| Era::from(*revision) == Era::Modern && supported.contains(revision))
        .ok_or_else(|| Rejection::UnsupportedVersion {
            supported: supported.to_vec(),
            requested: version.to_owned(),
        })
}

/// Which of the two required `_meta` fields a request lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The version.
    ProtocolVersion,
    /// The capabilities.
    ClientCapabilities,
    /// Both.
    Both,
}

impl Missing {
    /// Returns the keys of the missing fields.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::ProtocolVersion => &[PROTOCOL_VERSION],
            Self::ClientCapabilities => &[CLIENT_CAPABILITIES],
            Self::Both => &[PROTOCOL_VERSION, CLIENT_CAPABILITIES],
        }
    }

    const fn clause(self) -> &'static str {
        match self {
            Self::ProtocolVersion => "`io.modelcontextprotocol/protocolVersion` (a string)",
            Self::ClientCapabilities => {
                "`io.modelcontextprotocol/clientCapabilities` (an object; `{}` for none)"
            }
            Self::Both => {
                "`io.modelcontextprotocol/protocolVersion` (a string) and \
                 `io.modelcontextprotocol/clientCapabilities` (an object; `{}` for none)"
            }
        }
    }
}

/// Why a modern request is refused before its method is examined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The version is not supported without a handshake.
    #[error(
        "protocol version `{requested:.32}` is not supported without `initialize`; supported: {}",
        dates(supported)
    )]
    UnsupportedVersion {
        /// The revisions of the server.
        supported: Vec<Revision>,
        /// The version that the client requested.
        requested: String,
    },
    /// A required `_meta` field is missing or has the wrong type.
    #[error("the request's `_meta` lacks {}", missing.clause())]
    Incomplete {
        /// The field or fields.
        missing: Missing,
    },
}

impl Rejection {
    /// Returns the JSON-RPC error code for the answer. Over HTTP its status is 400.
    pub const fn code(&self) -> i64 {
        match self {
            Self::UnsupportedVersion { .. } => code::UNSUPPORTED_PROTOCOL_VERSION,
            Self::Incomplete { .. } => code::INVALID_PARAMS,
        }
    }

    /// Returns the `data` of the JSON-RPC error for the answer.
    pub fn data(&self) -> Option<Value> {
        Some(match self {
            Self::UnsupportedVersion {
                supported,
                requested,
            } => {
                json!({ "supported": supported, "requested": requested })
            }
            Self::Incomplete { missing } => json!({ "missing": missing.fields() }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Revision::{V2025_11_25, V2026_07_28};

    const BOTH_ERAS: [Revision; 2] = [V2026_07_28, V2025_11_25];

    fn refusal(version: Option<&str>, capabilities: Option<&str>) -> Rejection {
        Modern::check(version, capabilities, &BOTH_ERAS).unwrap_err()
    }

    #[test]
    fn a_complete_request_is_served_at_the_version_it_names() {
        let accepted = Modern::check(Some("2026-07-28"), Some("{}"), &BOTH_ERAS).unwrap();
        assert_eq!(
            accepted,
            Modern {
                revision: V2026_07_28,
                capabilities: "{}"
            }
        );
    }

    #[test]
    fn an_unsupported_version_is_answered_with_what_is_supported_and_what_was_asked() {
        // versioning: -32022 MUST list the supported versions.
        for version in ["1900-01-01", "v999.0.0", "", "2026-07-29"] {
            let refused = refusal(Some(version), Some("{}"));
            assert_eq!(refused.code(), -32022);
            assert_eq!(
                refused.data(),
                Some(json!({ "supported": ["2026-07-28", "2025-11-25"], "requested": version }))
            );
        }
    }

    #[test]
    fn a_legacy_version_cannot_be_spoken_without_a_handshake() {
        assert_eq!(refusal(Some("2025-11-25"), Some("{}")).code(), -32022);
    }

    #[test]
    fn a_modern_version_the_server_leaves_out_is_unsupported() {
        let refused = Modern::check(Some("2026-07-28"), Some("{}"), &[V2025_11_25]).unwrap_err();
        assert_eq!(refused.code(), -32022);
    }

    #[test]
    fn the_version_is_judged_before_the_capabilities() {
        assert_eq!(refusal(Some("1900-01-01"), None).code(), -32022);
    }

    #[test]
    fn each_missing_field_is_named() {
        for (version, capabilities, named) in [
            (None, Some("{}"), &[PROTOCOL_VERSION][..]),
            (Some("2026-07-28"), None, &[CLIENT_CAPABILITIES]),
            (None, None, &[PROTOCOL_VERSION, CLIENT_CAPABILITIES]),
        ] {
            let refused = refusal(version, capabilities);
            assert_eq!(refused.code(), -32602);
            assert_eq!(refused.data(), Some(json!({ "missing": named })));
            for field in named {
                assert!(refused.to_string().contains(field), "{refused}");
            }
        }
    }

    #[test]
    fn a_long_version_is_shortened_in_the_message() {
        let refused = refusal(Some(&"9".repeat(10_000)), Some("{}"));
        assert!(refused.to_string().len() < 200);
    }
}

//! Errors of the protocol: their codes, and the data some of them carry.

mod read;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{ClientCapabilities, ElicitRequestUrlParams, OtherMembers};

/// The codes of errors.
pub mod code {
    /// The message is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message is JSON but not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown, or its capability was not declared.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params are invalid. Since 2026-07-28 also: the resource was not found.
    pub const INVALID_PARAMS: i64 = -32602;
    /// An internal error of the receiver.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The resource was not found. Until 2025-11-25.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The HTTP headers of a request contradict its body. Since 2026-07-28.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request requires a capability that the client did not declare. Since 2026-07-28.
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not support the revision of the request. Since 2026-07-28.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// The user must visit a URL first. Only in 2025-11-25.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The user rejected the sampling request. Until 2025-11-25.
    pub const USER_REJECTED: i64 = -1;
    /// The user or a policy does not allow the request. Not a code of the specification.
    pub const FORBIDDEN: i64 = 403;
    /// There were too many requests recently. Not a code of the specification, which reserves the codes
    /// from -32768 to -32000.
    pub const TOO_MANY_REQUESTS: i64 = 429;
}

/// The `error` object of a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The kind of error; see [`code`].
    #[serde(deserialize_with = "crate::json::whole")]
    pub code: i64,
    /// The error message: a sentence.
    pub message: String,
    /// Structured data about the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

/// How many characters of a name a message contains.
const SHOWN_CHARS: usize = 128;

/// How many characters of the problem with JSON a message contains. The problem may quote the input.
const PROBLEM_CHARS: usize = 256;

/// Returns a name for use in a message. The result is always one line: control characters, and
/// characters that end a line or change the direction of text, are escaped.
///
/// ```
/// use turnbuckle_protocol::error::name_in_message;
///
/// assert_eq!(name_in_message("none\nsuch"), "none\\nsuch");
/// ```
pub fn name_in_message(name: &str) -> String {
    in_one_line(name, SHOWN_CHARS)
}

fn in_one_line(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    for character in text.chars().take(max_chars) {
        match character {
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_unicode());
            }
            _ if character.is_control() => shown.extend(character.escape_debug()),
            _ => shown.push(character),
        }
    }
    shown
}

/// Returns why JSON could not be parsed, for use in a message. Line and column numbers are left out,
/// because they may not be those of the text that the peer sent. The result is always one line.
pub fn problem_in_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let problem = match text.rsplit_once(" at line ") {
        Some((problem, _)) => problem,
        None => &text,
    };
    in_one_line(problem, PROBLEM_CHARS)
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data for programs. Data that cannot be serialised as JSON is left out.
    pub fn with_data(mut self, data: impl Serialize) -> Self {
        self.data = serde_json::to_value(data).ok();
        self
    }

    /// Creates an error: the message is not JSON.
    pub fn parse_error(message: impl Into<String>) -> Self {
        Self::new(code::PARSE_ERROR, message)
    }

    /// Creates an error: the message is JSON but not a request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// Creates an error: the method is unknown.
    pub fn method_not_found(method: &str) -> Self {
        let name = name_in_message(method);
        Self::new(
            code::METHOD_NOT_FOUND,
            format!("method `{name}` is not available here"),
        )
    }

    /// Creates an error: the params are invalid.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Creates an internal error.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// Creates an error: the resource was not found, with the error code of 2026-07-28.
    pub fn resource_not_found(uri: &str) -> Self {
        Self::new(
            code::INVALID_PARAMS,
            format!("resource `{}` was not found", name_in_message(uri)),
        )
        .with_data(json!({ "uri": uri }))
    }

    /// Returns whether the error means that the resource was not found, in the form of any revision.
    pub fn is_resource_not_found(&self) -> bool {
        match self.code {
            code::RESOURCE_NOT_FOUND => true,
            code::INVALID_PARAMS => self.names_a_uri(),
            _ => false,
        }
    }

    /// Creates an error: the HTTP headers of a request contradict its body.
    pub fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(code::HEADER_MISMATCH, message)
    }

    /// Creates an error: the request requires capabilities that the client did not declare.
    pub fn missing_capability(message: impl Into<String>, required: ClientCapabilities) -> Self {
        Self::new(code::MISSING_REQUIRED_CLIENT_CAPABILITY, message).with_data(
            MissingRequiredClientCapability {
                required_capabilities: required,
            },
        )
    }

    /// Creates an error: the user must visit these URLs first. Only in 2025-11-25.
    pub fn url_elicitation_required(elicitations: Vec<ElicitRequestUrlParams>) -> Self {
        Self::new(
            code::URL_ELICITATION_REQUIRED,
            "the user must visit a URL before this request can continue",
        )
        .with_data(UrlElicitationRequired {
            elicitations,
            other: OtherMembers::new(),
        })
    }

    /// Returns the missing client capabilities, if the error is about those.
    pub fn missing_capability_data(&self) -> Option<MissingRequiredClientCapability> {
        self.typed_data(code::MISSING_REQUIRED_CLIENT_CAPABILITY)
    }

    /// Returns the revisions that the server supports, if the error is about the version.
    pub fn unsupported_version_data(&self) -> Option<UnsupportedProtocolVersion> {
        self.typed_data(code::UNSUPPORTED_PROTOCOL_VERSION)
    }

    /// Returns the URLs to visit first, if the error is about those.
    pub fn url_elicitation_data(&self) -> Option<UrlElicitationRequired> {
        self.typed_data(code::URL_ELICITATION_REQUIRED)
    }

    /// Whether the data names a resource.
    pub(crate) fn names_a_uri(&self) -> bool {
        self.data
            .as_ref()
            .is_some_and(|data| data.get("uri").is_some_and(Value::is_string))
    }

    fn typed_data<T: DeserializeOwned>(&self, code: i64) -> Option<T> {
        (self.code == code)
            .then_some(self.data.as_ref())
            .flatten()
            .and_then(|data| T::deserialize(data).ok())
    }
}

/// The data of [`code::MISSING_REQUIRED_CLIENT_CAPABILITY`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingRequiredClientCapability {
    /// The missing client capabilities.
    pub required_capabilities: ClientCapabilities,
}

impl MissingRequiredClientCapability {
    /// Creates the data from the missing client capabilities.
    pub fn new(required_capabilities: ClientCapabilities) -> Self {
        Self {
            required_capabilities,
        }
    }
}

/// The data of [`code::UNSUPPORTED_PROTOCOL_VERSION`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnsupportedProtocolVersion {
    /// The revisions that the server supports.
    pub supported: Vec<String>,
    /// The revision of the request.
    pub requested: String,
}

impl UnsupportedProtocolVersion {
    /// Creates the data from the requested version and the supported ones.
    pub fn new(requested: impl Into<String>, supported: Vec<String>) -> Self {
        Self {
            supported,
            requested: requested.into(),
        }
    }
}

/// The data of [`code::URL_ELICITATION_REQUIRED`]. Only in 2025-11-25.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The URLs to visit.
    pub elicitations: Vec<ElicitRequestUrlParams>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl UrlElicitationRequired {
    /// Creates the data from the URLs to visit first.
    pub fn new(elicitations: Vec<ElicitRequestUrlParams>) -> Self {
        Self {
            elicitations,
            other: OtherMembers::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Revision;

    // rule: E8
    // elicitation, 2025-11-25: the error MUST list the elicitations, each with its id, and its code is
    // used only for this error.
    #[test]
    fn urls_to_visit_first_are_listed_with_their_ids() {
        let mut visit = ElicitRequestUrlParams::new("Sign in.", "https://example.com/in");
        visit.elicitation_id = Some("e-1".to_owned());
        let error = ErrorObject::url_elicitation_required(vec![visit]);
        assert_eq!(error.code, -32042);
        let listed = &error.data.as_ref().unwrap()["elicitations"][0];
        assert_eq!(listed["mode"], "url");
        assert_eq!(listed["elicitationId"], "e-1");
        assert_eq!(listed["url"], "https://example.com/in");
        assert!(error.url_elicitation_data().is_some());
        let other = ErrorObject {
            code: -32603,
            ..error
        };
        assert_eq!(other.url_elicitation_data(), None);
    }

    #[test]
    fn data_is_read_only_under_its_own_code() {
        let error = ErrorObject::unsupported_version("1900-01-01", &[Revision::LATEST]);
        let data = error.unsupported_version_data().unwrap();
        assert_eq!(
            (data.requested.as_str(), data.supported.len()),
            ("1900-01-01", 1)
        );
        assert_eq!(error.missing_capability_data(), None);
        assert_eq!(
            ErrorObject {
                code: -32603,
                ..error
            }
            .unsupported_version_data(),
            None
        );
    }

    #[test]
    fn a_missing_resource_is_recognised_in_every_dialect() {
        assert!(ErrorObject::resource_not_found("file:///a").is_resource_not_found());
        assert!(ErrorObject::new(code::RESOURCE_NOT_FOUND, "gone").is_resource_not_found());
        assert!(!ErrorObject::invalid_params("bad cursor").is_resource_not_found());
    }
}

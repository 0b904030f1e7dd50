//! The parts of a message that HTTP headers repeat.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::{Value, json};
use turnbuckle::{
    protocol::envelope::{Id, Outline},
    protocol::http::{ParamHeaders, encode, header, name_of},
    transport::http::client::{HeaderMap, HeaderName, HeaderValue},
};

/// The member of `_meta` that names the revision of a modern request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of the client.
pub(super) struct Envelope {
    id: Option<Id>,
    method: Option<String>,
    params: Value,
}

impl Envelope {
    pub(super) fn parse(line: &[u8]) -> Self {
        let outline = Outline::of(line);
        let params = outline.params.and_then(|params| params.parse().ok());
        Self {
            id: outline.id(),
            method: outline.method().map(Cow::into_owned),
            params: params.unwrap_or_default(),
        }
    }

    /// The id of a request.
    pub(super) fn id(&self) -> Option<&Id> {
        self.id.as_ref().filter(|_| self.method.is_some())
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The id of the request that this cancellation cancels.
    pub(super) fn cancelled(&self) -> Option<Id> {
        let is_one = self.method() == Some("notifications/cancelled");
        let id = self.params.get("requestId").filter(|_| is_one)?;
        Id::deserialize(id).ok()
    }

    /// The revision, if this is a modern request.
    pub(super) fn revision(&self) -> Option<&str> {
        self.params["_meta"][VERSION].as_str()
    }

    /// An error in place of an answer that never came.
    pub(super) fn failed(&self, reason: &str) -> Option<String> {
        let error = json!({"code": -32_000, "message": reason});
        Some(json!({"jsonrpc": "2.0", "id": self.id()?, "error": error}).to_string())
    }

    /// The headers that repeat parts of a modern request.
    pub(super) fn headers(&self, params: Option<&ParamHeaders>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let (Some(revision), Some(method)) = (self.revision(), self.method()) else {
            return headers;
        };
        set(&mut headers, header::PROTOCOL_VERSION, revision);
        set(&mut headers, header::METHOD, method);
        let name = name_of(method).and_then(|member| self.params[member].as_str());
        if let Some(name) = name {
            set(&mut headers, header::NAME, &encode(name));
        }
        let arguments = self.params["arguments"].as_object();
        if let (Some(params), Some(arguments)) = (params, arguments) {
            // Values that a header cannot carry are left out; the server then reports the problem.
            for (name, value) in params.headers_for(arguments).unwrap_or_default() {
                set(&mut headers, name, &value);
            }
        }
        headers
    }

    /// The name of the tool that is called.
    pub(super) fn tool(&self) -> Option<&str> {
        let is_call = self.method() == Some("tools/call");
        self.params["name"].as_str().filter(|_| is_call)
    }
}

/// Adds a header. A value that a header cannot carry is left out; the server then reports the problem.
pub(super) fn set(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

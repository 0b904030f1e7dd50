//! `Reject`: JSON-RPC errors for the peer's program.

use std::fmt;

use serde_json::Value;
use turnbuckle_protocol::{ErrorObject, error::code};

/// An error response (JSON-RPC error) for a request that cannot be served. Return it from handlers
/// of prompts, resources and extension methods; for tools prefer [`ToolError`](crate::ToolError),
/// which a model can read.
///
/// ```
/// use turnbuckle_server::Reject;
///
/// let reject = Reject::invalid_params("unknown seat `99Z`");
/// assert_eq!(reject.code(), -32602);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reject(Box<ErrorObject>);

impl Reject {
    /// An error with a code of your own; the specification leaves codes outside −32768…−32000 to
    /// applications.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self::of(ErrorObject::new(code, message))
    }

    /// An error of the protocol as it is.
    pub(crate) fn of(error: ErrorObject) -> Self {
        Self(Box::new(error))
    }

    /// −32602: the parameters are wrong, such as an unknown name or a missing argument. Say what
    /// was expected.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// −32600: this is not a valid request, or not at this time.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// −32601: the method is unknown, or not offered to this caller.
    pub fn method_not_found(method: &str) -> Self {
        Self::of(ErrorObject::method_not_found(method))
    }

    /// −32603: the request was valid but cannot be served. The client reads the message; use a
    /// [`Fault`](crate::Fault) for errors whose text must not leave the process.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// The resource was not found. Each revision has its own code for this; the right one is sent.
    /// Return it from handlers of templates whose variables match nothing.
    pub fn resource_not_found(uri: &str) -> Self {
        Self::of(ErrorObject::resource_not_found(uri))
    }

    /// Adds structured data about the error, for programs. The client gets it as `data`.
    pub fn with_data(mut self, data: Value) -> Self {
        self.0.data = Some(data);
        self
    }

    /// The JSON-RPC error code.
    pub fn code(&self) -> i64 {
        self.0.code
    }

    /// The error as it is on the wire, with code, message and data, before it is adapted to a
    /// revision.
    pub fn as_error(&self) -> &ErrorObject {
        &self.0
    }

    pub(crate) fn into_error(self) -> ErrorObject {
        *self.0
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.message, self.0.code)
    }
}

impl std::error::Error for Reject {}

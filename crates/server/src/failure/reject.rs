//! `Reject`: JSON-RPC errors, for the client program.

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
    /// Creates an error with a code of your own. The specification leaves codes outside
    /// −32768…−32000 to applications.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self::of(ErrorObject::new(code, message))
    }

    /// Wraps a JSON-RPC error, unchanged.
    pub(crate) fn of(error: ErrorObject) -> Self {
        Self(Box::new(error))
    }

    /// Creates an error with code −32602: the parameters are wrong, such as an unknown name or a
    /// missing argument. The message should say what was expected.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Creates an error with code −32600: the request is invalid, or not allowed at this time.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// Creates an error with code −32601: the method is unknown, or not offered to this caller.
    pub fn method_not_found(method: &str) -> Self {
        Self::of(ErrorObject::method_not_found(method))
    }

    /// Creates an error with code −32603: the request was valid but cannot be served. The client
    /// gets the message; use a [`Fault`](crate::Fault) for errors whose text must not leave the
    /// process.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// Creates the error for a resource that was not found. Each revision has its own code for it,
    /// and the right one is sent. Return it from handlers of templates if no resource has these
    /// variables.
    pub fn resource_not_found(uri: &str) -> Self {
        Self::of(ErrorObject::resource_not_found(uri))
    }

    /// Adds structured data about the error, for programs. The client gets it as `data`.
    pub fn with_data(mut self, data: Value) -> Self {
        self.0.data = Some(data);
        self
    }

    /// Returns the JSON-RPC error code.
    pub fn code(&self) -> i64 {
        self.0.code
    }

    /// Returns the JSON-RPC error with its code, message and data, before it is adapted to a
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

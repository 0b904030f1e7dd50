//! The HTTP status of an error response.
//!
//! Only 2026-07-28 defines a status for errors. For a client of an earlier revision, every answer to a
//! request is a 200, whatever it contains: there a 404 means that the session has expired, and the
//! client would discard the session.

use crate::error::code;

const OK: u16 = 200;
const BAD_REQUEST: u16 = 400;
const NOT_FOUND: u16 = 404;

/// Returns the status of a modern request that is refused before a handler gets it.
///
/// Errors in the envelope, the headers, `_meta`, the version or the method are the client's mistakes
/// for HTTP, too. An internal error at that stage is a 200 with a JSON-RPC error, see
/// [`status_of_answer`].
///
/// ```
/// use turnbuckle_protocol::{error::code, http::status_of};
///
/// assert_eq!(status_of(code::METHOD_NOT_FOUND), 404);
/// assert_eq!(status_of(code::INVALID_PARAMS), 400);
/// ```
pub fn status_of(code: i64) -> u16 {
    match code {
        // streamable-http, "Protocol Version Header": an unknown method MUST be a 404.
        code::METHOD_NOT_FOUND => NOT_FOUND,
        // streamable-http, "Server Validation", and basic, "_meta": these four MUST be a 400.
        code::HEADER_MISMATCH
        | code::MISSING_REQUIRED_CLIENT_CAPABILITY
        | code::UNSUPPORTED_PROTOCOL_VERSION
        | code::INVALID_PARAMS
        // Implied: if the server cannot accept the message, it answers with an HTTP error status.
        | code::PARSE_ERROR
        | code::INVALID_REQUEST => BAD_REQUEST,
        _ => OK,
    }
}

/// Returns the status of a modern request that a handler has answered with an error.
///
/// The exchange succeeded, and the error is its payload: an unknown tool, a missing resource, a
/// database that is down. These errors do not become a 4xx, which a firewall would count against the
/// client and an era probe would take for an old server, nor a 5xx, which proxies replace or retry. Two
/// errors keep the status that the specification requires for them.
///
/// ```
/// use turnbuckle_protocol::{error::code, http::status_of_answer};
///
/// assert_eq!(status_of_answer(code::INTERNAL_ERROR), 200);
/// assert_eq!(status_of_answer(code::MISSING_REQUIRED_CLIENT_CAPABILITY), 400);
/// ```
pub fn status_of_answer(code: i64) -> u16 {
    match code {
        code::METHOD_NOT_FOUND => NOT_FOUND,
        code::MISSING_REQUIRED_CLIENT_CAPABILITY => BAD_REQUEST,
        _ => OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_clients_fault() {
        for (code, status) in [
            (-32700, 400),
            (-32600, 400),
            (-32601, 404),
            (-32602, 400),
            (-32020, 400),
            (-32021, 400),
            (-32022, 400),
            (-32603, 200),
            (-32000, 200),
            (1, 200),
            (i64::MIN, 200),
        ] {
            assert_eq!(status_of(code), status, "{code}");
        }
    }

    #[test]
    fn a_handlers_error_is_a_payload() {
        for (code, status) in [
            (-32601, 404),
            (-32021, 400),
            (-32602, 200),
            (-32603, 200),
            // An error that a gateway passes on from another server is not about this request's
            // headers.
            (-32020, 200),
            (-32022, 200),
            (7, 200),
        ] {
            assert_eq!(status_of_answer(code), status, "{code}");
        }
    }
}

//! Responses with HTTP error statuses, and the errors made from them.

use std::time::Duration;

use bytes::Bytes;
use turnbuckle_protocol::{
    Id,
    envelope::{self, Frame, Message, Response},
};
use turnbuckle_transport::http::client::{HeaderMap, Reply, StatusCode};

use super::{Fault, fault::shown};

/// The limit on the bytes read of a response with an error status: enough for a JSON-RPC error with its
/// data.
const MAX_ERROR_BYTES: usize = 1024 * 1024;

/// A response with an error status.
pub(crate) struct HttpRefusal {
    status: StatusCode,
    headers: HeaderMap,
    retry_after: Option<Duration>,
    /// The body, as far as it could be read.
    pub(crate) body: Bytes,
}

impl HttpRefusal {
    pub(crate) async fn read(reply: Reply, limit: usize) -> Self {
        let (status, headers) = (reply.status(), reply.headers().clone());
        let retry_after = reply.retry_after();
        let body = reply.bytes(limit.min(MAX_ERROR_BYTES)).await;
        Self {
            status,
            headers,
            retry_after,
            body: body.unwrap_or_default(),
        }
    }

    /// Whether other credentials would help. A 403 may also be about an origin, a host or a firewall;
    /// authorization: if it is about the scope of a token, it comes with a challenge.
    pub(crate) fn is_for_want_of_credentials(&self) -> bool {
        match self.status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => self.headers.contains_key("www-authenticate"),
            _ => false,
        }
    }

    /// Whether the server does not know the session of the request any more.
    ///
    /// transports: the server MUST answer 404 then. Many answer 400 with a text about the session,
    /// usually after a restart, and would repeat that forever. Opening another session does no harm if
    /// the server meant something else.
    pub(crate) fn says_session_is_over(&self, id: &Id) -> bool {
        if is_gone(self.status) {
            return true;
        }
        if self.status != StatusCode::BAD_REQUEST || self.is_answer_to(id) {
            return false;
        }
        let text = String::from_utf8_lossy(&self.body).to_lowercase();
        text.contains("session") || text.contains("not initialized")
    }

    /// Whether the body is a JSON-RPC error.
    pub(crate) fn is_error_of_the_protocol(&self) -> bool {
        self.error().is_some()
    }

    /// Whether the error names this request: then the session is not the problem.
    fn is_answer_to(&self, id: &Id) -> bool {
        let error = self.error();
        error.is_some_and(|error| error.id == Some(id.as_ref()))
    }

    fn error(&self) -> Option<Response<'_>> {
        match envelope::parse(&self.body) {
            Ok(Frame::One(Message::Response(response))) if response.outcome.is_err() => {
                Some(response)
            }
            _ => None,
        }
    }

    pub(crate) fn into_fault(self) -> Fault {
        let text = self.text();
        let status = self.status.as_u16();
        if !self.is_for_want_of_credentials() {
            let retry_after = self.retry_after;
            return Fault::Status {
                status,
                text,
                retry_after,
            };
        }
        let challenge = self.headers.get("www-authenticate");
        let challenge = challenge.and_then(|value| value.to_str().ok());
        Fault::Unauthorized {
            status,
            challenge: challenge.map(|challenge| shown(challenge).into()),
            text,
        }
    }

    /// The text of the response, for an error message.
    fn text(&self) -> String {
        let kind = self.headers.get("content-type");
        let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if is_page {
            "(a web page)".to_owned()
        } else {
            shown(&String::from_utf8_lossy(&self.body))
        }
    }
}

/// Whether the status means that the requested resource does not exist any more.
pub(crate) fn is_gone(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE)
}

/// Whether the status is temporary, so that another attempt may succeed.
pub(crate) fn is_passing(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::CONFLICT
                | StatusCode::TOO_EARLY
                | StatusCode::TOO_MANY_REQUESTS
        )
}

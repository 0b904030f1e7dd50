//! The errors that HTTP error statuses become.

use std::time::Duration;

use bytes::Bytes;
use turnbuckle_protocol::{
    Id,
    envelope::{self, Frame, Message, Response},
};
use turnbuckle_transport::http::client::{HeaderMap, Reply, StatusCode};

use super::{Fault, fault::shown};

/// The most that is read of an answer with an error status, in bytes: enough for an error with its
/// data.
const MAX_ERROR_BYTES: usize = 1024 * 1024;

/// An answer with an error status.
pub(crate) struct HttpRefusal {
    status: StatusCode,
    headers: HeaderMap,
    retry_after: Option<Duration>,
    /// As much of it as could be read.
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

    /// Whether other credentials would help. A 403 may also mean an origin, a host or a firewall;
    /// authorization: one that means the scope of a token says so in a challenge.
    pub(crate) fn is_for_want_of_credentials(&self) -> bool {
        match self.status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => self.headers.contains_key("www-authenticate"),
            _ => false,
        }
    }

    /// Whether the session that the request belongs to is not known any more.
    ///
    /// transports: the server MUST say so by a 404. Many say 400 with a sentence about the session,
    /// mostly after a restart, and would repeat that without end. Opening another session does no
    /// harm if something else was meant.
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

    /// Whether there is an error of the protocol in it.
    pub(crate) fn is_error_of_the_protocol(&self) -> bool {
        self.error().is_some()
    }

    /// Whether it answers this very request: then it was not the session that was wrong.
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

    /// Its text, for use in an error message.
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

/// Whether a status says that what was asked for is there no more.
pub(crate) fn is_gone(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE)
}

/// Whether a status is one that may be another in a while.
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

//! The HTTP parts of a request: its headers, the values that layers put into it, and the peer's
//! address.
//!
//! They are kept only if a handler uses them, which is known when it is registered; other servers
//! have no overhead.

use std::net::SocketAddr;

use http::HeaderMap;
use turnbuckle_transport::http::Peer;

use super::Extract;
use crate::{Call, Failure, Fault, Reject, client::HttpRequest, handler::Description};

/// Extracts the headers of the HTTP request.
///
/// Use `Option<Headers>` in a handler that is also served over other transports. In a session of
/// 2024-11-05, these are the headers of the POST that contained the message.
///
/// An extractor of your own that uses this one must also call
/// [`Headers::describe`](Extract::describe), so that the server keeps the headers.
///
/// ```
/// use turnbuckle_server::{Headers, Tool};
///
/// async fn language(Headers(headers): Headers) -> String {
///     let language = headers.get("accept-language").and_then(|value| value.to_str().ok());
///     language.unwrap_or("unknown").to_owned()
/// }
///
/// let tool = Tool::new("language", language);
/// ```
#[derive(Clone, Debug)]
pub struct Headers(pub HeaderMap);

/// Extracts a value that a tower layer, or the framework around the server, put into the extensions
/// of the HTTP request. The value is cloned.
///
/// With axum, `HttpExtension<ConnectInfo<SocketAddr>>` is the peer's address.
#[derive(Clone, Copy, Debug)]
pub struct HttpExtension<T>(pub T);

/// Extracts the address from which the request came. Behind a proxy it is the proxy's address.
///
/// [`Http`](crate::Http) provides it. Inside another web server, extract that server's own value
/// with [`HttpExtension`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

impl Extract for Headers {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        request(call).map(|request| Self(request.headers.clone()))
    }

    fn describe(description: &mut Description) {
        description.reads_http = true;
    }
}

impl<T: Clone + Send + Sync + 'static> Extract for HttpExtension<T> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let value = request(call)?.extensions.get::<T>().cloned();
        value.map(Self).ok_or_else(|| {
            let name = std::any::type_name::<T>();
            Fault::new(format!("no layer put a `{name}` into the HTTP request")).into()
        })
    }

    fn describe(description: &mut Description) {
        description.reads_http = true;
    }
}

impl Extract for PeerAddress {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let peer = request(call)?.extensions.get::<Peer>();
        let address = peer.and_then(Peer::address);
        address
            .map(Self)
            .ok_or_else(|| Reject::invalid_request("the client's address is not known").into())
    }

    fn describe(description: &mut Description) {
        description.reads_http = true;
    }
}

fn request<'a>(call: &'a Call<'_>) -> Result<&'a HttpRequest, Failure> {
    call.caller().http_request().ok_or_else(|| {
        if call.context.reads_http() {
            Reject::invalid_request("this request works over HTTP only").into()
        } else {
            Fault::new(
                "the HTTP request was not kept: `describe` of the extractor must call that of \
                 `Headers`, or `Server::keep_http_requests` must be set",
            )
            .into()
        }
    })
}

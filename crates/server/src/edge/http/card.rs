//! Who we are, for those who look before they connect.

use http::{HeaderValue, Method, Response, StatusCode, header, request::Parts};
use serde_json::json;
use turnbuckle_protocol::Revision;

use super::{body::HttpBody, reply, site::Site};

/// `GET /healthz`: the process answers. Whether its tools work is theirs to say.
pub(super) fn health() -> Response<HttpBody> {
    reply::json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec())
}

/// `GET <endpoint>/server-card`: identity, place and versions, without a message exchanged.
pub(super) fn card(site: &Site, parts: &Parts) -> Response<HttpBody> {
    let info = &site.shared.responder.info;
    // The card is public, so it lists only what every caller sees.
    let offer = site.shared.catalog().open_offer();
    let mut card = json!({
        "name": info.name,
        "version": info.version,
        "remotes": [{
            "type": "streamable-http",
            "url": endpoint_of(site, parts),
            "supportedProtocolVersions": Revision::NEWEST_FIRST,
        }],
        "capabilities": site.shared.capabilities(offer, None),
    });
    let optional = [
        ("title", json!(info.title)),
        ("description", json!(info.description)),
        ("websiteUrl", json!(info.website_url)),
        ("icons", json!(info.icons)),
    ];
    for (name, value) in optional {
        if !value.is_null() {
            card[name] = value;
        }
    }
    let mut response = reply::json(StatusCode::OK, card.to_string().into_bytes());
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    response
}

/// A public document of the server's guard.
pub(super) fn document(parts: &Parts, document: &[u8]) -> Response<HttpBody> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return reply::not_allowed("GET", "the document is read by GET");
    }
    let mut response = reply::json(StatusCode::OK, document.to_vec());
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    response
}

/// The path of the endpoint as the asker sees it: beside the card.
fn endpoint_of(site: &Site, parts: &Parts) -> String {
    if let Some(mount) = &site.mount {
        let url = mount.url.as_str();
        return if url.is_empty() { "/" } else { url }.to_owned();
    }
    let path = parts.uri.path().trim_end_matches('/');
    let own = path
        .strip_suffix("/server-card")
        .filter(|path| !path.is_empty());
    let endpoint = site.endpoint.as_deref().filter(|path| !path.is_empty());
    own.or(endpoint).unwrap_or("/").to_owned()
}

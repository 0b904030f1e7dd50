//! The server card, and the AI catalog that contains its URL.
//!
//! Both are public documents of the extension for server cards (SEP-2127). A card contains the name
//! of the server, its URL and its revisions. Tools, prompts and resources are listed only after
//! connecting.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    net::IpAddr,
};

use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header, request::Parts};
use serde_json::{Value, json};
use turnbuckle_base::loopback;
use turnbuckle_protocol::Revision;
use turnbuckle_transport::http::Peer;

use super::{body::HttpBody, reply, site::Site};

/// The JSON schema of cards.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const CARD_TYPE: &str = "application/mcp-server-card+json";
const CATALOG_TYPE: &str = "application/ai-catalog+json";

/// The maximum length of a text in a card, in characters.
const MAX_TEXT: usize = 100;

/// The description in the card if the server has no description.
const NO_DESCRIPTION: &str = "An MCP server.";

/// `GET <endpoint>/server-card`: the identity, URL and revisions of the server, without an MCP
/// request.
pub(super) fn card(site: &Site, parts: &Parts) -> Response<HttpBody> {
    let info = &site.shared.responder.info;
    let address = PublicAddress::of(site, parts);
    let title = info.title.as_deref().filter(|title| !title.is_empty());
    let description = info.description.as_deref().filter(|text| !text.is_empty());
    let mut card = json!({
        "$schema": SCHEMA,
        "name": address.name(&info.name),
        "version": info.version,
        "description": shortened(description.or(title).unwrap_or(NO_DESCRIPTION)),
        "remotes": [{
            "type": "streamable-http",
            "url": address.endpoint,
            "supportedProtocolVersions": Revision::NEWEST_FIRST,
        }],
    });
    let optional = [
        ("title", json!(title.map(shortened))),
        ("websiteUrl", json!(info.website_url)),
        ("icons", json!(info.icons)),
    ];
    for (name, value) in optional {
        if !value.is_null() {
            card[name] = value;
        }
    }
    document(parts, CARD_TYPE, &card)
}

/// `GET /.well-known/ai-catalog.json`: the URL of the card of this site's only server.
pub(super) fn catalog(site: &Site, parts: &Parts) -> Response<HttpBody> {
    let address = PublicAddress::of(site, parts);
    let name = word(&site.shared.responder.info.name);
    let card = format!("{}/server-card", address.endpoint.trim_end_matches('/'));
    let catalog = json!({
        "specVersion": "1.0",
        "entries": [{
            "identifier": format!("urn:air:{}:mcp:{name}", word(address.host())),
            "type": CARD_TYPE,
            "url": card,
        }],
    });
    document(parts, CATALOG_TYPE, &catalog)
}

/// Whether pages of all origins may read these documents. They may at a public name, where the
/// documents are public anyway. On the user's own machine and network, any page could otherwise
/// find out what runs there.
pub(super) fn is_for_every_page(parts: &Parts) -> bool {
    is_public(host_of(authority(&parts.headers, &parts.uri)))
}

/// Endings of names that exist only in a private network.
const OWN_NETWORK: [&str; 6] = [
    ".local",
    ".localhost",
    ".internal",
    ".lan",
    ".home.arpa",
    ".localdomain",
];

fn is_public(host: &str) -> bool {
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => {
            let is_shared = address.octets()[0] == 100 && address.octets()[1] & 0xc0 == 64;
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || is_shared)
        }
        Ok(IpAddr::V6(address)) => {
            !(address.is_loopback()
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_unspecified())
        }
        Err(_) => {
            let name = host.trim_end_matches('.').to_ascii_lowercase();
            name.contains('.') && !OWN_NETWORK.iter().any(|own| name.ends_with(own))
        }
    }
}

/// The URL of the server, as the client used it.
struct PublicAddress {
    /// The complete URL of the endpoint.
    endpoint: String,
}

impl PublicAddress {
    fn of(site: &Site, parts: &Parts) -> Self {
        let path = path_of(site, parts);
        if path.contains("://") {
            return Self { endpoint: path };
        }
        let authority = authority(&parts.headers, &parts.uri);
        let scheme = scheme(parts, authority);
        let path = if path == "/" { "" } else { &path };
        Self {
            endpoint: format!("{scheme}://{authority}{path}"),
        }
    }

    fn host(&self) -> &str {
        let rest = self.endpoint.split_once("://").map_or("", |(_, rest)| rest);
        host_of(rest.split('/').next().unwrap_or_default())
    }

    /// Returns a name with a namespace: the server's own, or the reversed name of its host.
    fn name(&self, name: &str) -> String {
        if let Some((space, own)) = name.split_once('/')
            && !space.is_empty()
            && !own.is_empty()
        {
            return format!("{}/{}", word(space), word(own));
        }
        let host = self.host();
        let is_address = host.parse::<IpAddr>().is_ok();
        let space = if is_address || loopback::is_loopback(host) {
            "localhost".to_owned()
        } else {
            let labels: Vec<&str> = host.rsplit('.').collect();
            word(&labels.join("."))
        };
        format!("{space}/{}", word(name))
    }
}

/// If the server itself has no TLS, a host with a port is assumed to be reached directly, and a
/// name without a port is assumed to be served by a proxy with TLS.
fn scheme(parts: &Parts, authority: &str) -> &'static str {
    let peer = parts.extensions.get::<Peer>();
    let host = host_of(authority);
    let has_port = authority.len() > authority.find(host).unwrap_or(0) + host.len() + 1;
    if peer.is_some_and(Peer::is_encrypted) {
        "https"
    } else if has_port || loopback::is_loopback(host) {
        "http"
    } else {
        "https"
    }
}

fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> &'a str {
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let known = host.or_else(|| uri.authority().map(http::uri::Authority::as_str));
    known.unwrap_or("localhost")
}

/// The host of an authority, without brackets and port.
fn host_of(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

/// The path of the endpoint as the client sees it, or the complete URL if it is known.
fn path_of(site: &Site, parts: &Parts) -> String {
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

/// Replaces the characters that names in cards cannot have.
fn word(name: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let word: String = name
        .chars()
        .map(|c| if is_allowed(c) { c } else { '-' })
        .take(MAX_TEXT - 1)
        .collect();
    if word.is_empty() {
        "server".to_owned()
    } else {
        word
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_TEXT {
        return text.to_owned();
    }
    let start: String = text.chars().take(MAX_TEXT - 1).collect();
    format!("{}…", start.trim_end())
}

fn document(parts: &Parts, kind: &'static str, body: &Value) -> Response<HttpBody> {
    let body = body.to_string();
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let known = parts.headers.get(header::IF_NONE_MATCH);
    let known = known.and_then(|known| known.to_str().ok());
    let is_known = known.is_some_and(|known| {
        let mut tags = known.split(',').map(str::trim);
        tags.any(|known| known == "*" || known.trim_start_matches("W/") == tag)
    });
    let mut response = if is_known {
        reply::empty(StatusCode::NOT_MODIFIED)
    } else {
        reply::json(StatusCode::OK, body.into_bytes())
    };
    let headers = response.headers_mut();
    if !is_known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    let fresh = HeaderValue::from_static("public, max-age=3600");
    headers.insert(header::CACHE_CONTROL, fresh);
    // The URL depends on the `Host` of the request.
    headers.insert(header::VARY, HeaderValue::from_static("host"));
    if is_for_every_page(parts) {
        add_cors(headers);
    }
    response
}

/// The answer to a preflight request.
pub(super) fn preflight() -> Response<HttpBody> {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    add_cors(headers);
    let methods = HeaderValue::from_static("GET");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let allowed = HeaderValue::from_static("Content-Type, If-None-Match");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    response
}

fn add_cors(headers: &mut HeaderMap) {
    let every = HeaderValue::from_static("*");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, every);
    let exposed = HeaderValue::from_static("ETag");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(endpoint: &str) -> PublicAddress {
        PublicAddress {
            endpoint: endpoint.to_owned(),
        }
    }

    #[test]
    fn names_have_a_namespace() {
        for (endpoint, name, expected) in [
            (
                "https://mcp.example.com/mcp",
                "weather",
                "com.example.mcp/weather",
            ),
            ("https://example.com", "org.acme/time", "org.acme/time"),
            (
                "http://127.0.0.1:8000/mcp",
                "the weather",
                "localhost/the-weather",
            ),
            ("http://[::1]:8000/mcp", "a/b/c", "a/b-c"),
            ("http://10.0.0.7:80/mcp", "", "localhost/server"),
        ] {
            assert_eq!(address(endpoint).name(name), expected, "{endpoint}");
        }
    }

    #[test]
    fn only_public_names_and_addresses_are_public() {
        for (host, expected) in [
            ("mcp.example.com", true),
            ("93.184.215.14", true),
            ("2606:2800:21f::1", true),
            ("localhost", false),
            ("nas", false),
            ("nas.local", false),
            ("Printer.Home.Arpa.", false),
            ("127.0.0.1", false),
            ("192.168.1.7", false),
            ("10.0.0.7", false),
            ("100.64.0.1", false),
            ("169.254.1.1", false),
            ("::ffff:10.0.0.7", false),
            ("fd00::1", false),
            ("fe80::1", false),
            ("", false),
        ] {
            assert_eq!(is_public(host), expected, "{host}");
        }
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened("short"), "short");
        let long = shortened(&"ä".repeat(101));
        assert_eq!(long.chars().count(), MAX_TEXT);
        assert!(long.ends_with('…'));
    }
}

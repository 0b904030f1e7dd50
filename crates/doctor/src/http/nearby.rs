//! The usual paths of an endpoint, tried if the given URL has no endpoint.

use serde_json::json;
use turnbuckle::{Revision, transport::http::client::Address};

use crate::{
    connection::{EventsTransport, HttpTransport, Spoken},
    limits::Limits,
};

/// The paths that SDKs and their examples use.
const USUAL: [&str; 4] = ["/mcp", "/mcp/", "/api/mcp", "/"];

/// The usual path of the older transport.
const USUAL_EVENTS: &str = "/sse";

/// Finds a server at another path of the same origin.
pub(super) async fn find(transport: &HttpTransport, limits: Limits) -> Option<String> {
    let here = transport.address.uri().path().to_owned();
    for path in USUAL.iter().filter(|path| **path != here) {
        let address = transport.address.join(path).ok()?;
        if is_server(transport, &address, limits).await {
            return Some(address.to_string());
        }
    }
    if here == USUAL_EVENTS {
        return None;
    }
    let address = transport.address.join(USUAL_EVENTS).ok()?;
    let transport = HttpTransport::new(transport.agent.clone(), address, transport.wire.clone());
    let events = EventsTransport::open(&transport, limits.probe).await;
    events.is_ok().then(|| transport.address.to_string())
}

/// Whether a URL answers like a server, in either era.
async fn is_server(transport: &HttpTransport, address: &Address, limits: Limits) -> bool {
    let transport = HttpTransport::new(
        transport.agent.clone(),
        address.clone(),
        transport.wire.clone(),
    );
    let modern = Spoken::Modern(Revision::LATEST);
    let legacy = Spoken::Legacy(Revision::LATEST_LEGACY);
    let initialize = Spoken::initialize(Revision::LATEST_LEGACY.as_str());
    for (spoken, method, params) in [
        (modern, "server/discover", json!({})),
        (legacy, "initialize", initialize),
    ] {
        let message = spoken.request(&json!(1), method, params);
        let exchange = transport.exchange(&spoken, message, limits.probe).await;
        // A server that requires authorization counts, too.
        if exchange.result().is_some() || exchange.status() == Some(401) {
            return true;
        }
    }
    false
}

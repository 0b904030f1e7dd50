//! The usual places of an endpoint, tried where there was none.

use serde_json::json;
use turnbuckle::{Revision, transport::http::client::Address};

use crate::{
    patience::Patience,
    talk::{EventsRoad, HttpRoad, Speech},
};

/// Where SDKs and their examples put it.
const USUAL: [&str; 4] = ["/mcp", "/mcp/", "/api/mcp", "/"];

/// Where the older transport is put.
const USUAL_EVENTS: &str = "/sse";

/// Finds a server at another path of the same origin.
pub(super) async fn find(road: &HttpRoad, patience: Patience) -> Option<String> {
    let here = road.address.uri().path().to_owned();
    for path in USUAL.iter().filter(|path| **path != here) {
        let address = road.address.join(path).ok()?;
        if is_server(road, &address, patience).await {
            return Some(address.to_string());
        }
    }
    if here == USUAL_EVENTS {
        return None;
    }
    let address = road.address.join(USUAL_EVENTS).ok()?;
    let road = HttpRoad::new(road.agent.clone(), address, road.wire.clone());
    let events = EventsRoad::open(&road, patience.probe).await;
    events.is_ok().then(|| road.address.to_string())
}

/// Whether something there answers as a server does, in either era.
async fn is_server(road: &HttpRoad, address: &Address, patience: Patience) -> bool {
    let road = HttpRoad::new(road.agent.clone(), address.clone(), road.wire.clone());
    let modern = Speech::Modern(Revision::LATEST);
    let legacy = Speech::Legacy(Revision::LATEST_LEGACY);
    let initialize = Speech::initialize(Revision::LATEST_LEGACY.as_str());
    for (speech, method, params) in [
        (modern, "server/discover", json!({})),
        (legacy, "initialize", initialize),
    ] {
        let message = speech.request(&json!(1), method, params);
        let exchange = road.exchange(&speech, message, patience.probe).await;
        // A server that wants to know who asks is one, too.
        if exchange.result().is_some() || exchange.status() == Some(401) {
            return true;
        }
    }
    false
}

//! HTTP+SSE, the transport of 2024-11-05: answers come on one event stream, whose first event names the
//! endpoint for messages.

use std::{sync::Arc, time::Duration};

use turnbuckle_transport::http::client::{Address, Events, HeaderMap};

use crate::{
    error::Ending,
    future::{First, race},
    http::{Fault, Http, HttpRefusal, is_message},
    link::Link,
};

/// How long the first event may take. Servers usually send it together with the response head.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the stream, and sends messages to the endpoint of its first event from then on.
pub(super) async fn find_stream(http: &Http) -> Result<Events, Fault> {
    let finding = find_endpoint(http);
    match http.pending.within(ENDPOINT_TIMEOUT, finding).await {
        Some(Ok((endpoint, events))) => {
            http.answer_by_events(endpoint);
            Ok(events)
        }
        Some(Err(fault)) => Err(fault),
        None => Err(Fault::Malformed(
            "its event stream did not name an endpoint for messages in time".to_owned(),
        )),
    }
}

async fn find_endpoint(http: &Http) -> Result<(Address, Events), Fault> {
    let reply = http.agent.events(&http.address, HeaderMap::new()).await?;
    if !reply.status().is_success() {
        return Err(HttpRefusal::read(reply, http.limit).await.into_fault());
    }
    if !reply.is_events() {
        return Err(Fault::Status {
            status: reply.status().as_u16(),
            text: "the response is not an event stream".to_owned(),
            retry_after: None,
        });
    }
    let mut events = reply.events(http.limit);
    while let Some(event) = events.next().await? {
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let endpoint = http.address.join(&event.data);
        return match endpoint {
            // Messages carry credentials, which must only be sent to this server.
            Ok(endpoint) if endpoint.is_same_origin(&http.address) => Ok((endpoint, events)),
            Ok(endpoint) => Err(Fault::Malformed(format!(
                "its endpoint {endpoint} has another origin than its URL"
            ))),
            Err(error) => Err(Fault::Malformed(format!(
                "its endpoint is invalid: {error}"
            ))),
        };
    }
    Err(Fault::Lost(
        "its event stream ended before it named an endpoint for messages".into(),
    ))
}

/// Reads the stream for as long as the connection is open. The session ends with it.
pub(super) async fn pump(link: Arc<Link>, http: Arc<Http>, mut events: Events) {
    let reading = async {
        loop {
            match events.next().await {
                Ok(Some(event)) if is_message(&event) => {
                    http.receive(event.data.as_bytes(), None);
                    http.room().await;
                }
                Ok(Some(_)) => {}
                Ok(None) => return "its event stream ended".to_owned(),
                Err(error) => return format!("its event stream broke: {error}"),
            }
        }
    };
    if let First::Left(failure) = race(reading, link.lifecycle.ended()).await {
        link.lose(Ending::failed(failure));
        link.wire.close();
    }
}

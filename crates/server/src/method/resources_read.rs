//! `resources/read`: a resource is read.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{
    CacheHint, CacheScope, ReadResourceResult, ResourceContents, envelope::Held,
};

use super::Incoming;
use crate::{
    Cached, Call, Failure, Fault, Layer, Reject, Reply,
    catalog::{Callable, Found, Reading},
    exchange::{self, Running, Step},
    handler::Erased,
    sink::Sink,
};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let started = start(&incoming);
    exchange::run(
        incoming.shared,
        incoming.revision,
        incoming.id,
        started,
        out,
    )
}

fn start(incoming: &Incoming<'_>) -> Result<Running<ReadResourceResult>, Failure> {
    let catalog = incoming.shared.catalog();
    super::offered(catalog.offers_resources(), "resources/read")?;
    let uri = incoming.text("uri")?;
    let found = catalog
        .resource_at(&uri, incoming.peer.caller())
        .ok_or_else(|| Reject::resource_not_found(&uri))?;
    let input = variables(&found)?;
    let entry = Arc::new(Read(found));
    let asked = uri.clone().into_owned();
    let hint = hint(entry.reading(), incoming);
    let input = input.map(Held::Owned);
    let arguments = entry.reading().arguments.clone();
    let call = Call::of(incoming, "resources/read", uri, input, arguments);
    let Running {
        future,
        cancel,
        asking,
    } = exchange::start(&entry, call)?;
    let future = Box::pin(async move {
        let mut result = future.await?;
        complete(&mut result, &asked, entry.reading().mime_type.as_deref());
        result.ttl_ms.get_or_insert(hint.ttl_ms);
        result.cache_scope.get_or_insert(hint.scope);
        Ok(result)
    });
    Ok(Running {
        future,
        cancel,
        asking,
    })
}

/// What is said about keeping a read that says nothing itself.
fn hint(reading: &Reading, incoming: &Incoming<'_>) -> CacheHint {
    let common = || incoming.shared.settings.cache.of(Cached::Reads);
    let mut hint = reading.cache.unwrap_or_else(common);
    if reading.visible.is_some() {
        // caching: what only some callers may see is not for shared caches.
        hint.scope = CacheScope::Private;
    }
    hint
}

fn variables(found: &Found) -> Result<Option<Box<RawValue>>, Failure> {
    match found {
        Found::One(_) => Ok(None),
        Found::OfTemplate(_, variables) => Ok(Some(to_raw_value(variables).map_err(Fault::new)?)),
    }
}

/// Contents that do not say where or what they are: at the URI asked for, of the resource's type.
fn complete(result: &mut ReadResourceResult, uri: &str, mime_type: Option<&str>) {
    for contents in &mut result.contents {
        let (own_uri, own_type) = match contents {
            ResourceContents::Text(text) => (&mut text.uri, &mut text.mime_type),
            ResourceContents::Blob(blob) => (&mut blob.uri, &mut blob.mime_type),
        };
        if own_uri.is_empty() {
            uri.clone_into(own_uri);
        }
        if own_type.is_none() {
            *own_type = mime_type.map(str::to_owned);
        }
    }
}

/// A resource that was found, as something to call.
struct Read(Found);

impl Read {
    fn reading(&self) -> &Reading {
        self.0.reading()
    }
}

impl Callable for Read {
    type Output = ReadResourceResult;

    fn handler(&self) -> &Erased<ReadResourceResult> {
        &self.reading().handler
    }

    fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.reading().layers
    }

    fn wrap(output: ReadResourceResult) -> Reply {
        Reply::Resource(output)
    }

    fn unwrap(reply: Reply) -> Option<ReadResourceResult> {
        match reply {
            Reply::Resource(result) => Some(result),
            _ => None,
        }
    }
}

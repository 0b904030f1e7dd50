//! `resources/read`: reads a resource.

use std::{borrow::Cow, sync::Arc};

use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{
    CacheHint, CacheScope, ReadResourceResult, ResourceContents, envelope::Held,
};

use crate::{
    Cached, Failure, Fault,
    catalog::{Found, Reading},
    engine::{Incoming, Shared, StartedCall, content_check, exchange},
};

pub(super) fn start(
    shared: &Shared,
    incoming: &Incoming<'_>,
    found: &Arc<Found>,
    uri: &str,
) -> Result<StartedCall<ReadResourceResult>, Failure> {
    let input = variables(found)?.map(Held::Owned);
    let hint = hint(shared, found.reading());
    let has_answers = ["requestState", "inputResponses"]
        .iter()
        .any(|name| incoming.params.get(name).is_some());
    let arguments = found.reading().arguments.clone();
    let name = Cow::Borrowed(uri);
    let call = incoming.call(&shared.context, "resources/read", name, input, arguments);
    let started = exchange::start(&shared.layers, found, call)?;
    let (found, uri) = (Arc::clone(found), uri.to_owned());
    Ok(started.map(|future| {
        Box::pin(async move {
            let mut result = future.await?;
            complete(&mut result, &uri, found.reading().mime_type.as_deref());
            let mut contents = result.contents.iter();
            if let Some(problem) = contents.find_map(|one| content_check::read_problem(one, &uri)) {
                return Err(Failure::Fault(Fault::new(problem)));
            }
            result.ttl_ms.get_or_insert(hint.ttl_ms);
            result.cache_scope.get_or_insert(hint.scope);
            if has_answers {
                // It contains the user's answers, so it is private even if the author set something
                // else.
                result.cache_scope = Some(CacheScope::Private);
            }
            Ok(result)
        })
    }))
}

/// The cache hint of a read that sets no hint itself.
fn hint(shared: &Shared, reading: &Reading) -> CacheHint {
    let common = || shared.responder.cache.of(Cached::Reads);
    let mut hint = reading.cache.unwrap_or_else(common);
    if reading.visible.is_some() {
        // caching: contents that only some callers may see are not for shared caches.
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

/// Adds the requested URI and the resource's media type to contents that have none.
fn complete(result: &mut ReadResourceResult, uri: &str, mime_type: Option<&str>) {
    for contents in &mut result.contents {
        let (own_uri, own_type) = match contents {
            ResourceContents::Text(text) => (&mut text.uri, &mut text.mime_type),
            ResourceContents::Blob(blob) => (&mut blob.uri, &mut blob.mime_type),
            _ => continue,
        };
        if own_uri.is_empty() {
            uri.clone_into(own_uri);
        }
        if own_type.is_none() {
            *own_type = mime_type.map(str::to_owned);
        }
    }
}

//! `server/discover`: the supported revisions and the capabilities.

use turnbuckle_protocol::{
    CacheScope, Cacheable as _, DiscoverResult, JsonObject, Revision, TASKS_EXTENSION, envelope,
};

use crate::{
    Cached,
    engine::{Incoming, Shared, Sink, answer},
};

pub(super) fn serve(shared: &Shared, incoming: &Incoming<'_>, out: &mut impl Sink) {
    let catalog = shared.catalog();
    let offer = catalog.offer(incoming.caller());
    let relayed = shared.relayed(incoming.caller());
    let mut capabilities = shared.capabilities(offer, relayed.as_ref());
    // tasks: tasks of a relay are declared as the extension, too.
    capabilities.tasks = None;
    if offer.tasks {
        capabilities = capabilities.with_extension(TASKS_EXTENSION, JsonObject::new());
    }
    let mut result = DiscoverResult::new(Revision::NEWEST_FIRST, capabilities);
    let instructions = relayed.and_then(|offer| offer.instructions);
    result.instructions = instructions.or_else(|| shared.instructions.clone());
    let mut hint = shared.responder.cache.of(Cached::Discovery);
    if catalog.has_hidden() {
        // caching: results that differ by caller are not for shared caches.
        hint.scope = CacheScope::Private;
    }
    result.set_cache(hint);
    let write = |out: &mut Vec<u8>| {
        envelope::write_result(out, incoming.id, |out| {
            serde_json::to_writer(&mut *out, &result)?;
            answer::splice(out, &shared.responder.complete_tail);
            Ok::<(), serde_json::Error>(())
        })
        .expect("a DiscoverResult is plain JSON");
    };
    out.put_with(write);
}

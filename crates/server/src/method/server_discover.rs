//! `server/discover`: what we speak and can do.

use turnbuckle_protocol::{
    Cacheable as _, DiscoverResult, JsonObject, Revision, TASKS_EXTENSION, envelope,
};

use super::Incoming;
use crate::{
    Cached, answer,
    exchange::Step,
    sink::{Sink, Wrote},
};

pub(super) fn serve(incoming: &Incoming<'_>, out: &mut impl Sink) -> Step {
    let shared = incoming.shared;
    let mut capabilities = shared.capabilities();
    if shared.catalog().runs_tasks() {
        capabilities = capabilities.with_extension(TASKS_EXTENSION, JsonObject::new());
    }
    let mut result = DiscoverResult::new(Revision::NEWEST_FIRST, capabilities);
    result.instructions.clone_from(&shared.instructions);
    result.set_cache(shared.settings.cache.of(Cached::Discovery));
    out.put(|out| {
        envelope::write_result(out, &incoming.id, |out| {
            serde_json::to_writer(&mut *out, &result)?;
            answer::splice(out, &shared.modern_tail);
            Ok::<(), serde_json::Error>(())
        })
        .expect("a DiscoverResult is plain JSON");
        Wrote::Result
    });
    Step::Done
}

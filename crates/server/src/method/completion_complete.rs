//! `completion/complete`: what an argument could be.

use std::sync::Arc;

use turnbuckle_protocol::{CompleteRequestParams, CompleteResult, Reference};

use super::Incoming;
use crate::{
    Completing, Failure, Reject,
    ask::AskSlot,
    catalog::Snapshot,
    completion::{self, Completers},
    exchange::{self, Running, Step},
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

fn start(incoming: &Incoming<'_>) -> Result<Running<CompleteResult>, Failure> {
    let catalog = incoming.shared.catalog();
    super::offered(
        catalog.capabilities().completions.is_some(),
        "completion/complete",
    )?;
    let params: CompleteRequestParams = incoming
        .params
        .parse()
        .map_err(|error| Reject::invalid_params(format!("the request cannot be read: {error}")))?;
    let completing = Completing {
        partial: params.argument.value,
        settled: params
            .context
            .and_then(|context| context.arguments)
            .unwrap_or_default()
            .into_iter()
            .collect(),
        caller: incoming.peer.caller().clone(),
    };
    let candidates = with_completers(&catalog, &params.reference, incoming, |completers| {
        completers.get(&params.argument.name, completing)
    })?;
    let future = Box::pin(async move {
        // An argument that nobody completes has no candidates; that is no mistake of the client.
        let values = match candidates {
            Some(candidates) => candidates.await?,
            None => Vec::new(),
        };
        Ok(CompleteResult {
            completion: completion::limited(values),
            meta: None,
        })
    });
    Ok(Running {
        future,
        cancel: None,
        asking: AskSlot::Now(None),
    })
}

fn with_completers<T>(
    catalog: &Arc<Snapshot>,
    reference: &Reference,
    incoming: &Incoming<'_>,
    look: impl FnOnce(&Completers) -> T,
) -> Result<T, Reject> {
    let caller = incoming.peer.caller();
    match reference {
        Reference::Prompt(prompt) => catalog
            .prompts
            .get(&prompt.name, caller)
            .map(|entry| look(&entry.completers))
            .ok_or_else(|| Reject::invalid_params(format!("there is no prompt `{}`", prompt.name))),
        Reference::Resource(resource) => catalog
            .templates
            .get(&resource.uri, caller)
            .map(|entry| look(&entry.completers))
            .ok_or_else(|| {
                Reject::invalid_params(format!("there is no resource template `{}`", resource.uri))
            }),
    }
}

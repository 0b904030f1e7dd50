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
    let name = &params.argument.name;
    let candidates = with_completers(&catalog, &params.reference, name, incoming, |completers| {
        completers.get(name, completing)
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
    argument: &str,
    incoming: &Incoming<'_>,
    look: impl FnOnce(&Completers) -> T,
) -> Result<T, Reject> {
    let caller = incoming.peer.caller();
    match reference {
        Reference::Prompt(prompt) => catalog
            .prompts
            .get(&prompt.name, caller)
            .ok_or_else(|| Reject::invalid_params(format!("there is no prompt `{}`", prompt.name)))
            .and_then(|entry| {
                let arguments = entry.wire.arguments.iter().flatten();
                check_argument(&prompt.name, argument, arguments.map(|known| &*known.name))?;
                Ok(look(&entry.completers))
            }),
        Reference::Resource(resource) => catalog
            .templates
            .get(&resource.uri, caller)
            .ok_or_else(|| {
                Reject::invalid_params(format!("there is no resource template `{}`", resource.uri))
            })
            .and_then(|entry| {
                check_argument(&resource.uri, argument, entry.template.variables())?;
                Ok(look(&entry.completers))
            }),
    }
}

/// completion: a reference or an argument that is not there is -32602.
fn check_argument<'a>(
    owner: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Result<(), Reject> {
    let known: Vec<_> = known.collect();
    if known.contains(&name) {
        return Ok(());
    }
    let known = match known.as_slice() {
        [] => "it takes none".to_owned(),
        known => format!("it takes `{}`", known.join("`, `")),
    };
    Err(Reject::invalid_params(format!(
        "`{owner}` has no argument `{name}`: {known}"
    )))
}

//! `completion/complete`: suggests values for an argument.

use std::borrow::Cow;

use turnbuckle_protocol::{CompleteRequestParams, CompleteResult, error::name_in_message};

use crate::{
    CompletionContext, Failure, Fault, Reject,
    catalog::completion,
    engine::{Completable, Incoming, Shared, StartedCall},
    handler::ask::AskSlot,
};

pub(super) fn start(
    shared: &Shared,
    incoming: &Incoming<'_>,
    params: &CompleteRequestParams,
    completable: &Completable,
) -> Result<StartedCall<CompleteResult>, Failure> {
    let name = &params.argument.name;
    let completers = match completable {
        Completable::Prompt(entry) => {
            let arguments = entry.wire.arguments.iter().flatten();
            let known = arguments.map(|known| &*known.name);
            check_argument("prompt", "argument", &entry.wire.name, name, known)?;
            &entry.completers
        }
        Completable::Template(entry) => {
            let (owner, known) = (&entry.wire.uri_template, entry.template.variables());
            check_argument("template", "variable", owner, name, known)?;
            &entry.completers
        }
    };
    let context = params.context.as_ref();
    let settled = context.and_then(|context| context.arguments.clone());
    let completing = CompletionContext {
        partial: params.argument.value.clone(),
        settled: settled.unwrap_or_default().into_iter().collect(),
        caller: incoming.caller().clone(),
    };
    let argument = Cow::Borrowed(name.as_str());
    let mut call = incoming.call(&shared.context, "completion/complete", argument, None, None);
    call.insert(completing);
    // This runs the author's extractors and functions, which may panic.
    let candidates = Fault::caught(|| completers.start(name, &call))
        .map_err(Failure::Fault)?
        .transpose()?;
    let future = Box::pin(async move {
        // An argument without a completer has no candidates; that is not an error of the client.
        let values = match candidates {
            Some(candidates) => candidates.await?,
            None => Vec::new(),
        };
        Ok(CompleteResult::from(completion::limited(values)))
    });
    Ok(StartedCall {
        future,
        cancel: None,
        asking: AskSlot::Now(None),
    })
}

/// completion: an unknown reference or argument is an error −32602.
fn check_argument<'a>(
    kind: &str,
    what: &str,
    owner: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Result<(), Reject> {
    let known: Vec<_> = known.collect();
    if known.contains(&name) {
        return Ok(());
    }
    let known = match known.as_slice() {
        [] => format!("it has no {what}s"),
        known => format!("it has `{}`", known.join("`, `")),
    };
    let name = name_in_message(name);
    Err(Reject::invalid_params(format!(
        "{kind} `{owner}` has no {what} `{name}`: {known}"
    )))
}

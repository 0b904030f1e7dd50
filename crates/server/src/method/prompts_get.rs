//! `prompts/get`: a prompt is filled in.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use turnbuckle_protocol::GetPromptResult;

use super::Incoming;
use crate::{
    Call, Failure, Reject,
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

fn start(incoming: &Incoming<'_>) -> Result<Running<GetPromptResult>, Failure> {
    let catalog = incoming.shared.catalog();
    super::offered(catalog.prompts.is_offered(), "prompts/get")?;
    let name = incoming.text("name")?;
    let prompt = catalog
        .prompts
        .get(&name, incoming.peer.caller())
        .ok_or_else(|| Reject::invalid_params(format!("there is no prompt `{name}`")))?;
    let arguments = incoming.arguments()?;
    let call = Call {
        shared: Arc::clone(incoming.shared),
        peer: Arc::clone(incoming.peer),
        revision: incoming.revision,
        id: incoming.id.clone(),
        name,
        input: arguments.map(Cow::Borrowed),
        meta: incoming.params.get("_meta").map(Cow::Borrowed),
        arguments: prompt.arguments.clone(),
        cancel: OnceLock::new(),
        extensions: Vec::new(),
    };
    let Running { future, cancel } = exchange::start(prompt, call)?;
    let prompt = Arc::clone(prompt);
    let future = Box::pin(async move {
        let mut result = future.await?;
        if result.description.is_none() {
            result.description.clone_from(&prompt.wire.description);
        }
        Ok(result)
    });
    Ok(Running { future, cancel })
}

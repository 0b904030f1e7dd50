//! `prompts/get`: a prompt is filled in.

use std::sync::Arc;

use turnbuckle_protocol::{GetPromptResult, envelope::Held};

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
    let input = incoming.arguments()?.map(Held::Borrowed);
    let call = Call::of(
        incoming,
        "prompts/get",
        name,
        input,
        prompt.arguments.clone(),
    );
    let Running {
        future,
        cancel,
        asking,
    } = exchange::start(prompt, call)?;
    let prompt = Arc::clone(prompt);
    let future = Box::pin(async move {
        let mut result = future.await?;
        if result.description.is_none() {
            result.description.clone_from(&prompt.wire.description);
        }
        Ok(result)
    });
    Ok(Running {
        future,
        cancel,
        asking,
    })
}

//! `prompts/get`: fills in a prompt.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::{GetPromptResult, envelope::Held};

use crate::{
    Failure,
    catalog::PromptEntry,
    engine::{Incoming, Shared, StartedCall, exchange},
};

pub(super) fn start(
    shared: &Shared,
    incoming: &Incoming<'_>,
    prompt: &Arc<PromptEntry>,
    name: &str,
) -> Result<StartedCall<GetPromptResult>, Failure> {
    let input = incoming.arguments()?.map(Held::Borrowed);
    let (name, arguments) = (Cow::Borrowed(name), prompt.arguments.clone());
    let call = incoming.call(&shared.context, "prompts/get", name, input, arguments);
    let started = exchange::start(&shared.layers, prompt, call)?;
    let prompt = Arc::clone(prompt);
    Ok(started.map(|future| {
        Box::pin(async move {
            let mut result = future.await?;
            if result.description.is_none() {
                result.description.clone_from(&prompt.wire.description);
            }
            Ok(result)
        })
    }))
}

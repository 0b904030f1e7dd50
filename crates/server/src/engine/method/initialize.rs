//! `initialize`: a legacy session opens.

use turnbuckle_protocol::{
    InitializeRequestParams, InitializeResult, Lower, Revision, TASKS_EXTENSION, envelope,
};

use super::subscriptions_listen;
use crate::{
    Introduction, Reject,
    client::Opened,
    engine::{Incoming, Shared, Sink, task},
};

pub(super) fn serve(shared: &Shared, incoming: &Incoming<'_>, out: &mut impl Sink) {
    match open(shared, incoming) {
        Ok(result) => out.put_with(|out| {
            envelope::write_result(out, incoming.id, |out| serde_json::to_writer(out, &result))
                .expect("an InitializeResult is plain JSON");
        }),
        Err(reject) => incoming.refuse(reject, out),
    }
}

fn open(shared: &Shared, incoming: &Incoming<'_>) -> Result<InitializeResult, Reject> {
    let params: InitializeRequestParams = incoming
        .params
        .parse()
        .map_err(|error| Reject::invalid_params(format!("`initialize` cannot be read: {error}")))?;
    let offer = shared.catalog().offer(incoming.caller());
    let relayed = shared.relayed(incoming.caller());
    let mut capabilities = shared.capabilities(offer, relayed.as_ref());
    if offer.tasks {
        capabilities.tasks = Some(task::capability(incoming.caller()));
    }
    if relayed.is_some()
        && let Some(extensions) = &mut capabilities.extensions
    {
        // Sessions know tasks by a capability of their own.
        extensions.remove(TASKS_EXTENSION);
    }
    let client = Introduction {
        info: Some(params.client_info),
        capabilities: params.capabilities,
    };
    let promised = subscriptions_listen::offered(&capabilities);
    let Some(mut session) = incoming.peer.lifecycle() else {
        return Err(Reject::invalid_request(
            "there is no session here to initialize",
        ));
    };
    let opened = Opened { client, promised };
    let revision = session
        .initialize(&params.protocol_version, Revision::NEWEST_FIRST, opened)
        .map_err(|refusal| Reject::new(refusal.code(), refusal.to_string()))?;
    drop(session);
    let relayed = relayed.map(|offer| (offer.info, offer.instructions));
    let (info, instructions) = relayed.unwrap_or_default();
    let info = info.unwrap_or_else(|| shared.responder.info.clone());
    let mut result = InitializeResult::new(revision, capabilities, info);
    result.instructions = instructions.or_else(|| shared.instructions.clone());
    result.lower(revision);
    Ok(result)
}

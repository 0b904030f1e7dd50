//! `initialize`: opens a session.

use turnbuckle_protocol::{
    InitializeRequestParams, InitializeResult, Lower, Revision, TASKS_EXTENSION,
    envelope::{self, Members},
    error::problem_in_message,
    lenient,
};
use turnbuckle_transport::Limits;

use super::subscriptions_listen;
use crate::{
    ClientInfo, Reject,
    client::Opened,
    engine::{Incoming, Shared, Sink, task},
};

/// Nodes for each of the characters before a value: `{"":0}` has three of these characters, and
/// seven nodes.
const NODES_PER_MARK: usize = 3;

pub(super) fn serve(shared: &Shared, incoming: &Incoming<'_>, out: &mut impl Sink) {
    match open(shared, incoming) {
        Ok(result) => out.put_with(|out| {
            envelope::write_result(out, incoming.id, |out| serde_json::to_writer(out, &result))
                .expect("an InitializeResult is plain JSON");
        }),
        Err(reject) => incoming.refuse(reject, out),
    }
}

/// Charges the client's quota for the parts of the handshake that are kept during the session.
fn pay(incoming: &Incoming<'_>) -> Result<(), Reject> {
    match incoming.peer.listener() {
        Some(mut listener) => Ok(listener.pay(kept_bytes(incoming.params))?),
        None => Ok(()),
    }
}

/// The size of the parts of a handshake that are kept, in bytes. Each value is preceded by one of
/// four characters; these are also counted when they are part of a text.
pub(crate) fn kept_bytes(params: &Members<'_>) -> usize {
    let kept = ["capabilities", "clientInfo"].map(|name| params.get(name));
    let kept = kept.iter().flatten();
    kept.map(|raw| kept_of(raw.get())).sum()
}

/// The size of parsed JSON, in bytes.
pub(crate) fn kept_of(text: &str) -> usize {
    let marks = text.bytes().filter(|byte| b"{[,:".contains(byte));
    text.len() + Limits::bytes_of_nodes(NODES_PER_MARK * marks.count())
}

fn open(shared: &Shared, incoming: &Incoming<'_>) -> Result<InitializeResult, Reject> {
    let text = incoming.params.to_raw();
    // Capabilities and icons that cannot be parsed are omitted; the rest is enough for a session.
    let (params, warnings) = lenient::read::<InitializeRequestParams>("initialize", text.get())
        .map_err(|error| {
            let problem = problem_in_message(&error);
            Reject::invalid_params(format!("`initialize` cannot be read: {problem}"))
        })?;
    for warning in warnings {
        tracing::warn!(
            pointer = warning.pointer,
            "`initialize`: {}",
            warning.problem
        );
    }
    let offer = shared.catalog().offer(incoming.caller());
    let relayed = shared.relayed(incoming.caller());
    let mut capabilities = shared.capabilities(offer, relayed.as_ref());
    if offer.tasks {
        capabilities.tasks = Some(task::capability(incoming.caller()));
    }
    if relayed.is_some()
        && let Some(extensions) = &mut capabilities.extensions
    {
        // In sessions, tasks have a capability of their own.
        extensions.remove(TASKS_EXTENSION);
    }
    let client = ClientInfo {
        info: Some(params.client_info),
        capabilities: params.capabilities,
    };
    let promised = subscriptions_listen::offered(&capabilities);
    let Some(mut session) = incoming.peer.lifecycle() else {
        return Err(Reject::invalid_request(
            "`initialize` works only in a session, and this request has none",
        ));
    };
    pay(incoming)?;
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

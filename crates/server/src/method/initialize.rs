//! `initialize`: a legacy session opens.

use turnbuckle_protocol::{InitializeRequestParams, InitializeResult, Lower, Revision, envelope};

use super::{Incoming, subscriptions_listen};
use crate::{
    Reject,
    exchange::Step,
    extract::Introduction,
    peer::Opened,
    sink::{Sink, Wrote},
    task,
};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let params: InitializeRequestParams = match incoming.params.parse() {
        Ok(params) => params,
        Err(error) => {
            let reject = Reject::invalid_params(format!("`initialize` cannot be read: {error}"));
            return incoming.refuse(reject, out);
        }
    };
    let shared = incoming.shared;
    let mut capabilities = shared.capabilities();
    if shared.catalog().runs_tasks() {
        capabilities.tasks = Some(task::capability(incoming.peer.caller()));
    }
    let client = Introduction {
        info: Some(params.client_info),
        capabilities: params.capabilities,
    };
    let promised = subscriptions_listen::offered(&capabilities);
    let Some(mut session) = incoming.peer.session() else {
        let reject = Reject::invalid_request("there is no session here to initialize");
        return incoming.refuse(reject, out);
    };
    let negotiated = session.initialize(
        &params.protocol_version,
        Revision::NEWEST_FIRST,
        Opened { client, promised },
    );
    drop(session);
    let revision = match negotiated {
        Ok(revision) => revision,
        Err(refusal) => {
            let reject = Reject::new(refusal.code(), refusal.to_string());
            return incoming.refuse(reject, out);
        }
    };
    let mut result = InitializeResult::new(revision, capabilities, shared.info.clone());
    result.instructions.clone_from(&shared.instructions);
    result.lower(revision);
    out.put(|out| {
        envelope::write_result(out, &incoming.id, |out| serde_json::to_writer(out, &result))
            .expect("an InitializeResult is plain JSON");
        Wrote::Result
    });
    Step::Done
}

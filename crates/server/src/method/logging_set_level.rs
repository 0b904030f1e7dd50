//! `logging/setLevel`: a session says how severe a log message must be. Until 2025-11-25; then each
//! request says so for itself.

use turnbuckle_protocol::{SetLevelRequestParams, envelope};

use super::Incoming;
use crate::{
    Reject,
    exchange::Step,
    sink::{Sink, Wrote},
};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    if let Err(reject) = set(&incoming) {
        return incoming.refuse(reject, out);
    }
    out.put(|out| {
        envelope::write_raw_result(out, &incoming.id, b"{}");
        Wrote::Result
    });
    Step::Done
}

fn set(incoming: &Incoming<'_>) -> Result<(), Reject> {
    super::offered(incoming.shared.offers_logging(), "logging/setLevel")?;
    // logging: an invalid level is -32602.
    let params: SetLevelRequestParams = incoming.params.parse().map_err(|error| {
        Reject::invalid_params(format!(
            "`params.level` must be one of {}: {error}",
            super::LEVELS
        ))
    })?;
    if incoming.peer.set_log_level(params.level) {
        return Ok(());
    }
    Err(Reject::invalid_request(
        "there is no session here whose level could be set",
    ))
}

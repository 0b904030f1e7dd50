//! `logging/setLevel`: sets how severe log messages must be in a session. Up to 2025-11-25; later,
//! each request sets its own level.

use turnbuckle_protocol::SetLevelRequestParams;

use crate::{
    Reject,
    engine::{Incoming, Shared, Sink, admission::LEVELS, target::offered},
    relay::ClientChannel,
};

pub(super) fn serve(shared: &Shared, incoming: &Incoming<'_>, out: &mut impl Sink) {
    incoming.acknowledge(set(shared, incoming), out);
}

fn set(shared: &Shared, incoming: &Incoming<'_>) -> Result<(), Reject> {
    offered(shared.logs(incoming.caller()), incoming.method)?;
    // logging: an invalid level is -32602.
    let params: SetLevelRequestParams = incoming
        .params
        .parse()
        .map_err(|_| Reject::invalid_params(format!("`params.level` must be one of {LEVELS}")))?;
    if incoming.peer.set_log_level(params.level) {
        if let Some(relay) = &shared.relay {
            let channel = ClientChannel::new(incoming.peer, incoming.revision);
            relay.log_level(&channel, params.level);
        }
        return Ok(());
    }
    Err(Reject::invalid_request(
        "`logging/setLevel` works only in a session",
    ))
}

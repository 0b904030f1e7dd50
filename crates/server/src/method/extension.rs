//! Methods that extensions add.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::envelope::Held;

use super::Incoming;
use crate::{
    Call, ExtensionReply, Failure,
    exchange::{self, Running, Step},
    extension::MethodEntry,
    sink::Sink,
};

pub(super) fn serve(
    incoming: Incoming<'_>,
    method: &Arc<MethodEntry>,
    out: &mut impl Sink,
) -> Step {
    let started = start(&incoming, method);
    exchange::run(
        incoming.shared,
        incoming.revision,
        incoming.id,
        started,
        out,
    )
}

fn start(
    incoming: &Incoming<'_>,
    method: &Arc<MethodEntry>,
) -> Result<Running<ExtensionReply>, Failure> {
    let named = method.named_by.and_then(|name| incoming.params.text(name));
    let call = Call::of(
        incoming,
        method.name,
        named.unwrap_or(Cow::Borrowed(method.name)),
        Some(Held::Owned(incoming.params.to_raw())),
        None,
    );
    method.admit(&call)?;
    exchange::start(method, call)
}

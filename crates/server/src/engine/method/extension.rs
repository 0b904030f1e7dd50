//! Methods of extensions.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::envelope::Held;

use crate::{
    ExtensionReply, Failure,
    catalog::extension::MethodEntry,
    engine::{Incoming, Shared, StartedCall, exchange},
};

pub(super) fn start(
    shared: &Shared,
    incoming: &Incoming<'_>,
    method: &Arc<MethodEntry>,
) -> Result<StartedCall<ExtensionReply>, Failure> {
    let named = method.named_by.and_then(|name| incoming.params.text(name));
    let name = named.unwrap_or(Cow::Borrowed(method.name));
    let input = Some(Held::Owned(incoming.params.to_raw()));
    let call = incoming.call(&shared.context, method.name, name, input, None);
    method.admit(&call)?;
    exchange::start(&shared.layers, method, call)
}

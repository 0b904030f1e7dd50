//! Methods of extensions.

use turnbuckle_protocol::method::Method;

use super::{
    Call,
    any::split,
    builder::{Check, object},
    exchange::Read,
};
use crate::{CallError, link::Link};

/// A call of a method that an extension defines.
pub(crate) fn extension_call<'a, M: Method>(
    link: &'a Link,
    params: &M::Params,
) -> Call<'a, M::Result> {
    let (meta, body) = split(M::NAME, object(M::NAME, params));
    let call = Call::new(link, M::NAME, body, |exchange, raw| {
        exchange.complete::<M::Result>(&raw).map(Read::Done)
    });
    Call {
        // Whoever calls has seen that the extension is declared.
        check: Check::Skip,
        meta,
        ..call
    }
}

/// What the server does not offer.
pub(crate) fn not_offered(link: &Link, what: &str, reason: &str) -> CallError {
    CallError::NotOffered {
        server: link.server().clone(),
        method: what.into(),
        reason: reason.into(),
    }
}

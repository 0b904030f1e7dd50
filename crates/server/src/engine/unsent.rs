//! The memory of answers that have not been sent yet.
//!
//! A client that does not read keeps its answers in the server's memory. So answers over HTTP count
//! against a quota from the moment they are made until their last byte has left the process. Queued
//! notifications and questions count, too.

use std::sync::Arc;

use turnbuckle_protocol::{ErrorObject, IdRef, error::code};
use turnbuckle_transport::{Held, OutboxBudget};

use super::{Response, Shared, Sink as _, answer};
use crate::quota::{CallerKey, Over, Quota};

/// 8 KiB: smaller answers are not counted, because the system's own buffer for a connection is
/// larger.
const SMALL_ANSWER_BYTES: usize = 8 * 1024;

/// The caller against whose quota unsent answers count.
#[derive(Clone)]
pub(crate) struct Unsent {
    quota: Arc<Quota>,
    caller: CallerKey,
}

impl Unsent {
    pub(crate) fn of(shared: &Shared, caller: CallerKey) -> Self {
        Self {
            quota: Arc::clone(&shared.allowances.unsent),
            caller,
        }
    }

    /// Counts an answer against the quota. If too many answers wait to be sent, it is replaced by
    /// an error.
    pub(crate) fn pay(&self, mut response: Response, id: &IdRef<'_>) -> Response {
        let bytes = response.own_bytes();
        if bytes <= SMALL_ANSWER_BYTES {
            return response;
        }
        let mut share = self.quota.share(self.caller);
        match share.add(bytes.min(self.quota.half_of_caller())) {
            Ok(()) => {
                response.paid = Some(Box::new(share));
                response
            }
            Err(over) => refuse(bytes, over, id),
        }
    }
}

/// Counts an answer whose caller is not known yet.
pub(crate) fn pay(
    shared: &Shared,
    response: Response,
    id: &IdRef<'_>,
    caller: impl FnOnce() -> CallerKey,
) -> Response {
    if response.own_bytes() <= SMALL_ANSWER_BYTES {
        return response;
    }
    Unsent::of(shared, caller()).pay(response, id)
}

/// Creates an outbox for one exchange or session over HTTP. Its contents count against the caller's
/// quota.
#[cfg(feature = "http")]
pub(crate) fn outbox(shared: &Shared, caller: CallerKey) -> turnbuckle_transport::Outbox {
    let budget: Arc<Quota> = Arc::clone(&shared.allowances.unsent);
    turnbuckle_transport::Outbox::with_budget(shared.settings.limits, budget, caller.number())
}

impl OutboxBudget for Quota {
    fn pay(self: Arc<Self>, payer: u64, bytes: usize) -> Option<Held> {
        let mut share = self.share(CallerKey::of_number(payer));
        share.add(bytes.min(self.half_of_caller())).ok()?;
        Some(Held::new(share))
    }
}

fn refuse(bytes: usize, over: Over, id: &IdRef<'_>) -> Response {
    let error = match over {
        Over::Caller(limit) => ErrorObject::new(
            code::TOO_MANY_REQUESTS,
            format!(
                "the request was served, but its answer of {bytes} bytes was dropped: answers that \
                 you have not read yet take up to {limit} bytes; read them first, or raise \
                 `MemoryBudget::unsent_per_caller`"
            ),
        ),
        Over::Total(limit) => ErrorObject::internal(format!(
            "the request was served, but its answer of {bytes} bytes was dropped: answers that \
             clients have not read yet take up to {limit} bytes; try again, or raise \
             `MemoryBudget::unsent`"
        )),
    };
    let mut response = Response::default();
    response.put(|out| answer::write_error(Ok(id), &error, out));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(bytes: usize) -> Response {
        let mut response = Response::default();
        response.put_with(|out| out.resize(bytes, b' '));
        response
    }

    #[test]
    fn answers_that_are_not_read_have_a_budget() {
        let quota = Quota::new(50_000, 40_000);
        let of = |name: &str| Unsent {
            quota: Arc::clone(&quota),
            caller: CallerKey::digest(name),
        };
        let (ada, eve, id) = (of("ada"), of("eve"), IdRef::Int(7));
        let text = |response: Response| String::from_utf8(response.into_message()).unwrap();
        let first = ada.pay(response(15_000), &id);
        // This counts as half of the caller's limit.
        let second = ada.pay(response(70_000), &id);
        assert_eq!(second.own_bytes(), 70_000);
        let refused = text(ada.pay(response(15_000), &id));
        assert!(
            refused.contains("`MemoryBudget::unsent_per_caller`"),
            "{refused}"
        );
        assert!(refused.contains(r#""id":7"#), "{refused}");
        // Small answers are not counted.
        assert_eq!(ada.pay(response(8_000), &id).own_bytes(), 8_000);
        let third = eve.pay(response(10_000), &id);
        assert_eq!(third.own_bytes(), 10_000);
        let refused = text(eve.pay(response(10_000), &id));
        assert!(refused.contains("`MemoryBudget::unsent`"), "{refused}");
        drop((first, second, third));
        assert!(quota.share(ada.caller).add(40_000).is_ok());
    }
}

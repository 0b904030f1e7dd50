//! `ping`: are you there?

use turnbuckle_protocol::envelope;

use super::Incoming;
use crate::{
    exchange::Step,
    sink::{Sink, Wrote},
};

pub(super) fn serve(incoming: &Incoming<'_>, out: &mut impl Sink) -> Step {
    out.put(|out| {
        envelope::write_raw_result(out, &incoming.id, b"{}");
        Wrote::Result
    });
    Step::Done
}

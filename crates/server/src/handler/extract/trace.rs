//! The trace that a call belongs to.

use turnbuckle_protocol::TraceContext;

use super::Extract;
use crate::{Call, Failure, Reject};

impl Extract for TraceContext {
    /// Most requests belong to no trace, so extract an `Option<TraceContext>`.
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let context = Self::of_request(&call.request_meta());
        context.ok_or_else(|| {
            Reject::invalid_params(
                "the request has no trace context: send `traceparent` in `_meta`",
            )
            .into()
        })
    }
}

//! The `_meta` of a request.

use turnbuckle_protocol::Meta;

use super::Extract;
use crate::{Call, Failure, Reject};

/// Extracts the whole `_meta` of the request: progress token, trace context, and the client's own
/// keys. Empty if the request has no `_meta`.
#[derive(Clone, Debug, Default)]
pub struct CallMeta(pub Meta);

impl Extract for CallMeta {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        call.raw_meta().map_or_else(
            || Ok(Self::default()),
            |raw| {
                serde_json::from_str(raw.get()).map(Self).map_err(|error| {
                    Reject::invalid_params(format!("`_meta` cannot be read: {error}")).into()
                })
            },
        )
    }
}

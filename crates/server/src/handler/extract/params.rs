//! The params of an extension's method.

use serde::de::DeserializeOwned;
use turnbuckle_protocol::envelope::Raw;

use super::Extract;
use crate::{Call, Failure, Reject, handler::Description};

/// Extracts the params of an extension's method as a type. Params that cannot be parsed are
/// rejected with −32602 before the handler runs.
///
/// Use it in functions for [`ExtensionMethod`](crate::ExtensionMethod); tools and prompts use
/// [`Args`](crate::Args).
#[derive(Clone, Copy, Debug)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + Send> Extract for Params<T> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let raw = call.input().map_or("{}", Raw::get);
        serde_json::from_str(raw).map(Self).map_err(|error| {
            Reject::invalid_params(format!("`params` cannot be read: {error}")).into()
        })
    }

    fn describe(description: &mut Description) {
        description.takes_params = true;
    }
}

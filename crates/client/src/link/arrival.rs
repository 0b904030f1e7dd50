//! A message as it arrived: its bytes, and the request on whose own stream it came.

use serde::Deserialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{Id, envelope::Members};

/// How a message arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival<'a> {
    /// The request on whose own stream it came; `None` on a stream that all requests share.
    pub(super) call: Option<&'a Id>,
    /// The whole message; `None` for a member of a batch.
    pub(super) message: Option<&'a [u8]>,
}

impl Arrival<'_> {
    /// The params as they were written; those of a member of a batch are written anew.
    pub(super) fn params(&self, members: &Members<'_>) -> Option<Box<RawValue>> {
        #[derive(Deserialize)]
        struct ParamsOf<'m> {
            #[serde(borrow)]
            params: Option<&'m RawValue>,
        }

        let read = self.message.map(serde_json::from_slice::<ParamsOf<'_>>);
        match read {
            Some(Ok(message)) => message.params.map(ToOwned::to_owned),
            // The envelope is more lenient than serde in what it skips.
            Some(Err(_)) | None => (!members.is_empty()).then(|| members.to_raw()),
        }
    }
}

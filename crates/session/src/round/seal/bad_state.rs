//! Why a `requestState` is refused.

use turnbuckle_protocol::ErrorObject;

use super::KeyId;

/// Why a `requestState` is refused.
///
/// The message of each variant is for the log. The client gets [`to_error`](Self::to_error), which is
/// the same for all variants, so that an attacker does not learn which check failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadState {
    /// It is longer than any state made here.
    #[error("the request state has {0} bytes, which is more than this server ever sends")]
    TooLarge(usize),
    /// It does not have the form of a state made here.
    #[error("the request state was not made by this version of this server")]
    Foreign,
    /// Its key is not known, or not known any more.
    #[error(
        "the request state was encrypted with a secret that this server does not have (key {0}); \
         give all replicas the same secrets, and keep old ones for a day"
    )]
    UnknownKey(KeyId),
    /// It was altered.
    #[error("the request state was altered")]
    Altered,
    /// It has expired.
    #[error("the request state expired {milliseconds} ms ago")]
    Expired {
        /// How long ago it expired.
        milliseconds: u64,
    },
    /// It was made for another caller.
    #[error("the request state was made for another caller")]
    OtherCaller,
    /// It was made for another request.
    #[error("the request state was made for another request")]
    OtherRequest,
    /// It was used before, and each state may be used only once.
    #[error("the request state was used before")]
    Spent,
    /// It is authentic, but its journal cannot be parsed, for example after a change of version.
    #[error("the journal in the request state cannot be read")]
    Unreadable(#[source] serde_json::Error),
}

impl BadState {
    /// Returns the error for the client: -32602, without the reason.
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::invalid_params(
            "`requestState` is not valid for this request; send the request again without it, and \
             without `inputResponses`",
        )
    }
}

//! Why a `requestState` is refused.

use turnbuckle_protocol::ErrorObject;

use super::KeyId;

/// Why a `requestState` is refused.
///
/// The message of each variant is for the log. The client gets [`to_error`](Self::to_error), the
/// same for all: who tries out boxes must not learn how far one got.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadState {
    /// It is longer than any box made here.
    #[error("the request state has {0} bytes, more than any made here")]
    TooLarge(usize),
    /// It is not in the form of a box made here.
    #[error("the request state was not made by this version of this server")]
    Foreign,
    /// Its key is not known, or no longer.
    #[error(
        "the request state was encrypted with a secret that this server does not have (key {0}); \
         give all replicas the same secrets, and keep old ones for a day"
    )]
    UnknownKey(KeyId),
    /// It is not as it was sealed.
    #[error("the request state was altered")]
    Altered,
    /// It came too late.
    #[error("the request state expired {milliseconds} ms ago")]
    Expired {
        /// How long ago.
        milliseconds: u64,
    },
    /// It was made for another caller.
    #[error("the request state was made for another caller")]
    OtherCaller,
    /// It was made for something else.
    #[error("the request state was made for another request")]
    OtherRequest,
    /// It was used before, where each is used once.
    #[error("the request state was used before")]
    Spent,
    /// It is authentic but what is in it cannot be read, as after a change of version.
    #[error("the journal in the request state cannot be read")]
    Unreadable(#[source] serde_json::Error),
}

impl BadState {
    /// The error to answer the client with: -32602, and not a word on the reason.
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::invalid_params(
            "`requestState` is not valid for this request; send the request again without it, and \
             without `inputResponses`",
        )
    }
}

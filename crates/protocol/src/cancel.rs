//! Cancelling a request.

use serde::{Deserialize, Serialize};

use crate::{Meta, envelope::Id, setter::setters};

/// The params of `notifications/cancelled`: the answer to a request is not needed any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request. Only the schema of 2025-11-25 lets it be absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Id>,
    /// Why, for a log or a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CancelledNotificationParams {
    /// Creates the params for cancelling a request.
    pub fn new(request: impl Into<Id>) -> Self {
        Self {
            request_id: Some(request.into()),
            reason: None,
            meta: None,
        }
    }
}

setters! {
    impl CancelledNotificationParams {
        fn with_reason(reason: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}

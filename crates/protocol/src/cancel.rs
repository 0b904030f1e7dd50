//! Giving up on a request.

use serde::{Deserialize, Serialize};

use crate::{Meta, envelope::Id, setter::setters};

/// Says that the answer to a request is no longer wanted: `notifications/cancelled`.
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
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CancelledNotificationParams {
    /// Gives up on a request.
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

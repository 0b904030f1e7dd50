//! Progress notifications.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Meta, envelope::Id, json, meta, setter::setters};

/// The token that connects progress notifications with their request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(pub Id);

impl<T: Into<Id>> From<T> for ProgressToken {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

impl Meta {
    /// Returns the token for progress notifications.
    pub fn progress_token(&self) -> Option<ProgressToken> {
        self.read(meta::key::PROGRESS_TOKEN)
    }

    /// Asks for progress notifications with this token.
    pub fn with_progress_token(self, token: ProgressToken) -> Self {
        self.with(meta::key::PROGRESS_TOKEN, token)
    }
}

impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The params of `notifications/progress`: the progress of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// The token of the request.
    pub progress_token: ProgressToken,
    /// The progress so far; it grows with each notification.
    #[serde(serialize_with = "json::number")]
    pub progress: f64,
    /// The total, if known.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub total: Option<f64>,
    /// A message for the user about the current step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ProgressNotificationParams {
    /// Creates the params for the request with this token.
    pub fn new(token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self {
            progress_token: token.into(),
            progress,
            total: None,
            message: None,
            meta: None,
        }
    }
}

setters! {
    impl ProgressNotificationParams {
        fn with_total(total: f64);
        fn with_message(message: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}

//! Log messages of a server.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Meta, meta, setter::setters};

/// The severity of a log message: the levels of syslog, from lowest to highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For debugging.
    Debug,
    /// Information about normal operation.
    Info,
    /// Normal, but significant.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something failed.
    Error,
    /// Something important failed.
    Critical,
    /// Action must be taken at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

impl LoggingLevel {
    /// All levels, from lowest to highest.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];
}

impl Meta {
    /// Returns the minimum severity of the log messages that the request asks for.
    pub fn log_level(&self) -> Option<LoggingLevel> {
        self.read(meta::key::LOG_LEVEL)
    }

    /// Asks for log messages of this severity and above.
    pub fn with_log_level(self, level: LoggingLevel) -> Self {
        self.with(meta::key::LOG_LEVEL, level)
    }
}

/// The params of `logging/setLevel`. Until 2025-11-25.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// The minimum severity of the log messages that the client wants.
    pub level: LoggingLevel,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl SetLevelRequestParams {
    /// Creates the params for messages of this severity and above.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: None }
    }
}

setters! {
    impl SetLevelRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// The params of `notifications/message`: a log message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// The severity.
    pub level: LoggingLevel,
    /// The part of the server that wrote the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The message: any JSON.
    pub data: Value,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl LoggingMessageNotificationParams {
    /// Creates a log message.
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        Self {
            level,
            logger: None,
            data: data.into(),
            meta: None,
        }
    }
}

setters! {
    impl LoggingMessageNotificationParams {
        fn with_logger(logger: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}

//! Log messages of a server.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Meta, meta, setter::setters};

/// How severe a log message is: the levels of syslog, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For finding faults.
    Debug,
    /// What is going on.
    Info,
    /// Normal, but worth seeing.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something failed.
    Error,
    /// Something important failed.
    Critical,
    /// Action must be taken at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LoggingLevel {
    /// All of them, the mildest first.
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
    /// The least severe log message the request wants.
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
    /// The mildest messages the client wants.
    pub level: LoggingLevel,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl SetLevelRequestParams {
    /// Asks for messages of this severity and above.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: None }
    }
}

setters! {
    impl SetLevelRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// A log message: `notifications/message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// How severe it is.
    pub level: LoggingLevel,
    /// The part of the server that speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The message: any JSON.
    pub data: Value,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl LoggingMessageNotificationParams {
    /// A message.
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

//! A line of a server's log, with the exchange that it belongs to.

use serde::Serialize;
use turnbuckle::protocol::{LoggingMessageNotificationParams, envelope::Outline};

use super::{clock, message::is_log, raw::Raw, wire::Shown};

/// A line as the page shows it.
#[derive(Serialize)]
pub(super) struct LogLine<'a> {
    server: &'a str,
    /// The exchange during which it was written, if known.
    exchange: Option<u64>,
    level: Raw,
    logger: Option<String>,
    data: Raw,
    #[serde(serialize_with = "clock::plain")]
    time: f64,
}

impl<'a> LogLine<'a> {
    /// The log line of a message; `None` if the message is another one.
    pub(super) fn read(row: &'a Shown, message: &[u8]) -> Option<Self> {
        if row.direction != "in" || row.kind != "notification" {
            return None;
        }
        let outline = Outline::of(message);
        if !is_log(&outline) {
            return None;
        }
        let line: LoggingMessageNotificationParams = outline.params?.parse().ok()?;
        Some(Self {
            server: &row.server,
            exchange: row.exchange,
            level: Raw::of(&line.level),
            data: Raw::of(&line.data),
            logger: line.logger,
            time: row.time,
        })
    }
}

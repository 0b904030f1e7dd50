//! Notifications of a server: changed lists, updated resources, log messages.

mod feed;
mod logs;

pub(crate) use feed::{Feed, Interest};
pub use feed::{NotificationStream, ServerNotification};
pub use logs::{LogStream, Logged};

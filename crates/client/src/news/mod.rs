//! What a server says unasked: changed lists, updated resources, log messages.

mod feed;
mod logs;

pub(crate) use feed::{Feed, Interest};
pub use feed::{News, NewsStream};
pub use logs::{LogStream, Logged};

//! The JSON-RPC 2.0 envelope: the form of every message, independent of its method.
//!
//! [`parse`] parses one message in one pass and borrows everything from it: members of `params` stay
//! unparsed until the code that knows their type parses them. The `write_*` functions append whole
//! messages to a buffer. No input causes a panic, and nothing is recursive.

mod broken_answer;
mod edit;
mod find;
mod id;
mod malformed;
mod members;
mod message;
mod nest;
mod outline;
mod parse;
mod raw;
mod request_meta;
mod scan;
mod special;
mod string;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub use broken_answer::id_of_broken_answer;
pub use edit::{Edit, NotAnObject};
pub use id::{Id, IdRef};
pub use malformed::{Malformed, MalformedKind};
pub use members::Members;
pub use message::{Frame, Message, Notification, Request, Response};
pub use outline::Outline;
pub use parse::{parse, parse_member, parse_within};
pub use raw::{Held, Raw, RawText};
pub use request_meta::RequestMeta;
pub use string::write_string;
pub use text::text_of;
pub use write::{
    UnreadableId, write_error, write_notification, write_raw_notification, write_raw_request,
    write_raw_response, write_raw_result, write_request, write_result, write_result_head,
};

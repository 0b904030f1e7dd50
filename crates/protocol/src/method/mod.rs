//! The methods of the protocol: params, result, and the revisions that have them.
//!
//! [`Method`] and [`NotificationMethod`] tie a name to its types. [`available`] says whether a revision
//! has a method in a direction; a server answers with "method not found" where it does not.

mod list_kind;
mod notification;
mod request;
mod table;

pub use list_kind::ListKind;
pub use notification::*;
pub use request::*;
pub use table::{Direction, Entry, MethodKind, available, entries, extension, find};

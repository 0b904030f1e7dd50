//! The methods of the protocol: params, result, and the revisions that have them.
//!
//! [`Method`] and [`NotificationMethod`] connect a name with its types. [`available`] returns whether a
//! revision has a method in a direction; if not, a server answers with "method not found".

mod list_kind;
mod notification;
mod request;
mod table;

pub use list_kind::ListKind;
pub use notification::*;
pub use request::*;
pub use table::{Direction, Entry, MethodKind, available, entries, extension, find};

//! The HTTP side of a message: the headers that mirror it, and the status of an error.
//!
//! Since 2026-07-28 a request over HTTP repeats parts of its body in headers, so that intermediaries
//! can route it without parsing JSON. These modules only work on texts; sockets and header maps belong
//! to the transports.
//!
//! | question | answer |
//! |---|---|
//! | what is the name of a header? | [`header`] |
//! | which member of `params` does `Mcp-Name` repeat? | [`name_of`] |
//! | how is a value encoded in a header, and decoded? | [`encode`], [`decode`], [`matches()`] |
//! | which arguments of a tool are repeated in headers? | [`ParamHeaders`] |
//! | may an intermediary rely on them? | [`are_checked`] |
//! | which HTTP status does an error have? | [`status_of`], [`status_of_answer`] |

pub mod header;
mod param;
mod status;
mod value;

pub use header::{are_checked, name_of};
pub use param::{AnnotationFault, HeaderFault, ParamHeaders};
pub use status::{status_of, status_of_answer};
pub use value::{BadHeader, decode, encode, matches};

//! The names of the protocol's own headers, in the form that the `http` crate needs.
//!
//! If a header is looked up by a `&str`, its name is checked and converted to lower case each time.

use http::HeaderName;
use turnbuckle_protocol::http::header;

pub(super) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
pub(super) static METHOD: HeaderName = HeaderName::from_static(header::METHOD);
pub(super) static NAME: HeaderName = HeaderName::from_static(header::NAME);
pub(super) static SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
pub(super) static LAST_EVENT_ID: HeaderName = HeaderName::from_static(header::LAST_EVENT_ID);

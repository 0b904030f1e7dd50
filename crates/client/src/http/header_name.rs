//! The names of the protocol's own headers as constants of the `http` crate.
//!
//! A name that is inserted as a `&str` would be checked and copied each time.

use turnbuckle_protocol::http::header;
use turnbuckle_transport::http::client::HeaderName;

pub(crate) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
pub(crate) static METHOD: HeaderName = HeaderName::from_static(header::METHOD);
pub(crate) static NAME: HeaderName = HeaderName::from_static(header::NAME);
pub(crate) static SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
pub(crate) static LAST_EVENT_ID: HeaderName = HeaderName::from_static(header::LAST_EVENT_ID);

//! `resources/read`.

use turnbuckle_protocol::ReadResourceResult;

use super::{
    Call,
    builder::{Body, Subject},
};
use crate::connection::Connection;

impl Connection {
    /// Reads a resource.
    ///
    /// What the server allows to be kept is [kept](crate::Cache).
    ///
    /// One that is not there is a [`CallError::Rejected`](crate::CallError::Rejected); whatever
    /// the revision, [`is_resource_not_found`] tells it from others.
    ///
    /// [`is_resource_not_found`]: turnbuckle_protocol::ErrorObject::is_resource_not_found
    pub fn read(&self, uri: impl Into<String>) -> Call<'_, ReadResourceResult> {
        let subject = Subject {
            uri: Some(uri.into()),
            ..Subject::default()
        };
        Call::new(
            self.link(),
            "resources/read",
            Ok(Body::Subject(subject)),
            |reader, raw| reader.outcome(&raw),
        )
        .cached()
    }
}

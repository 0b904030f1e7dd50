//! `resources/read`.

use turnbuckle_protocol::ReadResourceResult;

use super::{
    ClientCall,
    builder::{Body, Subject},
};
use crate::connection::Connection;

impl Connection {
    /// Reads a resource, from the [cache](crate::Cache) if the server allows it. Returns its
    /// contents: one part or several, text or binary.
    ///
    /// ```no_run
    /// use turnbuckle_client::protocol::ResourceContents;
    ///
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// for part in server.read("file:///home/ada/notes.md").await?.contents {
    ///     if let ResourceContents::Text(text) = part {
    ///         println!("{}", text.text);
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A missing resource is a [`CallError::Rejected`](crate::CallError::Rejected);
    /// [`is_resource_not_found`] recognises it in every revision.
    ///
    /// [`is_resource_not_found`]: turnbuckle_protocol::ErrorObject::is_resource_not_found
    pub fn read(&self, uri: impl Into<String>) -> ClientCall<'_, ReadResourceResult> {
        let subject = Subject {
            uri: Some(uri.into()),
            ..Subject::default()
        };
        ClientCall::new(
            self.link(),
            "resources/read",
            Ok(Body::Subject(subject)),
            |reader, raw| reader.outcome(&raw),
        )
        .cached()
    }
}

//! Requests with any method, typed or raw.

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    Lower, Meta,
    method::{Method, NotificationMethod},
};

use super::{ClientCall, Parsed, arguments::object, builder::Body};
use crate::{connection::Connection, error::CallError, link::split_meta};

impl Connection {
    /// Sends any request of the protocol by its method type. Questions of the server are returned
    /// as part of the outcome, for the caller to answer.
    ///
    /// ```no_run
    /// use turnbuckle_client::protocol::{PaginatedRequestParams, method::ToolsList};
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let page = server.request::<ToolsList>(PaginatedRequestParams::new()).await?.0;
    /// # Ok(()) }
    /// ```
    pub fn request<M: Method>(&self, mut params: M::Params) -> ClientCall<'_, M::Outcome>
    where
        M::Params: Lower,
    {
        params.lower(self.link().revision());
        let (meta, body) = split(M::NAME, object(M::NAME, &params));
        ClientCall::new(self.link(), M::NAME, body, |reader, raw| {
            reader.parse::<M::Outcome>(&raw).map(Parsed::Done)
        })
        .with_meta(meta)
    }

    /// Sends a request by its method name, and returns the result as raw JSON. Neither the params nor
    /// whether the server supports the method is checked beforehand.
    pub fn request_raw(
        &self,
        method: impl Into<String>,
        params: Option<Box<RawValue>>,
    ) -> ClientCall<'_, Box<RawValue>> {
        let method = method.into();
        let params = params.map_or(Ok(None), |params| object(&method, &params));
        let (meta, body) = split(&method, params);
        ClientCall::new(self.link(), method, body, |_, raw| Ok(Parsed::Done(raw)))
            .with_meta_as_it_is(meta)
            .unchecked()
    }

    /// Sends a notification by its type. Use it for notifications that only the application can
    /// send; the client sends the others by itself.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if clients of this revision do not send it,
    /// [`CallError::Unwritable`] if `_meta` has an invalid key, and [`CallError::Closed`].
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify<N: NotificationMethod>(
        &self,
        mut params: N::Params,
    ) -> Result<(), CallError>
    where
        N::Params: Lower,
    {
        let link = self.link();
        link.check_offered(N::NAME)?;
        params.lower(link.revision());
        if let Some(params) = object(N::NAME, &params)? {
            let split = split_meta(params);
            let (meta, _) = split.map_err(|source| CallError::unwritable(N::NAME, source))?;
            CallError::check_meta(N::NAME, meta.as_ref())?;
        }
        link.send_notification(N::NAME, &params).await
    }
}

/// Separates the `_meta` of the caller from the params: the connection adds its own members to it.
pub(super) fn split(
    method: &str,
    params: Result<Option<Box<RawValue>>, CallError>,
) -> (Option<Meta>, Result<Body, CallError>) {
    let split = params.and_then(|params| match params {
        None => Ok((None, None)),
        Some(params) => split_meta(params)
            .map(|(meta, rest)| (meta, Some(rest)))
            .map_err(|source| CallError::unwritable(method, source)),
    });
    match split {
        Ok((meta, params)) => (meta, Ok(Body::Plain(params))),
        Err(error) => (None, Err(error)),
    }
}

//! Requests and notifications of extensions.

use std::fmt;
use turnbuckle_protocol::{
    ExtensionSpec,
    method::{Method, NotificationMethod},
};

use super::{ClientCall, Parsed, any::split, arguments::object};
use crate::{connection::Connection, error::CallError};

/// An extension that the server declares, with the server's settings for it. It sends the extension's
/// requests and notifications. Made by [`Connection::extension`].
///
/// ```no_run
/// # use serde::{Deserialize, Serialize};
/// # use turnbuckle_client::protocol::{ExtensionSpec, method::Method};
/// # struct Almanac;
/// # #[derive(Serialize, Deserialize)] struct Settings { since: u16 }
/// # #[derive(Serialize, Deserialize)] struct None {}
/// # impl ExtensionSpec for Almanac {
/// #     const ID: &'static str = "com.example/almanac";
/// #     type Client = None;
/// #     type Server = Settings;
/// # }
/// # #[derive(Serialize, Deserialize)] struct Day { day: String }
/// # #[derive(Serialize, Deserialize)] struct Weather { celsius: f64 }
/// # struct AlmanacRead;
/// # impl Method for AlmanacRead {
/// #     const NAME: &'static str = "almanac/read";
/// #     type Params = Day;
/// #     type Result = Weather;
/// #     type Outcome = Weather;
/// # }
/// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
/// let almanac = server.extension::<Almanac>()?;
/// if almanac.settings().since <= 1816 {
///     let weather = almanac.call::<AlmanacRead>(&Day { day: "1816-07-04".into() }).await?;
///     println!("{} °C", weather.celsius);
/// }
/// # Ok(()) }
/// ```
pub struct ExtensionHandle<'a, E: ExtensionSpec> {
    connection: &'a Connection,
    settings: E::Server,
}

impl Connection {
    /// Returns an extension of the server, with its settings.
    ///
    /// Most extensions require the client to [declare](crate::Client::declare) them too.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if the server does not declare the extension, or its settings cannot
    /// be read.
    pub fn extension<E: ExtensionSpec>(&self) -> Result<ExtensionHandle<'_, E>, CallError> {
        let capabilities = self.server().capabilities();
        let declared = capabilities.and_then(|capabilities| capabilities.extension(E::ID));
        let Some(declared) = declared else {
            let reason = "it does not declare this extension";
            return Err(self.link().not_offered(E::ID, reason));
        };
        match serde_json::from_value(declared.clone()) {
            Ok(settings) => Ok(ExtensionHandle {
                connection: self,
                settings,
            }),
            Err(error) => {
                let reason = format!("the settings that it declares cannot be read: {error}");
                Err(self.link().not_offered(E::ID, &reason))
            }
        }
    }
}

impl<'a, E: ExtensionSpec> ExtensionHandle<'a, E> {
    /// Returns the settings with which the server declared the extension.
    pub fn settings(&self) -> &E::Server {
        &self.settings
    }

    /// Returns the connection of this handle.
    pub fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Sends a request of the extension, and returns its result when awaited.
    ///
    /// # Errors
    /// Fails as any [`ClientCall`] does: with [`CallError::Rejected`] if the server answers with an
    /// error.
    pub fn call<M: Method>(&self, params: &M::Params) -> ClientCall<'a, M::Result> {
        let link = self.connection.link();
        #[cfg(feature = "http")]
        if let (Some(member), Some(http)) = (M::NAMED_BY, link.wire.http()) {
            http.names.learn(M::NAME, member);
        }
        let (meta, body) = split(M::NAME, object(M::NAME, params));
        let call = ClientCall::new(link, M::NAME, body, |reader, raw| {
            reader.complete::<M::Result>(&raw).map(Parsed::Done)
        });
        // The server declares the extension: `Connection::extension` has checked that.
        call.with_meta(meta).unchecked()
    }

    /// Sends a notification of the extension.
    ///
    /// # Errors
    /// [`CallError::Closed`] if the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify<N: NotificationMethod>(&self, params: &N::Params) -> Result<(), CallError> {
        let link = self.connection.link();
        link.send_notification(N::NAME, params).await
    }
}

impl<E: ExtensionSpec> fmt::Debug for ExtensionHandle<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionHandle")
            .field("id", &E::ID)
            .field("server", &self.connection.server().name())
            .finish_non_exhaustive()
    }
}

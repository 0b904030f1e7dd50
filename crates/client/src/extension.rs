//! Extensions: what a server offers beyond the core.

use std::fmt;

use turnbuckle_base::lock::RwLock;
use turnbuckle_protocol::{
    ExtensionSpec, envelope,
    method::{Method, Notification},
};

use crate::{
    Call, CallError, Connection,
    call::{extension_call, not_offered},
};

/// An extension that the server declares, by [`Connection::extension`].
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
pub struct Extended<'a, E: ExtensionSpec> {
    connection: &'a Connection,
    settings: E::Server,
}

impl Connection {
    /// An extension of the server, if it declares it.
    ///
    /// Most extensions also want the client to [declare](crate::Client::declare) them.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if it does not, or if what it declares cannot be read.
    pub fn extension<E: ExtensionSpec>(&self) -> Result<Extended<'_, E>, CallError> {
        let capabilities = self.server().capabilities();
        let declared = capabilities.and_then(|capabilities| capabilities.extension(E::ID));
        let Some(declared) = declared else {
            return Err(not_offered(
                self.link(),
                E::ID,
                "it does not declare this extension",
            ));
        };
        match serde_json::from_value(declared.clone()) {
            Ok(settings) => Ok(Extended {
                connection: self,
                settings,
            }),
            Err(error) => {
                let reason = format!("what it declares cannot be read: {error}");
                Err(not_offered(self.link(), E::ID, &reason))
            }
        }
    }
}

impl<'a, E: ExtensionSpec> Extended<'a, E> {
    /// What the server said when it declared the extension.
    pub fn settings(&self) -> &E::Server {
        &self.settings
    }

    /// The connection it belongs to.
    pub fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Calls a method of the extension.
    pub fn call<M: Method>(&self, params: &M::Params) -> Call<'a, M::Result> {
        let link = self.connection.link();
        if let Some(member) = M::NAMED_BY {
            link.names.learn(M::NAME, member);
        }
        extension_call::<M>(link, params)
    }

    /// Sends a notification of the extension.
    ///
    /// # Errors
    /// [`CallError::Closed`] if the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), CallError> {
        let link = self.connection.link();
        let mut message = Vec::new();
        envelope::write_notification(&mut message, N::NAME, params)
            .map_err(|source| CallError::unwritable(N::NAME, source))?;
        let sent = link.send(&message).await;
        sent.map_err(|_| link.closed(N::NAME))
    }
}

impl<E: ExtensionSpec> fmt::Debug for Extended<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extended")
            .field("id", &E::ID)
            .field("server", &self.connection.server().name())
            .finish_non_exhaustive()
    }
}

/// Which member of its params a method of an extension is named by over HTTP. As many as there
/// are methods in the program, since names are written in it.
#[derive(Debug, Default)]
pub(crate) struct Names(RwLock<Vec<(&'static str, &'static str)>>);

impl Names {
    fn learn(&self, method: &'static str, member: &'static str) {
        if self.member(method).is_none() {
            let mut names = self.0.write();
            names.push((method, member));
        }
    }

    pub(crate) fn member(&self, method: &str) -> Option<&'static str> {
        let names = self.0.read();
        let known = names.iter().find(|(known, _)| *known == method)?;
        Some(known.1)
    }
}

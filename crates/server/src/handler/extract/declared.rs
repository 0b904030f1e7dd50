//! The settings with which the client declared an extension.

use std::fmt;

use turnbuckle_protocol::ExtensionSpec;

use super::Extract;
use crate::{Call, Failure};

/// Extracts the settings with which the client declared extension `E`; `None` if the client did not
/// declare it.
///
/// In 2026-07-28 clients declare extensions in each request, so two requests on one connection may
/// differ; in earlier revisions they do it once, in the handshake. If the value is `None`, the
/// handler must not use the extension. Settings that cannot be parsed count as `None`.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use turnbuckle_protocol::ExtensionSpec;
/// # struct Almanac;
/// # #[derive(Serialize, Deserialize)] struct AlmanacClient {}
/// # impl ExtensionSpec for Almanac {
/// #     const ID: &'static str = "com.example/almanac";
/// #     type Client = AlmanacClient;
/// #     type Server = AlmanacClient;
/// # }
/// use turnbuckle_server::Declared;
///
/// async fn weather(Declared(almanac): Declared<Almanac>) -> &'static str {
///     if almanac.is_some() { "9 °C; ask `almanac/read` for other years" } else { "9 °C" }
/// }
/// ```
pub struct Declared<E: ExtensionSpec>(pub Option<E::Client>);

impl<E: ExtensionSpec> Extract for Declared<E> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let settings = call.client_extension(E::ID);
        Ok(Self(settings.and_then(|settings| {
            serde_json::from_value(settings).ok()
        })))
    }
}

impl<E: ExtensionSpec<Client: fmt::Debug>> fmt::Debug for Declared<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Declared").field(&self.0).finish()
    }
}

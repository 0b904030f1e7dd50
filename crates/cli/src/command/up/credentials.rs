//! The credentials that a server is reached with. What a client of the gateway authorizes with is never
//! passed on.

use serde::Deserialize;
use turnbuckle::auth::client::{OAuth, Registered};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    sign_in,
};
use turnbuckle_host::config::Remote;

/// The credentials of one server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Credentials {
    /// A header with a value from the environment or the keyring.
    Header(HeaderCredentials),
    /// A token for the gateway itself (OAuth client credentials).
    Client(ClientCredentials),
}

/// A header with a secret value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct HeaderCredentials {
    /// `Authorization` unless it is said.
    #[serde(default = "authorization")]
    header: String,
    /// What comes before the secret, such as `Bearer `.
    prefix: Option<String>,
    /// The environment variable that has the secret.
    env: Option<String>,
    /// The account in the keyring that has it, under the service `turnbuckle`.
    keyring: Option<String>,
}

/// A client of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ClientCredentials {
    client_id: String,
    /// The environment variable that has the client's secret.
    client_secret_env: String,
    #[serde(default)]
    scopes: Vec<String>,
    issuer: Option<String>,
}

fn authorization() -> String {
    "Authorization".to_owned()
}

impl Credentials {
    /// Adds what they need to the way to a server. Gives the tokens that requests are authorized with.
    pub(super) fn apply(&self, remote: &mut Remote) -> Outcome<Option<OAuth>> {
        match self {
            Self::Header(header) => {
                let value = header.value()?;
                remote
                    .headers
                    .retain(|(name, _)| !name.eq_ignore_ascii_case(&header.header));
                remote.headers.push((header.header.clone(), value));
                Ok(None)
            }
            Self::Client(client) => client.tokens().map(Some),
        }
    }
}

impl HeaderCredentials {
    fn value(&self) -> Outcome<String> {
        let secret = match (&self.env, &self.keyring) {
            (Some(variable), None) => std::env::var(variable).map_err(|_| {
                Failed::usage(format!("the environment variable `{variable}` is not set"))
            })?,
            (None, Some(account)) => keyring(account)?,
            _ => {
                return Err(Failed::usage(
                    "`credentials` need either `env` or `keyring`",
                ));
            }
        };
        let is_bearer = self.header.eq_ignore_ascii_case("authorization");
        let prefix = self
            .prefix
            .as_deref()
            .unwrap_or(if is_bearer { "Bearer " } else { "" });
        Ok(format!("{prefix}{secret}"))
    }
}

impl ClientCredentials {
    fn tokens(&self) -> Outcome<OAuth> {
        let variable = &self.client_secret_env;
        let secret = std::env::var(variable).map_err(|_| {
            Failed::usage(format!("the environment variable `{variable}` is not set"))
        })?;
        let client = Registered::new(&self.client_id).with_secret(secret);
        let tokens = sign_in::kept_in(sign_in::store()?)
            .client_credentials(client)
            .scopes(self.scopes.iter().map(String::as_str));
        Ok(match &self.issuer {
            Some(issuer) => tokens.issuer(issuer),
            None => tokens,
        })
    }
}

#[cfg(feature = "keyring")]
fn keyring(account: &str) -> Outcome<String> {
    let read = keyring::Entry::new("turnbuckle", account).and_then(|entry| entry.get_password());
    read.map_err(|error| Failed::usage(format!("the keyring has no `{account}`: {error}")))
}

#[cfg(not(feature = "keyring"))]
fn keyring(account: &str) -> Outcome<String> {
    let said = format!("this build has no keyring to look `{account}` up in");
    Err(Failed::usage(said).hint("use `env`"))
}

//! The credentials with which a server is reached. The credentials of a client of the gateway are never passed
//! on.

use serde::Deserialize;
use turnbuckle::auth::client::{OAuth, Registered};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    sign_in,
};
use turnbuckle_host::config::Remote;

/// The `credentials` of one server, as they are in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table, such as `{ env = \"TOKEN\" }`"
)]
pub(super) struct Credentials {
    /// The header with the secret. Defaults to `Authorization`.
    header: Option<String>,
    /// The text before the secret, such as `Bearer `.
    prefix: Option<String>,
    /// The environment variable with the secret.
    env: Option<String>,
    /// The keyring account with the secret, under the service `turnbuckle`.
    keyring: Option<String>,
    /// Who signs in, instead of the gateway.
    sign_in: Option<SignInBy>,
    /// The authorization server that exchanges the tokens of callers.
    exchange: Option<String>,
    /// The name of this server at that authorization server, if it is not its URL.
    audience: Option<String>,
    /// The client id at the authorization server.
    client_id: Option<String>,
    /// The environment variable with the client's secret.
    client_secret_env: Option<String>,
    scopes: Vec<String>,
    issuer: Option<String>,
    /// Lets the server name an authorization server in a private network, or on this machine.
    allow_private_networks: bool,
}

/// Who signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SignInBy {
    Caller,
}

/// How callers reach a server with their own credentials.
#[derive(Clone, Debug)]
pub(super) enum CallerCredentials {
    /// Each caller signs in with this client.
    SignIn(OAuth),
    /// The token of the caller is exchanged by this client at an authorization server.
    Exchange {
        oauth: OAuth,
        client: Registered,
        audience: Option<String>,
    },
}

impl Credentials {
    /// Adds the credentials to a target. Returns the OAuth client that authorizes requests, if there is one.
    pub(super) fn apply(&self, remote: &mut Remote) -> Outcome<Option<OAuth>> {
        self.check()?;
        if self.sign_in.is_some() || self.exchange.is_some() {
            // Each caller uses its own tokens.
            return Ok(None);
        }
        if self.client_id.is_some() {
            let store = sign_in::kept_in(sign_in::store()?);
            return Ok(Some(self.common(store.client_credentials(self.client()?))));
        }
        let header = self.header.as_deref().unwrap_or("Authorization");
        let value = self.value(header)?;
        remote
            .headers
            .retain(|(name, _)| !name.eq_ignore_ascii_case(header));
        remote.headers.push((header.to_owned(), value));
        Ok(None)
    }

    /// The credentials of callers, if each caller has its own.
    pub(super) fn of_callers(&self) -> Outcome<Option<CallerCredentials>> {
        self.check()?;
        let oauth = || self.common(OAuth::new("turnbuckle"));
        if let Some(issuer) = &self.exchange {
            let client = self.client()?.at_issuer(issuer);
            return Ok(Some(CallerCredentials::Exchange {
                oauth: oauth().issuer(issuer),
                client,
                audience: self.audience.clone(),
            }));
        }
        let Some(SignInBy::Caller) = self.sign_in else {
            return Ok(None);
        };
        let oauth = match &self.client_id {
            Some(_) => oauth().client(self.client()?),
            None => oauth(),
        };
        Ok(Some(CallerCredentials::SignIn(oauth)))
    }

    /// The environment variables with secrets.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        let variables = [&self.env, &self.client_secret_env];
        variables.into_iter().filter_map(|name| name.as_deref())
    }

    /// Rejects settings that contradict each other.
    fn check(&self) -> Outcome {
        let header = [&self.header, &self.prefix, &self.env, &self.keyring];
        let has_header = header.iter().any(|key| key.is_some());
        let ways = [
            ("`env` or `keyring`", has_header),
            ("`sign-in`", self.sign_in.is_some()),
            ("`exchange`", self.exchange.is_some()),
        ];
        let named: Vec<_> = ways.iter().filter(|(_, is)| *is).map(|it| it.0).collect();
        if let [one, other, ..] = &*named {
            let said = format!("`credentials` have {one} and {other}; use one of them");
            return Err(Failed::usage(said));
        }
        if has_header && self.client_id.is_some() {
            let said = "`credentials` have a header and `client-id`; use one of them";
            return Err(Failed::usage(said));
        }
        if named.is_empty() && self.client_id.is_none() {
            return Err(Failed::usage("`credentials` lack a secret")
                .hint("use `env`, `keyring`, `client-id`, `sign-in` or `exchange`"));
        }
        if self.exchange.is_some() && self.client_id.is_none() {
            return Err(Failed::usage(
                "`credentials` with `exchange` need `client-id` and `client-secret-env`",
            ));
        }
        if self.audience.is_some() && self.exchange.is_none() {
            return Err(Failed::usage("`audience` is for `exchange`"));
        }
        Ok(())
    }

    fn client(&self) -> Outcome<Registered> {
        let client = Registered::new(self.client_id.as_deref().unwrap_or_default());
        let Some(variable) = &self.client_secret_env else {
            if self.sign_in.is_some() {
                return Ok(client);
            }
            let said = "`client-id` needs `client-secret-env`, the variable with the secret";
            return Err(Failed::usage(said));
        };
        Ok(client.with_secret(variable_of(variable)?))
    }

    fn common(&self, oauth: OAuth) -> OAuth {
        let oauth = oauth.scopes(self.scopes.iter().map(String::as_str));
        let oauth = match &self.issuer {
            Some(issuer) => oauth.issuer(issuer),
            None => oauth,
        };
        if self.allow_private_networks {
            return oauth.allow_private_networks();
        }
        oauth
    }

    /// The value of the header.
    fn value(&self, header: &str) -> Outcome<String> {
        let secret = match (&self.env, &self.keyring) {
            (Some(variable), None) => variable_of(variable)?,
            (None, Some(account)) => keyring(account)?,
            _ => {
                let said = "`credentials` need either `env` or `keyring`";
                return Err(Failed::usage(said));
            }
        };
        let is_bearer = header.eq_ignore_ascii_case("authorization");
        let usual = if is_bearer { "Bearer " } else { "" };
        let prefix = self.prefix.as_deref().unwrap_or(usual);
        Ok(format!("{prefix}{secret}"))
    }
}

/// The value of an environment variable.
fn variable_of(variable: &str) -> Outcome<String> {
    std::env::var(variable)
        .map_err(|_| Failed::usage(format!("the environment variable `{variable}` is not set")))
}

#[cfg(feature = "keyring")]
fn keyring(account: &str) -> Outcome<String> {
    let read = keyring::Entry::new("turnbuckle", account).and_then(|entry| entry.get_password());
    read.map_err(|error| {
        Failed::usage(format!("cannot read `{account}` from the keyring: {error}"))
    })
}

#[cfg(not(feature = "keyring"))]
fn keyring(account: &str) -> Outcome<String> {
    let said = format!("cannot read `{account}`: this build does not support keyrings");
    Err(Failed::usage(said).hint("use `env`"))
}

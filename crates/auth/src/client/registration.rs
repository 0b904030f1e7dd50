//! Dynamic client registration, RFC 7591.

use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_transport::http::client::Address;

use super::clock::Timestamp;
use super::fetch::Fetcher;
use super::identity::{ClientIdentity, ClientProof, Method};
use super::metadata::AuthorizationServer;
use super::token_answer::refusal;
use super::{AuthError, Problem, Step};
use crate::Secret;

/// A registration that an authorization server has made for this client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Registration {
    pub(crate) client_id: String,
    client_secret: Option<Secret>,
    /// Seconds since 1970; 0 means never.
    #[serde(default)]
    client_secret_expires_at: u64,
    token_endpoint_auth_method: Option<String>,
    /// The redirect URIs. Servers need not repeat them, so these are the requested ones.
    #[serde(default)]
    pub(crate) redirect_uris: Vec<String>,
}

impl Registration {
    /// Whether the registration is still valid and includes this redirect URI.
    pub(crate) fn is_good_for(&self, redirect_uri: &str, now: Timestamp) -> bool {
        let expires = self.client_secret_expires_at;
        (expires == 0 || expires > now.0)
            && self.redirect_uris.iter().any(|own| own == redirect_uri)
    }

    pub(crate) fn identity(&self) -> ClientIdentity {
        let method = self
            .token_endpoint_auth_method
            .as_deref()
            .and_then(Method::parse);
        ClientIdentity {
            client_id: self.client_id.clone(),
            proof: match &self.client_secret {
                Some(secret) => ClientProof::Secret(secret.clone()),
                None => ClientProof::None,
            },
            method,
        }
    }

    /// The registration in the form in which it is stored.
    pub(crate) fn to_secret(&self) -> Secret {
        let text = json!({
            "client_id": self.client_id,
            "client_secret": self.client_secret.as_ref().map(Secret::expose),
            "client_secret_expires_at": self.client_secret_expires_at,
            "token_endpoint_auth_method": self.token_endpoint_auth_method,
            "redirect_uris": self.redirect_uris,
        });
        Secret::new(text.to_string())
    }
}

/// The client's description of itself.
pub(crate) struct ClientDescription<'a> {
    pub(crate) name: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) is_bound: bool,
}

impl ClientDescription<'_> {
    fn body(&self, server: &AuthorizationServer) -> Value {
        let mut body = json!({
            "client_name": self.name,
            "redirect_uris": [self.redirect_uri],
            // client-registration: a client that wants refresh tokens lists the grant.
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method(server).name(),
            "application_type": application_type(self.redirect_uri),
            // There is no `scope`: a client that lists scopes is limited to them, and the scopes
            // that a server will require later are unknown.
        });
        if self.is_bound {
            body["dpop_bound_access_tokens"] = json!(true);
        }
        body
    }
}

/// Registers the client.
pub(crate) async fn register(
    fetcher: &Fetcher,
    server: &AuthorizationServer,
    endpoint: &Address,
    description: &ClientDescription<'_>,
) -> Result<Registration, AuthError> {
    let body = description.body(server);
    let answer = fetcher.json(Step::Registration, endpoint, &body).await?;
    if !answer.status.is_success() {
        let error = refusal(Step::Registration, endpoint, &answer);
        let hint = match error.oauth_error() {
            Some("invalid_redirect_uri" | "invalid_client_metadata") => format!(
                "it does not accept `{}` with application_type `{}`; register a client by hand and give its id",
                description.redirect_uri,
                application_type(description.redirect_uri),
            ),
            _ => "register a client by hand and give its id".to_owned(),
        };
        return Err(error.hint(hint));
    }
    let mut made: Registration = answer.parse(Step::Registration, endpoint)?;
    if made.client_id.is_empty() {
        let problem = Problem::Malformed("the client's id is empty".to_owned());
        return Err(AuthError::new(Step::Registration, problem).at(endpoint));
    }
    if made.token_endpoint_auth_method.is_none() {
        // If the response does not repeat the requested method, the server accepts it if its
        // metadata lists it. A server that lists no methods means Basic, if it issued a secret (RFC
        // 7591, 2).
        let asked = method(server);
        let is_listed = server.takes_method(asked.name()) == Some(true);
        made.token_endpoint_auth_method = is_listed.then(|| asked.name().to_owned());
    }
    made.redirect_uris = vec![description.redirect_uri.to_owned()];
    Ok(made)
}

/// The authentication method to request. A client on a user's machine cannot keep a secret, so it
/// prefers none.
fn method(server: &AuthorizationServer) -> Method {
    let is_taken = |method: Method| server.takes_method(method.name()).unwrap_or(true);
    [Method::None, Method::Basic, Method::Post]
        .into_iter()
        .find(|method| is_taken(*method))
        .unwrap_or(Method::Basic)
}

/// client-registration, "Application Type": `native` for a client that runs on the user's machine.
fn application_type(redirect_uri: &str) -> &'static str {
    match Address::parse(redirect_uri) {
        Ok(address) if address.is_loopback() => "native",
        _ => "web",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(redirect_uri: &str, methods: Option<&[&str]>) -> Value {
        let server = AuthorizationServer {
            token_endpoint_auth_methods_supported: methods
                .map(|methods| methods.iter().map(|&method| method.to_owned()).collect()),
            ..AuthorizationServer::default()
        };
        let description = ClientDescription {
            name: "my-app",
            redirect_uri,
            is_bound: false,
        };
        description.body(&server)
    }

    /// A16.
    #[test]
    fn what_runs_on_this_machine_is_native() {
        for (uri, kind) in [
            ("http://127.0.0.1:1/callback", "native"),
            ("http://localhost/callback", "native"),
            ("https://app.example/callback", "web"),
        ] {
            assert_eq!(body(uri, None)["application_type"], kind, "{uri}");
        }
    }

    #[test]
    fn the_proof_is_one_that_the_server_takes() {
        for (methods, method) in [
            (None, "none"),
            (Some(&["client_secret_basic", "none"][..]), "none"),
            (Some(&["client_secret_basic"][..]), "client_secret_basic"),
            (Some(&["client_secret_post"][..]), "client_secret_post"),
        ] {
            let body = body("http://127.0.0.1:1/callback", methods);
            assert_eq!(body["token_endpoint_auth_method"], method);
        }
    }

    #[test]
    fn a_registration_is_kept_whole_and_shown_without_its_secret() {
        let text = r#"{"client_id":"c","client_secret":"sesame","client_secret_expires_at":9,
            "redirect_uris":["http://127.0.0.1:1/callback"]}"#;
        let made: Registration = serde_json::from_str(text).unwrap();
        let again: Registration = serde_json::from_str(made.to_secret().expose()).unwrap();
        assert_eq!(again.client_secret, Some(Secret::new("sesame")));
        assert!(again.is_good_for("http://127.0.0.1:1/callback", Timestamp(8)));
        assert!(!again.is_good_for("http://127.0.0.1:1/callback", Timestamp(9)));
        assert!(!again.is_good_for("http://127.0.0.1:2/callback", Timestamp(8)));
        assert!(!format!("{made:?}").contains("sesame"));
    }
}

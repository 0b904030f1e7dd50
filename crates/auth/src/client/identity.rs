//! The client's identity at an authorization server, and its authentication.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::{Serializer, byte_serialize};
use http::header::AUTHORIZATION;
use serde_json::json;
use turnbuckle_transport::http::client::{HeaderMap, HeaderValue};

use super::clock::Timestamp;
use super::metadata::AuthorizationServer;
use super::random::random_text;
use super::{AuthError, Problem, Step};
use crate::Secret;
use crate::jose::SigningKey;

/// 1 min: each assertion is used for one request.
const ASSERTION_LIFE: Duration = Duration::from_mins(1);

/// RFC 7523, 2.2.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A client that is registered at an authorization server, with its credentials. Give it to
/// [`OAuth::client`](super::OAuth::client),
/// [`OAuth::client_credentials`](super::OAuth::client_credentials) or
/// [`Enterprise::new`](super::Enterprise::new).
///
/// ```
/// use turnbuckle_auth::client::Registered;
///
/// let client = Registered::new("my-client-id")
///     .with_secret("s3cret")
///     .at_issuer("https://login.example.com");
/// ```
///
/// Credentials belong to the issuer that gave them. Set it with [`at_issuer`](Self::at_issuer);
/// otherwise they are sent to the first authorization server that the MCP server names. `Debug`
/// does not show them.
#[derive(Clone, Debug)]
pub struct Registered {
    pub(crate) issuer: Option<String>,
    pub(crate) identity: ClientIdentity,
}

impl Registered {
    /// Makes a public client with this client id. It has no credentials and is protected by PKCE alone.
    pub fn new(client_id: impl Into<String>) -> Self {
        Self {
            issuer: None,
            identity: ClientIdentity {
                client_id: client_id.into(),
                proof: ClientProof::None,
                method: None,
            },
        }
    }

    /// Authenticates the client with a client secret, in a way that the authorization server
    /// supports: in the `Authorization` header or in the body.
    pub fn with_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.identity.proof = ClientProof::Secret(secret.into());
        self
    }

    /// Authenticates the client with signed assertions (`private_key_jwt`), each valid for one
    /// minute. The authorization server must know the public half of the key. Prefer this to a
    /// secret, because the key is never sent.
    pub fn with_key(mut self, key: SigningKey) -> Self {
        self.identity.proof = ClientProof::Key(Arc::new(key));
        self
    }

    /// Uses the client only with this issuer. Its credentials are never sent to another issuer,
    /// whatever the MCP server names; the flow fails instead.
    pub fn at_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }
}

/// A client id and the credentials for it.
#[derive(Clone, Debug)]
pub(crate) struct ClientIdentity {
    pub(crate) client_id: String,
    pub(crate) proof: ClientProof,
    /// The authentication method, if one was agreed on at registration.
    pub(crate) method: Option<Method>,
}

/// The credentials of a client.
#[derive(Clone)]
pub(crate) enum ClientProof {
    /// No authentication: a public client.
    None,
    Secret(Secret),
    Key(Arc<SigningKey>),
}

/// How a client authenticates at a token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    None,
    Basic,
    Post,
}

impl Method {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post]
            .into_iter()
            .find(|method| method.name() == name)
    }
}

impl ClientIdentity {
    /// Adds the client's authentication to a request to a token endpoint.
    pub(crate) fn prove(
        &self,
        server: &AuthorizationServer,
        form: &mut Serializer<'_, String>,
        headers: &mut HeaderMap,
        now: Timestamp,
    ) -> Result<(), AuthError> {
        match &self.proof {
            ClientProof::None => {
                form.append_pair("client_id", &self.client_id);
            }
            ClientProof::Secret(secret) => match self.method_at(server)? {
                Method::Basic => {
                    headers.insert(AUTHORIZATION, self.basic(secret)?);
                }
                Method::Post => {
                    form.append_pair("client_id", &self.client_id);
                    form.append_pair("client_secret", secret.expose());
                }
                Method::None => {
                    form.append_pair("client_id", &self.client_id);
                }
            },
            // RFC 7523, 3: the assertion identifies the client, so the id is not repeated.
            ClientProof::Key(key) => {
                form.append_pair("client_assertion_type", ASSERTION_TYPE);
                form.append_pair("client_assertion", &self.assertion(key, server, now)?);
            }
        }
        Ok(())
    }

    /// RFC 8414: if the server lists no methods, it accepts Basic.
    fn method_at(&self, server: &AuthorizationServer) -> Result<Method, AuthError> {
        if let Some(method) = self.method {
            return Ok(method);
        }
        let wanted = [Method::Basic, Method::Post];
        let is_taken = |method: &Method| server.takes_method(method.name()).unwrap_or(true);
        wanted.into_iter().find(is_taken).ok_or_else(|| {
            let methods = server.token_endpoint_auth_methods_supported.as_deref();
            let methods = methods.unwrap_or_default().join(", ");
            let problem = Problem::Unsupported(format!(
                "the authorization server accepts client authentication by {methods}, not by a secret"
            ));
            AuthError::new(Step::Token, problem)
                .rule("RFC 8414, `token_endpoint_auth_methods_supported`")
                .hint("configure a key instead of the secret")
        })
    }

    /// RFC 6749, 2.3.1: id and secret are form-encoded before they are joined.
    fn basic(&self, secret: &Secret) -> Result<HeaderValue, AuthError> {
        let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let joined = format!("{}:{}", encode(&self.client_id), encode(secret.expose()));
        let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(joined)))
            .map_err(|error| {
                let problem =
                    Problem::Local("the client's secret cannot be sent in a header".to_owned());
                AuthError::new(Step::Token, problem).caused_by(error)
            })?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn assertion(
        &self,
        key: &SigningKey,
        server: &AuthorizationServer,
        now: Timestamp,
    ) -> Result<String, AuthError> {
        let claims = json!({
            "iss": self.client_id,
            "sub": self.client_id,
            // Only the issuer: two servers could name the same endpoint.
            "aud": server.issuer,
            "jti": random_text().expose(),
            "iat": now.0,
            "exp": now.after(ASSERTION_LIFE).0,
        });
        key.sign("JWT", &claims).map_err(|error| {
            let problem = Problem::Local("the client's key cannot sign".to_owned());
            AuthError::new(Step::Token, problem).caused_by(error)
        })
    }
}

impl fmt::Debug for ClientProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Secret(_) => "Secret",
            Self::Key(_) => "Key",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(
        client: &Registered,
        methods: Option<&[&str]>,
    ) -> Result<(String, HeaderMap), AuthError> {
        let server = AuthorizationServer {
            issuer: "https://as.example".to_owned(),
            token_endpoint_auth_methods_supported: methods
                .map(|methods| methods.iter().map(|&method| method.to_owned()).collect()),
            ..AuthorizationServer::default()
        };
        let mut form = Serializer::new(String::new());
        let mut headers = HeaderMap::new();
        client
            .identity
            .prove(&server, &mut form, &mut headers, Timestamp(0))?;
        Ok((form.finish(), headers))
    }

    #[test]
    fn a_secret_goes_the_way_that_the_server_takes() {
        let client = Registered::new("a:b").with_secret("p w");
        for methods in [
            None,
            Some(&["client_secret_post", "client_secret_basic"][..]),
        ] {
            let (form, headers) = sent(&client, methods).unwrap();
            assert_eq!(form, "");
            let expected = format!("Basic {}", STANDARD.encode("a%3Ab:p+w"));
            assert_eq!(headers[AUTHORIZATION], expected);
        }
        let (form, headers) = sent(&client, Some(&["client_secret_post"])).unwrap();
        assert_eq!(
            (&*form, headers.len()),
            ("client_id=a%3Ab&client_secret=p+w", 0)
        );
        let error = sent(&client, Some(&["private_key_jwt"]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("private_key_jwt") && !error.contains("p w"),
            "{error}"
        );
    }

    #[test]
    fn a_public_client_says_its_name_and_one_with_a_key_signs_it() {
        assert_eq!(
            sent(&Registered::new("me"), None).unwrap().0,
            "client_id=me"
        );
        let client = Registered::new("me").with_key(SigningKey::generate().unwrap());
        let (form, _) = sent(&client, None).unwrap();
        assert!(form.starts_with("client_assertion_type=urn") && !form.contains("client_id="));
        assert!(!format!("{client:?}").contains("PRIVATE"), "{client:?}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let client = Registered::new("me").with_secret("sesame");
        assert!(!format!("{client:?}").contains("sesame"));
    }
}

//! Authorization server metadata, RFC 8414 and OpenID Connect Discovery.

use serde::Deserialize;

/// The metadata of an authorization server.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct AuthorizationServer {
    /// Its issuer URL.
    pub(crate) issuer: String,
    /// Where the user is sent to sign in.
    pub(crate) authorization_endpoint: Option<String>,
    /// Where tokens are requested.
    pub(crate) token_endpoint: Option<String>,
    /// Where clients register themselves.
    pub(crate) registration_endpoint: Option<String>,
    /// Where tokens are revoked.
    pub(crate) revocation_endpoint: Option<String>,
    /// The supported scopes.
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// The supported ways of authenticating clients at the token endpoint.
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The supported PKCE methods.
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    /// Whether its authorization responses contain `iss` (RFC 9207).
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
    /// Whether a client id may be the URL of a metadata document.
    #[serde(default)]
    pub(crate) client_id_metadata_document_supported: bool,
    /// The algorithms of DPoP proofs that it accepts, if it binds tokens to keys.
    pub(crate) dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl AuthorizationServer {
    /// The default endpoints of 2025-03-26, for servers without a document.
    pub(crate) fn by_default(base: &str) -> Self {
        let base = base.trim_end_matches('/');
        let endpoint = |path| Some(format!("{base}{path}"));
        Self {
            issuer: base.to_owned(),
            authorization_endpoint: endpoint("/authorize"),
            token_endpoint: endpoint("/token"),
            registration_endpoint: endpoint("/register"),
            ..Self::default()
        }
    }

    /// Whether it advertises S256, the only PKCE method that gives protection.
    pub(crate) fn knows_s256(&self) -> bool {
        is_in(self.code_challenge_methods_supported.as_deref(), "S256")
    }

    /// Whether it accepts proofs with an algorithm that we support.
    pub(crate) fn takes_dpop(&self) -> bool {
        is_in(self.dpop_signing_alg_values_supported.as_deref(), "ES256")
    }

    /// Whether it lists this scope.
    pub(crate) fn lists_scope(&self, scope: &str) -> bool {
        is_in(self.scopes_supported.as_deref(), scope)
    }

    /// Whether it accepts this client authentication method; `None` if it does not say.
    pub(crate) fn takes_method(&self, method: &str) -> Option<bool> {
        let methods = self.token_endpoint_auth_methods_supported.as_deref()?;
        Some(is_in(Some(methods), method))
    }
}

fn is_in(list: Option<&[String]>, wanted: &str) -> bool {
    list.is_some_and(|list| list.iter().any(|one| one == wanted))
}

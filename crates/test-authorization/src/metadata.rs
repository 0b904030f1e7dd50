//! The metadata documents of the server.

use serde_json::{Value, json};

use super::{fault::Fault, settings::Documents, state::Site};

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The names of grants.
pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
pub(super) const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
/// The grant profile of a company's identity provider for other authorization servers.
pub(super) const ID_JAG_PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

impl Site {
    /// Whether one of the metadata documents is at this path.
    pub(super) fn is_document(&self, path: &str) -> bool {
        let own = &self.settings.path;
        let oauth = || path == format!("{OAUTH}{own}");
        let openid = || path == format!("{OPENID}{own}") || path == format!("{own}{OPENID}");
        match self.settings.documents {
            Documents::Both => oauth() || openid(),
            Documents::OAuth => oauth(),
            Documents::OpenId => path == format!("{own}{OPENID}"),
            Documents::Neither => false,
        }
    }

    /// The content of the metadata document.
    pub(super) fn document(&self) -> Value {
        let mut state = self.state();
        let orders = &mut state.orders;
        let issuer = orders.take(|fault| match fault {
            Fault::MetadataIssuer(other) => Some(other.clone()),
            _ => None,
        });
        let algorithms = ["ES256", "EdDSA", "RS256"];
        let mut document = json!({
            "issuer": issuer.unwrap_or_else(|| self.issuer.clone()),
            "authorization_endpoint": self.url("/authorize"),
            "token_endpoint": self.url("/token"),
            "jwks_uri": self.url("/jwks"),
            "introspection_endpoint": self.url("/introspect"),
            "revocation_endpoint": self.url("/revoke"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": [
                "authorization_code", "refresh_token", "client_credentials", JWT_BEARER,
                TOKEN_EXCHANGE,
            ],
            "authorization_grant_profiles_supported": [ID_JAG_PROFILE],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
            "token_endpoint_auth_methods_supported": [
                "none", "client_secret_basic", "client_secret_post", "private_key_jwt",
            ],
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "dpop_signing_alg_values_supported": algorithms,
            "client_id_metadata_document_supported": true,
        });
        if !orders.has(&Fault::NoPkceInMetadata) {
            document["code_challenge_methods_supported"] = json!(["S256"]);
        }
        if !orders.has(&Fault::NoIssInMetadata) {
            document["authorization_response_iss_parameter_supported"] = json!(true);
        }
        if self.settings.is_open {
            document["registration_endpoint"] = json!(self.url("/register"));
        }
        if !self.settings.scopes.is_empty() {
            document["scopes_supported"] = json!(self.settings.scopes);
        }
        document
    }
}

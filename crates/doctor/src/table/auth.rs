//! The checks of authorization.

use crate::check::checks;

checks! { Auth;
    NEEDED Error "auth.needed" {
        claim: "The credentials that were given are enough.",
        rule: "2026-07-28/basic/authorization" "A2",
        fix: "Sign in with `turnbuckle login SERVER`, or give a token with `-H 'Authorization: Bearer …'`; then run doctor again to see the rest.",
    }
    REFUSED Error "auth.refused" {
        claim: "The caller may use the server (no 403).",
        rule: "2026-07-28/basic/authorization" "A12",
        fix: "Ask for the scopes that the challenge names; a 403 without a challenge is often a gateway or an Origin check.",
    }
    CHALLENGE Warning "auth.challenge" {
        claim: "A 401 says with `WWW-Authenticate` where to find the metadata.",
        breaks: "clients of 2025-06-18, which look nowhere else",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A3",
        fix: "Answer 401 with `WWW-Authenticate: Bearer resource_metadata=\"https://…/.well-known/oauth-protected-resource/…\"`.",
    }
    RESOURCE_METADATA Error "auth.resource-metadata" {
        claim: "There is a document that describes the protected resource.",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A3 A4",
        fix: "Serve the JSON of RFC 9728 at `/.well-known/oauth-protected-resource` followed by the path of the endpoint.",
    }
    RESOURCE Error "auth.resource" {
        claim: "The `resource` of the metadata is this server.",
        breaks: "clients that check it, as RFC 9728 says",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A8 A9",
        fix: "Write the URL of the endpoint, as clients use it, into `resource`.",
    }
    SERVERS Error "auth.servers" {
        claim: "The metadata names an authorization server.",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A3",
        fix: "List the issuer's URL in `authorization_servers`.",
    }
    SERVER_METADATA Error "auth.server-metadata" {
        claim: "The authorization server publishes its metadata at one of the well-known URLs.",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A5",
        fix: "Serve the metadata of RFC 8414 or of OpenID Connect where clients look for it.",
    }
    ISSUER Error "auth.issuer" {
        claim: "The issuer in that document is the one by which it was looked up.",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A6",
        fix: "Use the same text for both, to the last slash.",
    }
    ENDPOINTS Error "auth.endpoints" {
        claim: "The document names the endpoints for authorization and tokens.",
        rule: "2026-07-28/basic/authorization/authorization-server-discovery" "A5",
        fix: "Add `authorization_endpoint` and `token_endpoint`.",
    }
    PKCE Error "auth.pkce" {
        claim: "The authorization server offers PKCE with S256.",
        rule: "2026-07-28/basic/authorization/security-considerations" "A10 A21",
        fix: "Add `\"code_challenge_methods_supported\": [\"S256\"]`; clients refuse to go on without it.",
    }
    HTTPS Error "auth.https" {
        claim: "The endpoints of the authorization server are `https`.",
        rule: "2026-07-28/basic/authorization/security-considerations" "A21",
        fix: "Serve them over TLS, with `https` URLs in the metadata.",
    }
    REGISTRATION Warning "auth.registration" {
        claim: "A client that is not registered can register or describe itself.",
        breaks: "users of clients that have no field for a client id",
        rule: "2026-07-28/basic/authorization/client-registration" "A17 A18",
        fix: "Accept client id metadata documents (`client_id_metadata_document_supported`), or offer a `registration_endpoint`.",
    }
    OFFLINE Warning "auth.offline-access" {
        claim: "The resource does not ask for `offline_access`.",
        rule: "2026-07-28/basic/authorization" "A19",
        fix: "Leave it to clients and the authorization server; remove it from `scopes_supported` and from challenges.",
    }
}

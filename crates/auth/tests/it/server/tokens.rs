//! Valid and invalid tokens.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;
use serde_json::{Value, json};
use turnbuckle_auth::{
    jose::{Algorithm, Jwk, JwkSet, SigningKey},
    server::{Claims, Guard, Issuer, VerifyError},
};
use turnbuckle_test_authorization::{AuthorizationServer, Fault};

use super::site::Site;

#[tokio::test]
async fn a_good_token_says_who_calls() {
    let site = Site::start().await;
    let token = site
        .token()
        .scopes(["a", "b"])
        .client("app")
        .claim("email", "ann@example.com");
    let token = token.mint();
    let answer = site.call("whoami", &token).await;
    let key = format!("{} ann", site.issuer.url());
    assert_eq!(
        answer.caller(),
        json!({
            "id": key, "scopes": ["a", "b"],
            "identity": {
                "subject": "ann", "issuer": site.issuer.url(), "client": "app",
                "granted": ["a", "b"], "email": "ann@example.com",
            },
        })
    );
    assert!(!String::from_utf8_lossy(&answer.body).contains(&token));
    let array = site
        .token()
        .claim("aud", json!(["https://x.example", site.resource]));
    assert_eq!(site.call("whoami", &array.mint()).await.status, 200);
    let slash = site.token().audience(format!("{}/", site.resource));
    assert_eq!(site.call("whoami", &slash.mint()).await.status, 200);
}

// rule: A2, A9
// A2 and A9: expired, foreign and damaged tokens MUST get 401; the audience MUST be this server.
#[tokio::test]
async fn a_token_that_is_not_for_us_is_refused() {
    let site = Site::start().await;
    let stranger = AuthorizationServer::new().start().await.expect("it starts");
    let soon = Duration::from_mins(10);
    let table = [
        ("expired", site.token().expired().mint()),
        (
            "has no expiry",
            site.token().claim("exp", Value::Null).mint(),
        ),
        (
            "not valid yet",
            site.token().claim("nbf", 4_000_000_000_u64).mint(),
        ),
        ("no audience", site.token().claim("aud", Value::Null).mint()),
        (
            "another audience",
            site.token().audience("https://other.example/mcp").mint(),
        ),
        (
            "another audience",
            site.token()
                .audience(site.resource.replace("/mcp", "/other"))
                .mint(),
        ),
        (
            "another audience",
            site.token().audience(site.issuer.url()).mint(),
        ),
        (
            "its issuer",
            stranger.token("ann").audience(&site.resource).mint(),
        ),
        (
            "its issuer",
            site.token()
                .claim("iss", format!("{}/", site.issuer.url()))
                .mint(),
        ),
        (
            // The `iss` is that of our issuer, but the key is another one.
            "no key of the issuer",
            stranger
                .token("ann")
                .audience(&site.resource)
                .claim("iss", site.issuer.url())
                .expires_in(soon)
                .mint(),
        ),
        (
            "from a known issuer",
            site.token().claim("iss", Value::Null).mint(),
        ),
        (
            "neither a subject nor a client",
            site.token()
                .claim("sub", Value::Null)
                .claim("client_id", Value::Null)
                .mint(),
        ),
        ("from a known issuer", "opaque".to_owned()),
        ("from a known issuer", "a.b.c".to_owned()),
    ];
    for (why, token) in table {
        let answer = site.call("whoami", &token).await;
        answer.is_refused(401, why);
        assert!(
            answer.challenge().contains("error=\"invalid_token\""),
            "{why}"
        );
        assert!(answer.challenge().contains("resource_metadata="), "{why}");
        // A token that was just refused is refused in the same way.
        site.call("whoami", &token).await.is_refused(401, why);
    }
}

#[tokio::test]
async fn a_token_that_is_changed_is_refused() {
    let site = Site::start().await;
    let token = site.token().mint();
    assert_eq!(site.call("whoami", &token).await.status, 200);
    let parts: Vec<_> = token.split('.').collect();
    let other = site.token().scopes(["admin"]).mint();
    let others: Vec<_> = other.split('.').collect();
    let mixed = format!("{}.{}.{}", parts[0], others[1], parts[2]);
    site.call("whoami", &mixed)
        .await
        .is_refused(401, "signature");
    let bare = format!("{}.{}.", parts[0], parts[1]);
    site.call("whoami", &bare)
        .await
        .is_refused(401, "invalid_token");
}

/// A token with a forged header and signature.
fn forged(site: &Site, header: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let token = site.token().mint();
    let claims = token.split('.').nth(1).expect("claims");
    let message = format!("{}.{claims}", URL_SAFE_NO_PAD.encode(header.to_string()));
    let signature = URL_SAFE_NO_PAD.encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

#[tokio::test]
async fn a_token_cannot_choose_how_it_is_verified() {
    let site = Site::start().await;
    let keys = site.issuer.keys();
    let public: &Jwk = &keys.keys()[0];
    let id = public.id();
    for name in ["none", "None", "nOnE"] {
        let token = forged(&site, &json!({ "alg": name }), |_| Vec::new());
        site.call("whoami", &token)
            .await
            .is_refused(401, "not accepted");
        let token = forged(&site, &json!({ "alg": name, "kid": id }), |_| b"x".to_vec());
        site.call("whoami", &token)
            .await
            .is_refused(401, "not accepted");
    }
    // The public key is used as a shared secret.
    for secret in [public.to_json().to_string(), public.thumbprint()] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let header = json!({ "alg": "HS256", "kid": id });
        let token = forged(&site, &header, |message| {
            hmac::sign(&key, message).as_ref().to_vec()
        });
        site.call("whoami", &token)
            .await
            .is_refused(401, "not accepted");
    }
    // The token contains or names the key to verify it with.
    let own = SigningKey::generate().expect("a key");
    for header in [
        json!({ "alg": "ES256", "jwk": own.public_jwk() }),
        json!({ "alg": "ES256", "kid": id, "jwk": own.public_jwk() }),
        json!({ "alg": "ES256", "kid": id, "jku": "https://evil.example/jwks" }),
    ] {
        let token = site.token().mint();
        let claims = token.split('.').nth(1).expect("claims");
        let claims: Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).expect("base64")).expect("JSON");
        let token = own.sign_with_header(&header, &claims).expect("a token");
        site.call("whoami", &token)
            .await
            .is_refused(401, "signature");
    }
    let critical = forged(&site, &json!({ "alg": "ES256", "crit": ["b64"] }), |_| {
        vec![0; 64]
    });
    site.call("whoami", &critical)
        .await
        .is_refused(401, "invalid_token");
    // Tokens for other purposes.
    let proof = forged(&site, &json!({ "alg": "ES256", "typ": "dpop+jwt" }), |_| {
        vec![0; 64]
    });
    site.call("whoami", &proof)
        .await
        .is_refused(401, "not that of an access token");
}

#[tokio::test]
async fn algorithms_can_be_narrowed() {
    let issuer = AuthorizationServer::new().start().await.expect("it starts");
    let trusted = Issuer::new(issuer.url()).algorithms([Algorithm::Rs256]);
    let site = Site::of(issuer, trusted, |guard| guard).await;
    let token = site.token().mint();
    site.call("whoami", &token).await.is_refused(401, "ES256");
}

#[tokio::test]
async fn a_token_that_is_known_expires_all_the_same() {
    let site = Site::start().await;
    let token = site.token().expires_in(Duration::from_secs(100)).mint();
    assert_eq!(site.call("whoami", &token).await.status, 200);
    // Clocks may differ by a minute.
    site.pass(155);
    assert_eq!(site.call("whoami", &token).await.status, 200);
    site.pass(10);
    site.call("whoami", &token).await.is_refused(401, "expired");
}

#[tokio::test]
async fn an_issuer_may_call_the_server_by_another_name() {
    let issuer = AuthorizationServer::new().start().await.expect("it starts");
    let trusted = Issuer::new(issuer.url())
        .audience("api://notes")
        .scope_claim("roles");
    let site = Site::of(issuer, trusted, |guard| guard).await;
    let token = site.token().audience("api://notes");
    let token = token.claim("roles", json!(["editor"])).scopes(["a"]).mint();
    let answer = site.call("whoami", &token).await;
    assert_eq!(answer.caller()["scopes"], json!(["a", "editor"]));
    let other = site.token().audience("api://notes2").mint();
    site.call("whoami", &other)
        .await
        .is_refused(401, "another audience");
}

#[tokio::test]
async fn faults_of_an_issuer_are_not_ours() {
    let site = Site::start().await;
    site.issuer.order(Fault::UnknownKey);
    let token = site.token().mint();
    site.call("whoami", &token)
        .await
        .is_refused(401, "no key of the issuer");
}

#[tokio::test]
async fn tokens_may_be_verified_in_a_way_of_ones_own() {
    async fn look_up(token: String) -> Result<Claims, VerifyError> {
        let claims = match token.as_str() {
            "good" => json!({ "sub": "ali", "aud": "api://x", "scope": "a" }),
            "foreign" => json!({ "sub": "ali", "aud": "api://y" }),
            "old" => json!({ "sub": "ali", "aud": "api://x", "exp": 1 }),
            "down" => return Err(VerifyError::Unavailable("the database is gone".into())),
            _ => return Err(VerifyError::Invalid("there is no such token".into())),
        };
        Ok(claims.as_object().cloned().unwrap_or_default())
    }
    let issuer = AuthorizationServer::new().start().await.expect("it starts");
    let trusted = Issuer::new(issuer.url())
        .audience("api://x")
        .verify(look_up);
    let site = Site::of(issuer, trusted, |guard: Guard| guard).await;
    assert_eq!(
        site.call("whoami", "good").await.caller()["identity"]["subject"],
        "ali"
    );
    site.call("whoami", "foreign")
        .await
        .is_refused(401, "another audience");
    site.call("whoami", "old").await.is_refused(401, "expired");
    site.call("whoami", "unknown")
        .await
        .is_refused(401, "no such token");
    let down = site.call("whoami", "down").await;
    down.is_refused(503, "at the moment");
    assert!(!String::from_utf8_lossy(&down.body).contains("database"));
}

/// A token of this type, with the claims of a valid token and these additional ones.
fn typed(site: &Site, key: &SigningKey, kind: &str, more: &Value) -> String {
    let mut claims = json!({
        "iss": site.issuer.url(), "sub": "ann", "aud": site.resource, "client_id": "app",
        "exp": 4_000_000_000_u64, "jti": format!("{kind}{more}"),
    });
    for (name, value) in more.as_object().expect("claims") {
        claims[name] = value.clone();
    }
    key.sign(kind, &claims).expect("a token")
}

// rule: A9
// RFC 9068, 4: the resource server MUST verify that `typ` is `at+jwt`.
#[tokio::test]
async fn typed_tokens_are_required_once_seen_and_id_tokens_are_refused() {
    let (bearer, none) = (json!({ "scope": "a" }), json!({}));
    for (change, untyped_first, untyped_later) in [
        (None, 200, 401),
        (Some(true), 401, 401),
        (Some(false), 200, 200),
    ] {
        let key = SigningKey::generate().expect("a key");
        let issuer = AuthorizationServer::new().start().await.expect("it starts");
        let trusted = Issuer::new(issuer.url()).keys(JwkSet::new([key.public_key()]));
        let trusted = match change {
            None => trusted,
            Some(true) => trusted.require_typed_tokens(),
            Some(false) => trusted.accept_untyped_tokens(),
        };
        let site = Site::of(issuer, trusted, |guard| guard).await;
        let call = async |kind: &str, claims: &Value| {
            let answer = site.call("whoami", &typed(&site, &key, kind, claims)).await;
            answer.status.as_u16()
        };
        for id in [
            json!({ "typ": "ID" }),
            json!({ "at_hash": "x" }),
            json!({ "nonce": "x" }),
        ] {
            assert_eq!(call("JWT", &id).await, 401, "{id}");
        }
        assert_eq!(call("JWT", &none).await, untyped_first);
        assert_eq!(call("at+jwt", &none).await, 200);
        assert_eq!(call("JWT", &bearer).await, untyped_later);
        assert_eq!(call("application/at+jwt", &bearer).await, 200);
    }
}

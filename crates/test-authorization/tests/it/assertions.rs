//! Assertions of other issuers: a company's identity provider, and the platform of a workload.

use serde_json::json;
use turnbuckle_auth::jose::{JwkSet, SigningKey};
use turnbuckle_test_authorization::AuthorizationServer;

use super::browser::{CALLBACK, RESOURCE, VERIFIER, authorize, claims, now, post, token};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

#[tokio::test]
async fn a_companys_identity_provider_grants_for_another_server() {
    let provider = AuthorizationServer::new()
        .subject("ann")
        .client("desktop", "one", [CALLBACK]);
    let provider = provider.start().await.expect("it starts");
    let server = AuthorizationServer::new()
        .client("desktop", "two", [""; 0])
        .client("other", "three", [""; 0])
        .trust(provider.url(), provider.keys());
    let server = server.start().await.expect("it starts");

    let answer = authorize(&provider, "desktop", &[("scope", "openid")]).await;
    let code = answer.parameter("code").expect("a code");
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("client_id", "desktop"),
        ("client_secret", "one"),
        ("code_verifier", VERIFIER),
    ];
    let answer = token(&provider, &fields).await.json();
    let id_token = answer["id_token"].as_str().expect("an ID token").to_owned();
    let exchange = async |secret: &str| {
        let fields = [
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange",
            ),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:id-jag",
            ),
            ("subject_token", &id_token),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:id_token",
            ),
            ("audience", server.url()),
            ("resource", RESOURCE),
            ("scope", "a b"),
            ("client_id", "desktop"),
            ("client_secret", secret),
        ];
        token(&provider, &fields).await
    };
    assert_eq!(exchange("wrong").await.error(), "invalid_client");
    let grant = exchange("one").await.json();
    assert_eq!(grant["token_type"], "N_A");
    let grant = grant["access_token"].as_str().expect("a grant").to_owned();

    let redeem = async |client: &str, secret: &str, resource: &str| {
        let fields = [
            ("grant_type", JWT_BEARER),
            ("assertion", grant.as_str()),
            ("client_id", client),
            ("client_secret", secret),
            ("scope", "b c"),
            ("resource", resource),
        ];
        token(&server, &fields).await
    };
    let answer = redeem("desktop", "two", RESOURCE).await.json();
    let said = claims(answer["access_token"].as_str().expect("a token"));
    assert_eq!(said["sub"], "ann");
    assert_eq!(said["aud"], RESOURCE);
    assert_eq!(said["scope"], "b", "what both say");
    let again = redeem("desktop", "two", RESOURCE).await;
    assert_eq!(again.error(), "invalid_grant", "it is used twice");
    let grant = exchange("one").await.json();
    let grant = grant["access_token"].as_str().expect("a grant");
    let fields = [
        ("grant_type", JWT_BEARER),
        ("assertion", grant),
        ("client_id", "other"),
        ("client_secret", "three"),
    ];
    assert_eq!(
        token(&server, &fields).await.error(),
        "invalid_grant",
        "it is of another"
    );
}

#[tokio::test]
async fn a_workload_is_known_by_its_platform() {
    let key = SigningKey::generate().expect("a key");
    let server = AuthorizationServer::new()
        .trust("https://platform.example", JwkSet::new([key.public_key()]));
    let server = server.start().await.expect("it starts");
    let with = async |more: serde_json::Value| {
        let mut claims = json!({
            "iss": "https://platform.example", "sub": "job-7", "exp": now() + 60,
            "aud": format!("{}/token", server.url()),
            "jti": format!("{:?}", std::time::Instant::now()),
        });
        for (name, value) in more.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        let assertion = key.sign("JWT", &claims).expect("a token");
        let fields = [
            ("grant_type", JWT_BEARER),
            ("assertion", assertion.as_str()),
            ("resource", RESOURCE),
        ];
        post(&server, "/token", &[], &fields).await
    };
    let answer = with(json!({})).await.json();
    assert_eq!(
        claims(answer["access_token"].as_str().expect("a token"))["sub"],
        "job-7"
    );
    for more in [
        json!({ "aud": "https://other.example" }),
        json!({ "exp": now() - 1 }),
        json!({ "iss": "https://stranger.example" }),
    ] {
        assert_eq!(with(more.clone()).await.error(), "invalid_grant", "{more}");
    }
}
